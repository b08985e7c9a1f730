# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests come to the same end whoever starts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import signal
from tests import hermetic
numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
hermetic.hear_signals()
print([signal.getsignal(number) is signal.SIG_IGN for number in numbers])
signal.raise_signal(signal.SIGINT)
"""


def test_ctrl_c_is_heard_where_a_shell_has_it_ignored() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[False, False, False]\n"
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
