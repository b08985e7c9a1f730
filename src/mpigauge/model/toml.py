# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""TOML files that people write: their values, and the place of each key, for errors."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DEEP = re.compile(r"(?<![\w.-])(?:[\w-]*\.){100}")
"""A key of so many parts is no real one, and parsing it takes quadratic time."""


@dataclass(frozen=True)
class Toml:
    path: Path
    data: dict[str, Any]
    lines: tuple[str, ...] = field(repr=False)

    def place(self, key: str, table: str = "", number: int = 0) -> str:
        """The place of a key as `FILE, line 3, column 1`; if the key does not appear, that of its
        table. `number`: the index among tables of the same name, from 0; the empty name is the part
        before all tables."""
        lines = self._of_table(table, number)
        pattern = re.compile(rf"(?:^|[\s{{,\".']){re.escape(key)}(?=[\"']?\s*[=.])")
        for at, line in lines:
            if match := pattern.search(line):
                column = match.end() - len(key) + 1
                return f"{self.path}, line {at}, column {column}"
        return f"{self.path}, line {lines[0][0] if lines else 1}"

    def head(self, table: str, number: int = 0) -> str:
        """The place where a table begins, as `FILE, line 3`."""
        lines = self._of_table(table, number)
        return f"{self.path}, line {lines[0][0] if lines else 1}"

    @cached_property
    def _headed(self) -> list[tuple[int, str, str]]:
        """The lines that are not empty, with their numbers, and the table that each begins."""
        lines = []
        for at, line in enumerate(self.lines, 1):
            text = line.partition("#")[0].strip()
            is_head = text.startswith("[") and text.endswith("]")
            if text:
                lines.append((at, line, text.strip("[] \t") if is_head else ""))
        return lines

    def _of_table(self, table: str, number: int) -> list[tuple[int, str]]:
        """The numbered lines of a table and of its subtables, including its head."""
        current, seen, lines = "", -1, []
        for at, line, head in self._headed:
            if head:
                current = head
                seen += current == table
            inside = current == table or (table != "" and current.startswith(f"{table}."))
            if inside and (table == "" or seen == number):
                lines.append((at, line))
        return lines


def read_toml(path: Path) -> Toml:
    """The values of a file. UserError: it cannot be read, or is not TOML; with line and column."""
    text = read_text(path)
    try:
        return Toml(path, parse_toml(text, str(path)), tuple(text.splitlines()))
    except ValueError as error:
        raise UserError(f"{path} is not TOML: {str(error)[:1].lower()}{str(error)[1:]}") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The values in this text. UserError: it is nested too deeply. ValueError: it is not TOML, or
    has a number of thousands of digits."""
    if _DEEP.search(text.replace(" ", "").replace("\t", "")):
        raise UserError(f"{name} is nested too deeply to be read")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UserError(f"{name} is nested too deeply to be read") from None
