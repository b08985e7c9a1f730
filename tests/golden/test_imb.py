# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Our text in the shape of IMB's, line by line against recorded tables of IMB-MPI1.

Only what is ours is not compared: the banner, the date, the wording after a note's first clause.
What IMB prints and we do not do: "Invalid benchmark name" lines (that is an error here), and the
largest length of a table that ended early.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.show import formats
from tests import imb_text

GOLDEN = Path(__file__).parent / "imb"
TEXTS = sorted(GOLDEN.glob("*.txt"), key=lambda path: path.name)
OURS = [
    (
        re.compile(r"^#    (Intel\(R\) MPI Benchmarks .*|mpigauge .*, IMB-compatible), "),
        "# TITLE, ",
    ),
    (re.compile(r"^# Date .*"), "# DATE"),
    (re.compile(r"^(# M\w+ message length in bytes:) .*"), r"\1 N"),
    (re.compile(r"^( *\d+ (?:out-of-mem\.; needed X= *\d+\.\d+ GB|[a-z-]+\.?);).*"), r"\1 WORDS"),
]


def masked(text: str) -> list[str]:
    lines = [line for line in text.split("\n") if not line.startswith("Invalid benchmark")]
    for pattern, word in OURS:
        lines = [pattern.sub(word, line) for line in lines]
    return lines


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_same_lines_as_imb(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert masked(formats.render("imb", imb_text.document(text))) == masked(text)


def test_every_kind_of_table_is_among_them() -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in TEXTS)
    for word in ("Msg/sec", "Group", "rank order", "additional processes", "invalid for",
                 "out-of-mem", "int-overflow", "time-out", "user defined", "t_avg"):  # fmt: skip
        assert word in said


def test_the_banner_is_ours() -> None:
    text = formats.render("imb", imb_text.document(TEXTS[0].read_text(encoding="utf-8")))
    assert text.split("\n")[1] == "#    mpigauge 0.1, IMB-compatible, MPI-1 part"
    assert "Intel" not in text
