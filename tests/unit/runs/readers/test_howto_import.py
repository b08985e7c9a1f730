# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What docs/howto/import.md lists is all there is."""

from __future__ import annotations

import re
from pathlib import Path

from mpigauge.runs.readers import READERS

ROOT = Path(__file__).resolve().parents[4]
TEXT = (ROOT / "docs/howto/import.md").read_text(encoding="utf-8")


def test_every_reader_is_listed() -> None:
    listed = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)))
    assert set(READERS) <= set(listed)
