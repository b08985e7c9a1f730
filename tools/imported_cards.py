# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the copy of the kernels' cards that is used where no kernel is built
(src/mpigauge/runs/readers/cards.json).

`mpigauge list --json | python tools/imported_cards.py`. Readers know benchmarks of IMB and small
programs of users by it, and `mpigauge submit` whether there is a benchmark of a name. A test
compares it with what the kernels say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/mpigauge/runs/readers/cards.json"


def main() -> None:
    listing = json.load(sys.stdin)
    lines = ",\n".join(json.dumps(card, ensure_ascii=False) for card in listing["benchmarks"])
    rest = json.dumps({name: listing[name] for name in listing if name != "benchmarks"})
    TARGET.write_text(f'{rest[:-1]},\n"benchmarks": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
