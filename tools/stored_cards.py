# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the copy of the kernels' cards for commands that run without kernels
(src/mpigauge/model/cards.json).

`mpigauge list --json | python tools/stored_cards.py`. A test compares the copy with the cards of
the kernels.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/mpigauge/model/cards.json"


def main() -> None:
    listing = json.load(sys.stdin)
    lines = ",\n".join(json.dumps(card, ensure_ascii=False) for card in listing["benchmarks"])
    rest = json.dumps({name: listing[name] for name in listing if name != "benchmarks"})
    TARGET.write_text(f'{rest[:-1]},\n"benchmarks": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
