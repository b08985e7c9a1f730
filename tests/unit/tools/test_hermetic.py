# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests come to the same end whoever starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import hermetic, mpi_fakes

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


BYTECODE = """
import os, shutil, sys
from tests import hermetic
assert sys.dont_write_bytecode
hermetic.isolate()
print(sys.dont_write_bytecode, hermetic.NO_BYTECODE in os.environ)
print(os.path.realpath(shutil.which("python3")) == os.path.realpath(sys.executable))
"""


def test_ctrl_c_is_heard_where_a_shell_has_it_ignored() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[False, False, False]\n"
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_nothing_is_compiled_or_looked_for_anew_in_each_program(tmp_path: Path) -> None:
    """Whoever starts tests may forbid bytecode, and have a script in place of Python."""
    mpi_fakes.program(tmp_path / "python3", "#!/bin/sh\nexit 1\n")
    env = os.environ | {hermetic.NO_BYTECODE: "1", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", BYTECODE],
        cwd=Path(__file__).parents[3],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "False", "True"]
