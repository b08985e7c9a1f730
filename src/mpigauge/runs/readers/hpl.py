# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""HPL: speed and time of a factorization, as figures; the varied parameters are their arm.

Variants of vendors print the same table: their T/V is a word of their own (WR0XR8C48, WC0), a word
precedes it (HPL_AI), or columns follow the speed: the speed of one GPU, or those that a head names.
NVIDIA's HPL-MxP prints lines instead of a table.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.runs.readers.text import Text

HEADS = ("T/V", "N", "NB", "P", "Q", "Time", "Gflops")
_TABLE = r"[ \t]*(?:HPL\w+[ \t]+)?W[A-Z]{1,3}\d\w*[ \t]+\d+[ \t]+\d+\s"
_LINES = r"[ \t]*(?:LU )?GFLOPS[ \t]*=[ \t]*\d"
_VARIANT = re.compile(r"^\s*(?:(HPL\w+)\s+)?(W[A-Z]{1,3}\d\w*)\s+(\d.*)$")
_HEAD = re.compile(r"^\s*T/V\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops\s*(.*)$")
_MXP = re.compile(r"^\s*(LU )?GFLOPS\s*=\s*(\S+?)(?:\s*,\s*per GPU\s*=\s*(\S+)\s*)?$")
_MXP_VALUE = re.compile(r"^\s*(N|NB|P|Q)\s*[:=]\s*(\d+)\s*$")
_WHOLE = re.compile(r"\d{1,18}")
_IS_NUMBER = re.compile(NUMBER)
_START = "start time"
_VERSION = re.compile(r"HPLinpack ([\d.]+)")
_CLOSE = 0.02
_OF_GPU = "speed of one GPU"


@reader(
    "hpl",
    "HPL (High-Performance Linpack), its variants, HPL-MxP",
    rf"^(?:{_TABLE}|{_LINES})".encode(),
)
def read(text: Text) -> Reading:
    """Reads the output; a case that occurs again belongs to the next launch."""
    log = _Log()
    for number, line in text.numbered():
        log.look(number, line)
    launches = tuple(unknown_launch(n, time=time) for n, time in log.starts.items())
    return Reading(
        figures=tuple(log.figures),
        launches=launches,
        unread=tuple(log.unread),
        remarks=tuple(log.remarks),
    )


@dataclass
class _Log:
    source: str = "HPL"
    extra_heads: tuple[str, ...] = ()
    """The heads after Gflops."""
    case: dict[str, str] = field(default_factory=dict)
    """The values in lines of HPL-MxP."""
    figures: list[Figure] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    launches: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """The number of occurrences of each case."""
    starts: dict[int, str] = field(default_factory=dict)

    def look(self, number: int, line: str) -> None:
        if match := _VERSION.search(line):
            self.source = f"HPL {match[1]}"
        elif match := _HEAD.match(line):
            self.extra_heads = tuple(match[1].replace("(per GPU)", _OF_GPU).split("  "))
        elif match := _VARIANT.match(line):
            self._row(number, line, match)
        elif match := _MXP.match(line):
            self._speed(number, line, match)
        elif match := _MXP_VALUE.match(line):
            self.case[match[1]] = match[2]
        elif _START in line and self.figures:
            self.starts.setdefault(self.figures[-1].launch, line.partition(_START)[2].strip())
        elif "||Ax-b||" in line.replace(" ", "") and "FAILED" in line:
            self.remarks.append(f"HPL reports at line {number} that its result is wrong (FAILED)")

    def _row(self, number: int, line: str, match: re.Match[str]) -> None:
        program, variant = match[1] or "HPL", match[2]
        words = re.sub(r"[()]", " ", match[3]).split()
        row = (variant, *words[: len(HEADS) - 1])
        if not _is_row(row):
            self.unread.append(Unread(number, line.strip(), why_no_row(row, HEADS, ("T/V",))))
            return
        size, block, rows, columns = words[:4]
        arm = f"N={size} NB={block} P={rows} Q={columns} T/V={variant}"
        speed = self._figure(program, arm, float(words[5]), int(rows) * int(columns))
        time = replace(speed, name="time", value=float(words[4]), unit="s", better="lower")
        self.figures += [speed, time, *self._extras(speed, words[6:], number, line)]

    def _extras(
        self, speed: Figure, words: Sequence[str], number: int, line: str
    ) -> Iterator[Figure]:
        """Figures for the columns after the speed. One without a head is the speed of one GPU if it
        is that share of the whole."""
        heads = [head.strip() for head in self.extra_heads if head.strip()]
        for place, word in enumerate(words):
            if not _IS_NUMBER.fullmatch(word):
                self.unread.append(Unread(number, line.strip(), f"{word} is not a number"))
                continue
            value = float(word)
            name = heads[place] if len(heads) == len(words) else ""
            share = speed.value / max(speed.ranks, 1)
            if not name and len(words) == 1 and abs(value - share) <= _CLOSE * share:
                name = _OF_GPU
            is_speed = name == _OF_GPU or "gflops" in name.lower()
            yield replace(
                speed,
                name=name or f"column {len(HEADS) + 1 + place}",
                value=value,
                unit="GFLOP/s" if is_speed else "",
                better="higher" if is_speed else "",
            )

    def _speed(self, number: int, line: str, match: re.Match[str]) -> None:
        """Reads a line of HPL-MxP: the speed of the whole solution, or of its factorization
        alone."""
        if not _IS_NUMBER.fullmatch(match[2]):
            self.unread.append(Unread(number, line.strip(), f"{match[2]} is not a number (GFLOPS)"))
            return
        arm = " ".join(f"{name}={value}" for name, value in self.case.items())
        ranks = int(self.case.get("P", 0)) * int(self.case.get("Q", 0))
        name = "speed of the factorisation" if match[1] else "speed"
        speed = self._figure("HPL-MxP", arm, float(match[2]), ranks, name)
        self.figures.append(speed)
        if match[3] and _IS_NUMBER.fullmatch(match[3]):
            of_gpu = _OF_GPU if name == "speed" else f"{name}, one GPU"
            self.figures.append(replace(speed, name=of_gpu, value=float(match[3])))

    def _figure(
        self, program: str, arm: str, value: float, ranks: int, name: str = "speed"
    ) -> Figure:
        case = (program, arm, name, self.source)
        launch = self.launches[case]
        self.launches[case] += 1
        return Figure(
            launch, program, name, value, "GFLOP/s", "higher", ranks=ranks, arm=arm,
            source=self.source, origin="imported",
        )  # fmt: skip


def _is_row(row: Sequence[str]) -> bool:
    if len(row) != len(HEADS):
        return False
    whole, measured = row[1:5], row[5:]
    return all(map(_WHOLE.fullmatch, whole)) and all(map(_IS_NUMBER.fullmatch, measured))
