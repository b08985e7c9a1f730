# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads limits.toml: the numbers that a machine must reach to be accepted.

tolerance = "5%"                     of all limits; 0 where nothing is said

[[limit]]
benchmark = "PingPong"               required, as `mpigauge benchmarks` has it
sizes = "0..64"                      all that were measured where nothing is said
ranks = 2                            the same; so are placement, arm, cache and memory
time = "1.5 us"                      at most; bandwidth and rate: at least
tolerance = "10%"                    of this one

[[limit]]
benchmark = "Allreduce"
time = { 8 = "2 us", 64Ki = "60 us" }     each size its own

[[figure]]
benchmark = "HPL"                    of a number that is not a time of a call
name = "rate"                        all of that benchmark where nothing is said
at_least = 900                       or at_most; in the figure's own unit

[[figure]]
benchmark = "FABRIC:hosts"           of a network: shares, impacts, and here each host by its name
at_least = 0.9
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from mpigauge.cli.output import note
from mpigauge.model import data_memory
from mpigauge.model.column_facts import OF_NAME
from mpigauge.model.errors import UserError, did_you_mean, nearest_or_all
from mpigauge.model.placement_words import HOSTS, SEVERAL_MEANINGS, of_policy
from mpigauge.model.sizes import parse_bytes, parse_sizes
from mpigauge.model.toml import parse_toml
from mpigauge.products.check.quantities import QUANTITIES

CHOOSERS: Mapping[str, type] = {
    "ranks": int, "placement": str, "arm": str, "cache": str, data_memory.COLUMN: str
}  # fmt: skip
"""Columns that a limit can be restricted to, and the type of their values."""
_OF_LIMIT = ("benchmark", "sizes", *CHOOSERS, *QUANTITIES, "tolerance")
_OF_FIGURE = ("benchmark", "name", "ranks", "placement", "arm", "at_least", "at_most", "tolerance")
_TOP = ("tolerance", "limit", "figure")
_ERROR_LINE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True)
class Limit:
    benchmark: str
    what: str
    """time, bandwidth, rate; or the name of a figure, empty: each."""
    of_figure: bool
    where: Mapping[str, Any]
    """The values of columns that the limit is restricted to."""
    sizes: tuple[int, ...] | None
    """The message sizes in bytes; None: all."""
    bound: float
    """The limit, in SI units or the unit of the figure."""
    at_most: bool
    """True: `bound` is an upper limit; false: a lower one."""
    tolerance: float
    line: int
    """The line number in the file."""

    @property
    def allowed(self) -> float:
        """The bound with its tolerance."""
        if self.at_most:
            return self.bound * (1 + self.tolerance)
        return self.bound * (1 - self.tolerance)


def parse_limits(text: str, file: str, benchmarks: Sequence[str]) -> list[Limit]:
    """Parses all limits of a file. UserError: the error, its line and a hint."""
    reader = _Reader(file, text.splitlines(), benchmarks)
    try:
        data = parse_toml(text, file)
    except ValueError as error:
        match = _ERROR_LINE.search(str(error))
        where = f"line {match[1]} of {file}" if match else file
        raise UserError(f"{where} is not TOML: {error}") from None
    return reader.limits(data)


class _Reader:
    """A reader that keeps its position in the file for error messages."""

    def __init__(self, file: str, lines: Sequence[str], benchmarks: Sequence[str]) -> None:
        self.file, self.lines = file, lines
        self.benchmarks = benchmarks
        self.heads: defaultdict[str, list[int]] = defaultdict(list)
        """The lines at which tables of each kind begin, from 0."""
        for number, line in enumerate(lines):
            self.heads[line.split("#")[0].strip()].append(number)
        self.begin = 0
        """The first line of the table that is being read, from 0."""

    def limits(self, data: Mapping[str, Any]) -> list[Limit]:
        self._check_keys(data, _TOP)
        usual = self._tolerance(data, 0.0)
        parsed: list[Limit] = []
        for number, table in enumerate(self._tables(data, "limit")):
            parsed += self._at("limit", number, table, usual, self._limit)
        for number, table in enumerate(self._tables(data, "figure")):
            parsed += self._at("figure", number, table, usual, self._figure)
        return parsed or self._refuse("", "it holds no [[limit]] and no [[figure]]")

    def _tables(self, data: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
        tables = data.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            self._refuse(kind, f"write [[{kind}]], with two brackets")
        return list(tables)

    def _at(
        self,
        kind: str,
        number: int,
        table: Mapping[str, Any],
        usual: float,
        read: Callable[[Mapping[str, Any], float], Iterator[Limit]],
    ) -> list[Limit]:
        """Returns the limits of a table, and notes its first line for messages."""
        heads = self.heads[f"[[{kind}]]"]
        self.begin = heads[number] if number < len(heads) else 0
        return list(read(table, usual))

    def _limit(self, table: Mapping[str, Any], usual: float) -> Iterator[Limit]:
        self._check_keys(table, _OF_LIMIT)
        quantities = [name for name in QUANTITIES if name in table]
        if not quantities:
            self._refuse("", f"[[limit]] limits nothing; give one of {', '.join(QUANTITIES)}")
        for name in quantities:
            for sizes, bound in self._bounds(name, table):
                yield self._made(table, usual, name, sizes, bound, QUANTITIES[name].at_most)

    def _figure(self, table: Mapping[str, Any], usual: float) -> Iterator[Limit]:
        self._check_keys(table, _OF_FIGURE)
        bounds = [name for name in ("at_least", "at_most") if name in table]
        if not bounds:
            self._refuse("", "[[figure]] limits nothing; give at_least or at_most")
        for name in bounds:
            bound = self._typed(table, name, (int, float), "a number")
            if not math.isfinite(bound):
                self._refuse(name, f"{name} is {bound}; it has to be a number")
            what = self._typed(table, "name", str, "text") if "name" in table else ""
            yield self._made(table, usual, what, None, float(bound), name == "at_most", True)

    def _made(
        self,
        table: Mapping[str, Any],
        usual: float,
        what: str,
        sizes: tuple[int, ...] | None,
        bound: float,
        at_most: bool,
        of_figure: bool = False,
    ) -> Limit:
        if "benchmark" not in table:
            self._refuse("", 'it has no benchmark; name one, such as benchmark = "PingPong"')
        name = str(self._typed(table, "benchmark", str, "text"))
        if not of_figure and name not in self.benchmarks:
            hint = did_you_mean(name, self.benchmarks) or "; `mpigauge benchmarks` shows all"
            self._refuse("benchmark", f"there is no benchmark '{name}'{hint}")
        kinds = {str: "text", int: "a whole number"}
        where = {}
        for column, kind in CHOOSERS.items():
            if column in table:
                where[column] = self._chosen(table, column, kind, kinds[kind])
        tolerance = self._tolerance(table, usual)
        return Limit(name, what, of_figure, where, sizes, bound, at_most, tolerance, self.begin + 1)

    def _chosen(self, table: Mapping[str, Any], column: str, kind: type, word: str) -> Any:
        """Returns the value of a column, as it is stored."""
        value = self._typed(table, column, kind, word)
        values = OF_NAME[column].values
        if column == "placement":
            return self._placement(value)
        if column == data_memory.COLUMN and data_memory.is_kind(data_memory.as_stored(value)):
            return data_memory.as_stored(value)
        if values and value not in values:
            hint = nearest_or_all(value, values)
            self._refuse(column, f"there is no {column} '{value}'{hint}")
        return value

    def _placement(self, value: str) -> str:
        """Returns the placement in our words. A note reports the reading of a word with several
        meanings in older files."""
        ours = of_policy(value)
        if ours != value and value in SEVERAL_MEANINGS:
            note(
                f'placement = "{value}" in {self.file} is read as {ours} '
                f"({SEVERAL_MEANINGS[value]}); write {ours} or {HOSTS}"
            )
        return ours

    def _bounds(
        self, name: str, table: Mapping[str, Any]
    ) -> Iterator[tuple[tuple[int, ...] | None, float]]:
        """Yields sizes and their bound; a table gives each size a bound of its own."""
        value = table[name]
        if isinstance(value, dict):
            if "sizes" in table:
                self._refuse("sizes", f"{name} names its sizes itself; give one of the two")
            for size, text in value.items():
                yield (self._understood(name, parse_bytes, size),), self._quantity(name, text)
            return
        sizes = self._sizes(table)
        yield sizes, self._quantity(name, value)

    def _sizes(self, table: Mapping[str, Any]) -> tuple[int, ...] | None:
        if "sizes" not in table:
            return None
        return tuple(self._understood("sizes", parse_sizes, str(table["sizes"])))

    def _quantity(self, name: str, text: Any) -> float:
        if not isinstance(text, str):
            self._refuse(name, f"{text} has no unit; write {QUANTITIES[name].example} in quotes")
        return float(self._understood(name, QUANTITIES[name].read, text))

    def _tolerance(self, table: Mapping[str, Any], usual: float) -> float:
        if "tolerance" not in table:
            return usual
        share = _share(str(table["tolerance"]).strip())
        if share >= 1:
            self._refuse("tolerance", f'{table["tolerance"]!r} is not a share; write "5%" or 0.05')
        return share

    def _typed(
        self, table: Mapping[str, Any], key: str, kind: type | tuple[type, ...], word: str
    ) -> Any:
        value = table[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            self._refuse(key, f"{key} is {value!r}; it has to be {word}")
        return value

    def _understood(self, key: str, read: Callable[[str], Any], text: str) -> Any:
        try:
            return read(text)
        except (UserError, ValueError) as error:
            return self._refuse(key, f"{key}: {error}")

    def _check_keys(self, table: Mapping[str, Any], allowed: Sequence[str]) -> None:
        for key in table:
            if key not in allowed:
                hint = nearest_or_all(key, allowed)
                self._refuse(key, f"there is no '{key}' here{hint}")

    def _refuse(self, key: str, why: str) -> NoReturn:
        """Raises UserError with the line of this key in the table, or the line of the table."""
        begins = re.compile(rf"[\"']?{re.escape(key)}\b")
        place = self.begin
        for at in range(self.begin, len(self.lines)):
            if key and begins.match(self.lines[at].lstrip(" \t[")):
                place = at
                break
        raise UserError(f"line {place + 1} of {self.file}: {why}")


def _share(text: str) -> float:
    """Parses a share such as 5% or 0.05; returns 1 for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text)
    if match is None:
        return 1.0
    number = float(match[1])
    if match[2]:
        return number / 100
    return number
