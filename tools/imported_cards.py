# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the cards that readers need (src/mpigauge/readers/cards.json) from those of the kernels.

`mpigauge list --json | python tools/imported_cards.py`. Readers know benchmarks of IMB and small
programs of users without any built kernel, so a copy of their cards is kept. A test compares it
with what the kernels say; a benchmark that nobody else prints need not be in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/mpigauge/readers/cards.json"
SUITES = ("MPI1", "EXT", "IO", "NBC", "RMA", "MPI4", "MT", "P2P", "HALO")
PROGRAMS = ("mpi_latency", "ping_pong", "Message_rate")


def main() -> None:
    known = json.load(sys.stdin)
    kept = [c for c in known["benchmarks"] if c["suite"] in SUITES or c["name"] in PROGRAMS]
    lines = ",\n".join(json.dumps(card, ensure_ascii=False) for card in kept)
    rest = json.dumps({name: known[name] for name in known if name != "benchmarks"})
    TARGET.write_text(f'{rest[:-1]},\n"benchmarks": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
