# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""BabelStream: memory bandwidth of its kernels, as figures in MB/s of 10^6 bytes.

It prints a table, or comma-separated lines with --csv; --triad-only prints a single number. The
device is the figure's placement; other differences between runs are its arm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import arm_of, setting_in
from mpigauge.runs.readers.text import NO_NUMBER, NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.runs.readers.text import Text

_NAME = re.compile(r"^(BabelStream|GPU-STREAM)(?: Fortran)?\s*$")
_VERSION = re.compile(r"^Version: (\S+)\s*$")
_FACT = re.compile(r"^(Implementation|Precision): (\S.*)")
_ARRAY = re.compile(rf"^Array size: ({NUMBER}) (Mi?B) ")
_DEVICE = re.compile(r"^Using (?:\w+ )?device:? (\S.*)")
_PHASE = re.compile(rf"^(Init|Read): +({NUMBER}) s \(=({NUMBER}) (Mi?Bytes/sec)\)")
_TRIAD = re.compile(rf"^Bandwidth \(([GM]i?B/s)\): +({NUMBER})\s*$")
_WRONG = re.compile(r"^Validation failed on (.*)")
_HEAD = "Function"
_CSV_HEADS = ("function", "phase")
_CSV_RATE = re.compile(r"(?:max_)?([gm]i?bytes_per_sec)")
_OF_CSV = frozenset(("num_times", "n_elements", "sizeof", "runtime", "min_runtime", "max_runtime",
                     "avg_runtime"))  # fmt: skip
_HEADS = (_HEAD, "rate", "Min (sec)", "Max", "Average")
_NUMBER = re.compile(NUMBER)
_VALUE = re.compile(rf"\d|-\d|{NO_NUMBER}$", re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,18}")
_IN_MEGABYTES = {
    "mbytes/sec": 1.0, "mibytes/sec": 2**20 / 1e6, "mbytes_per_sec": 1.0, "gbytes_per_sec": 1e3,
    "mibytes_per_sec": 2**20 / 1e6, "gibytes_per_sec": 2**30 / 1e6, "gb/s": 1e3, "mb/s": 1.0,
    "gib/s": 2**30 / 1e6, "mib/s": 2**20 / 1e6, "mb": 1.0, "mib": 2**20 / 1e6,
}  # fmt: skip
_PRECISIONS = {"4": "float", "8": "double"}


@reader(
    "babelstream",
    "BabelStream, its table and --csv",
    rb"^Function[ \t]+Mi?Bytes/sec|^(?:function|phase),[\w,]*bytes_per_sec|^BabelStream[ \t]*$",
)
def read(text: Text) -> Reading:
    log = _Log()
    for number, line in text.numbered():
        log.look(number, line)
    return log.reading()


@dataclass
class _Log:
    """The state of the text at a line."""

    source: str = "BabelStream"
    facts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    device: str = ""
    factor: float = 0.0
    """The factor of the table's unit; 0: no table has begun."""
    is_over: bool = False
    """True if the kernels of a run were read: following lines belong to another one."""
    csv_heads: tuple[str, ...] = ()
    figures: list[Figure] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    headings: int = 0
    seen: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    """The launch and the heading of each figure."""

    def look(self, number: int, line: str) -> None:
        words = line.split()
        cells = tuple(cell.strip() for cell in line.split(","))
        if words[:1] == [_HEAD] and len(words) > 1 and words[1].lower() in _IN_MEGABYTES:
            self._begin_table()
            self.factor = _IN_MEGABYTES[words[1].lower()]
        elif cells[0] in _CSV_HEADS and len(cells) > 1:
            self._csv_head(number, line, cells)
        elif self.csv_heads and len(cells) > 1:
            self._csv_row(number, line, cells)
        elif self.factor and words:
            self._row(number, line, words)
        else:
            self._heading(number, line)

    def _begin(self, program: str = "BabelStream") -> None:
        """Begins a run without known facts; with --csv no heading does."""
        self.source, self.facts, self.device = program, {}, ""
        self.csv_heads, self.factor, self.is_over = (), 0.0, False
        self.headings += 1

    def _begin_table(self) -> None:
        """Begins the table of the kernels."""
        if self.is_over:
            self._begin()
        self.csv_heads, self.factor, self.is_over = (), 0.0, True

    def _heading(self, number: int, line: str) -> None:
        if match := _NAME.match(line):
            self._begin(match[1])
        elif match := _PHASE.match(line):
            self._add(match[1], float(match[3]) * _IN_MEGABYTES[match[4].lower()])
        elif match := _TRIAD.match(line):
            self._begin_table()
            self._add("Triad", float(match[2]) * _IN_MEGABYTES[match[1].lower()])
        elif match := _WRONG.match(line):
            self._wrong(number, match[1])
        else:
            self._fact(line)

    def _fact(self, line: str) -> None:
        """Keeps a fact about the run of this line, or about those that follow."""
        if match := _VERSION.match(line):
            self.source = f"{self.source.split()[0]} {match[1]}"
        elif match := _FACT.match(line):
            self.facts[match[1].lower()] = match[2].strip()
        elif match := _ARRAY.match(line):
            self.facts["array"] = f"{float(match[1]) * _IN_MEGABYTES[match[2].lower()]:.1f}MB"
        elif match := _DEVICE.match(line):
            if self.is_over:
                self._begin()
            self.device = f"device {match[1].strip()}"
        elif setting := setting_in(line):
            self.settings[setting[0]] = setting[1]

    def _wrong(self, number: int, what: str) -> None:
        self.remarks.append(
            f"BabelStream reports at line {number} that its result is wrong ({what})"
        )

    def _row(self, number: int, line: str, words: Sequence[str]) -> None:
        """Reads a row of the table; any other line ends it."""
        name, *numbers = words
        if match := _WRONG.match(line):
            self._wrong(number, match[1])
        elif not name.isalpha() or not numbers or not _VALUE.match(numbers[0]):
            self.factor = 0.0
            self._heading(number, line)
        elif len(words) != len(_HEADS) or not all(map(_NUMBER.fullmatch, numbers)):
            self._leave_out(number, line, why_no_row(words, _HEADS, (_HEAD,)))
        else:
            self._add(name, float(numbers[0]) * self.factor)

    def _csv_head(self, number: int, line: str, cells: tuple[str, ...]) -> None:
        if cells[0] == _CSV_HEADS[0]:
            self._begin_table()
        elif self.is_over:
            self._begin()
        self.csv_heads = ()
        rates = [match[1] for cell in cells if (match := _CSV_RATE.fullmatch(cell))]
        if len(rates) == 1:
            self.csv_heads = cells
        else:
            self._leave_out(number, line, "it has not one column with a rate")

    def _csv_row(self, number: int, line: str, cells: tuple[str, ...]) -> None:
        if len(cells) != len(self.csv_heads):
            count = f"{len(cells)} of {len(self.csv_heads)}"
            return self._leave_out(number, line, f"it has {count} columns")
        row = dict(zip(self.csv_heads, cells, strict=True))
        head, rate = next((h, f[1]) for h in row if (f := _CSV_RATE.fullmatch(h)))
        if not _NUMBER.fullmatch(row[head]):
            return self._leave_out(number, line, f"{row[head]} is not a number ({head})")
        if not cells[0].isalpha():
            return self._leave_out(number, line, f"{cells[0]} is not a name of a kernel")
        self.facts |= _facts_of(row, head)
        return self._add(cells[0], float(row[head]) * _IN_MEGABYTES[rate])

    def _leave_out(self, number: int, line: str, why: str) -> None:
        self.unread.append(Unread(number, line.strip(), why))

    def _add(self, name: str, rate: float) -> None:
        """Adds a figure, in the next launch if another heading has the same one."""
        arm = arm_of(self.settings | self.facts)
        key = (name, arm, self.device)
        launch, heading = self.seen.get(key, (-1, -1))
        launch += heading != self.headings
        self.seen[key] = (launch, self.headings)
        self.figures.append(
            Figure(launch, "BabelStream", name, rate, "MB/s", "higher", placement=self.device,
                   arm=arm, source=self.source, origin="imported")
        )  # fmt: skip

    def reading(self) -> Reading:
        numbers = sorted({figure.launch for figure in self.figures})
        return Reading(
            figures=tuple(self.figures),
            launches=tuple(map(unknown_launch, numbers)),
            unread=tuple(self.unread),
            remarks=tuple(self.remarks),
        )


def _facts_of(row: Mapping[str, str], rate: str) -> dict[str, str]:
    """The facts in a row about its run: precision and array as in the table, and additional
    columns."""
    columns = {*_CSV_HEADS, *_OF_CSV, rate}
    facts = {head: word for head, word in row.items() if head not in columns}
    if word := _PRECISIONS.get(row.get("sizeof", "")):
        facts["precision"] = word
    if _WHOLE.fullmatch(elements := row.get("n_elements", "")) and "precision" in facts:
        facts["array"] = f"{int(elements) * int(row['sizeof']) / 1e6:.1f}MB"
    return facts
