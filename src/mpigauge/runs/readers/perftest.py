# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""perftest: ib_write_bw, ib_send_lat and all others, their tables and the files of --out_json.

A title begins a test, the head of its columns a table. If both sides of a test print the same rows,
those of the second one are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import HOST
from mpigauge.runs.readers.perftest_tests import (
    RATE_UNITS,
    SERVICE_LEVEL,
    Row,
    Test,
    memory_in,
)
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.runs.readers.text import Text

Printed = Mapping[str, str]
"""A row as it was printed, by the heads of its columns."""
_TITLE = re.compile(r"^\s*(?:RDMA[_ ]|Send |Atomic )[\w ]*Test\s*$")
_HEAD = re.compile(r"^\s*#\w+(?: +#\w+)? +#iterations\b")
_COLUMN = re.compile(r"(?<!\S)(?:#\w+|(?:[\w.%]+ )?[\w.%]+\[[^\]\s]*\])")
_SIDE = re.compile(r"^\s*(Local|Remote) results\s*:")
_ADDRESS = re.compile(r"^\s*(?:local|remote) address: .*?\b(QPN \S+ PSN \S+)")
_COMMAND = re.compile(r"(?<!\w)ib_(?:write|read|send|atomic)_(?:bw|lat)(?!\w)")
_DEVICE_MEMORY = re.compile(r"\bGPU buffer\b|^initializing CUDA")
"""Lines about buffers that belong to a GPU's driver."""
_NUMBER = re.compile(NUMBER)
_RULE = "-----"
_SIZE, _CALLS, _RATE = "#bytes", "#iterations", "MsgRate[Mpps]"
_JSON = re.compile(r'^[\s{\[,]*"?test_info"?\s*:')
_TOKEN = re.compile(
    r'(?<![\w.])"?([A-Za-z_][\w.]*)"?\s*:\s*(?:"([^"]*)"|([^\s,{}\[\]"]+)|[{\[])|[}\]]'
)
_RESULTS = {"results": "", "results_local": "local", "results_remote": "remote"}
_OF_JSON = {
    "MsgSize": _SIZE, "n_iterations": _CALLS, "BW_peak": "BW peak", "BW_average": "BW average",
    "MsgRate": _RATE, "t_min": "t_min[usec]", "t_max": "t_max[usec]",
    "t_typical": "t_typical[usec]", "t_avg": "t_avg[usec]", "t_stdev": "t_stdev[usec]",
    "percentile_99": "99% percentile[usec]", "percentile_99.9": "99.9% percentile[usec]",
    "CPU_util": "CPU_Util[%]",
}  # fmt: skip
"""Heads of columns by their keys in JSON, which has no unit of the bandwidth."""
_CLOSE = 0.2


@reader(
    "perftest",
    "perftest (ib_write_bw, ib_send_lat …)",
    rb'^[ \t]*#bytes[ \t]+(?:#sl[ \t]+)?#iterations\b|^[ \t{\[,]*"?test_info"?[ \t]*:',
)
def read(text: Text) -> Reading:
    log = _Log()
    for number, line in text.numbered():
        log.look(number, line)
    log.end()
    return log.reading()


@dataclass
class _Log:
    """The state of the text at a line."""

    test: Test = field(default_factory=Test)
    tests: list[Test] = field(default_factory=list)
    """Tests with a table."""
    unread: list[Unread] = field(default_factory=list)
    in_rows: bool = False
    is_over: bool = False
    """True after a rule below the table; interleaved output may have rows behind it."""
    in_json: bool = False
    open_row: dict[str, str] = field(default_factory=dict)
    """A row of JSON, until it is closed."""

    def look(self, number: int, line: str) -> None:
        if _TITLE.match(line):
            self._begin(Test(memory=self.test.memory if not self.test.heads else HOST))
            self.test.take_title(line)
        elif _HEAD.match(line):
            self._head(number, line)
        elif self.in_json or _JSON.match(line):
            self._json(number, line)
        elif self.in_rows and (words := line.split()) and words[0][0].isdigit():
            self._row(number, line, words)
        elif line.startswith(_RULE):
            self.is_over = True
        else:
            self._heading(line)

    def end(self) -> None:
        """Reports an incomplete row of JSON as unread."""
        if self.open_row:
            row = ", ".join(map(": ".join, self.open_row.items()))
            self.unread.append(Unread(self.test.line, row, "its row is cut off"))
            self.open_row = {}

    def _begin(self, test: Test) -> None:
        self.end()
        self.test, self.in_rows, self.in_json = test, False, False

    def _heading(self, line: str) -> None:
        """Reads a line above a table: facts, or the side of the following results."""
        test = self.test
        if match := _SIDE.match(line):
            self.test = replace(test, side=match[1].lower(), heads=(), rows=[])
        elif test.heads:
            if match := _COMMAND.search(line):
                self._begin(Test(program=match[0]))
        elif match := _ADDRESS.match(line):
            test.addresses |= {match[1]}
        elif _DEVICE_MEMORY.search(line):
            test.memory = memory_in(line)
        elif not test.program and (match := _COMMAND.search(line)):
            test.program = match[0]
        else:
            self._facts(line)

    def _facts(self, line: str) -> None:
        """Reads facts as NAME : VALUE, one or two of them in a line."""
        name, *rest = line.split(":")
        for part in rest:
            value, *words = part.split() or [""]
            self.test.take_fact(name, value)
            name = " ".join(words)

    def _head(self, number: int, line: str) -> None:
        heads = tuple(_COLUMN.findall(line))
        self.in_rows = self.in_json = self.is_over = False
        if heads == self.test.heads and not self.test.rows:
            self.in_rows = True  # both sides print it
        elif not self.test.program:
            why = "the title of the test above this table is missing"
            self.unread.append(Unread(number, line.strip(), why))
        elif _SIZE not in heads:
            why = "unknown columns: the table is left out"
            self.unread.append(Unread(number, line.strip(), why))
        else:
            self._table(number, heads)

    def _table(self, number: int, heads: tuple[str, ...]) -> None:
        """Begins a table of the test, which may already have one."""
        self.test = replace(self.test, heads=heads, rows=[], line=number)
        self.tests.append(self.test)
        self.in_rows = True
        if others := [head for head in heads if not self.test.has_place(head)]:
            what = f"there is no place for these columns of {self.test.program}"
            self.unread.append(Unread(number, ", ".join(others), what))

    def _row(self, number: int, line: str, words: Sequence[str]) -> None:
        heads = self.test.heads
        if len(words) != len(heads):
            why = why_no_row(words, heads)
        else:
            why = self._take(dict(zip(heads, words, strict=True)))
        if why and not self.is_over:
            self.unread.append(Unread(number, line.strip(), why))

    def _take(self, printed: Printed) -> str:
        """Keeps a row. Returns the reason why it is not one; empty: it is kept."""
        for head in (_SIZE, _CALLS):
            if not printed.get(head, "").isdecimal():
                return f"it has no whole number of {head.removeprefix('#')}"
        if not all(map(_NUMBER.fullmatch, printed.values())):
            return why_no_row(list(printed.values()), list(printed))
        row = self.test.row({head: float(word) for head, word in printed.items()})
        if row is None:
            return "it has no time or rate above zero"
        self._test_at(printed.get(SERVICE_LEVEL, "")).rows.append(row)
        return ""

    def _test_at(self, service_level: str) -> Test:
        """The part of the table that has this service level."""
        for test in reversed(self.tests):
            if test.line != self.test.line:
                break
            if test.service_level == service_level or not test.rows:
                test.service_level = service_level
                return test
        self.tests.append(replace(self.test, service_level=service_level, rows=[]))
        return self.tests[-1]

    # --- JSON
    def _json(self, number: int, line: str) -> None:
        for match in _TOKEN.finditer(line):
            name, quoted, word = match.groups()
            if name == "test_info":
                self._begin(Test())
                self.in_json = True
            elif name is None:
                self._close(number)
            elif name in _RESULTS:
                self.end()
                self.test = replace(self.test, side=_RESULTS[name], heads=(), rows=[])
            elif name == "test":
                self.test.take_title((quoted or word or "").replace("_Test", " Test"))
            elif name in _OF_JSON:
                self.test.line = number
                self.open_row[name] = quoted or word or ""
            else:
                self.test.take_fact(name, quoted or word or "")

    def _close(self, number: int) -> None:
        """Ends an object, and with it an open row."""
        if not self.open_row:
            return
        printed, self.open_row = _with_units(self.open_row), {}
        if not self.test.program:
            why = "the name of its test is missing"
        elif printed is None:
            why = "its message rate and bandwidth fit no unit"
        else:
            if not self.test.heads:
                self._table(number, tuple(printed))
            why = self._take(printed)
        if why:
            row = ", ".join(map(": ".join, (printed or {}).items()))
            self.unread.append(Unread(number, row, why))

    # --- all of it
    def reading(self) -> Reading:
        tests, remarks = list(_once(self.tests)), []
        if left := len(self.tests) - len(tests):
            remarks.append(
                f"perftest: {left} of {len(self.tests)} tables are what the other side of the same "
                "test printed; they are left out"
            )
        if any("printed_mb_per_s" in row for test in tests for row in test.rows):
            remarks.append("perftest: MB/sec in the text are of 2^20 bytes, here MB/s are of 10^6")
        _number(tests)
        return Reading(
            tables=tuple(test.table() for test in tests),
            launches=tuple(
                unknown_launch(number, world_ranks=2)
                for number in sorted({test.launch for test in tests})
            ),
            unread=tuple(self.unread),
            remarks=tuple(remarks),
            cards=tuple(dict.fromkeys(test.card for test in tests)),
        )


def _once(tests: Sequence[Test]) -> Iterator[Test]:
    """Tests with rows, without repetitions of the same rows by the other side of a test."""
    rows_of: dict[frozenset[str], list[list[Row]]] = defaultdict(list)
    for test in tests:
        if not test.addresses:
            repeats = False
        else:
            repeats = test.rows in rows_of[test.addresses]
            rows_of[test.addresses].append(test.rows)
        if test.rows and not repeats:
            yield test


def _number(tests: Sequence[Test]) -> None:
    """Numbers tests with the same key as launches, one after the other."""
    count: dict[tuple[object, ...], int] = {}
    for test in tests:
        test.launch = count[test.key] = count.get(test.key, -1) + 1


def _with_units(row: Printed) -> Printed | None:
    """The row with the heads of tables. The unit of a bandwidth is the one that fits the message
    rate; None: it does not exist."""
    heads = {_OF_JSON[name]: value for name, value in row.items()}
    if "BW average" not in heads:
        return heads
    words = [heads.get(head, "") for head in (_SIZE, "BW average", _RATE)]
    if not all(map(_NUMBER.fullmatch, words)):
        return None
    size, mean, rate = map(float, words)
    for unit, factor in RATE_UNITS.items():
        if abs(rate * 1e6 * size - mean * factor) < _CLOSE * mean * factor:
            rates = ("BW peak", "BW average")
            return {f"{h}[{unit}]" if h in rates else h: value for h, value in heads.items()}
    return None
