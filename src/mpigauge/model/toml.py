# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""TOML files that people write: their values, and where each key stands, for errors."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DEEP = re.compile(r"(?<![\w.-])(?:[\w-]*\.){100}")
"""A key of so many parts, which nobody means and which takes the square of their number."""


@dataclass(frozen=True)
class Toml:
    path: Path
    data: dict[str, Any]
    lines: tuple[str, ...] = field(repr=False)

    def place(self, key: str, table: str = "", number: int = 0) -> str:
        """`FILE, line 3, column 1`: where this key of a table stands, or the table itself where the
        key is not found. `number`: which of the tables of one name, from 0; the empty name is what
        stands before all tables."""
        found = self._of_table(table, number)
        pattern = re.compile(rf"(?:^|[\s{{,\".']){re.escape(key)}(?=[\"']?\s*[=.])")
        for at, line in found:
            if match := pattern.search(line):
                column = match.end() - len(key) + 1
                return f"{self.path}, line {at}, column {column}"
        return f"{self.path}, line {found[0][0] if found else 1}"

    def head(self, table: str, number: int = 0) -> str:
        """Where a table begins."""
        return f"{self.path}, line {self._of_table(table, number)[0][0]}"

    def _of_table(self, table: str, number: int) -> list[tuple[int, str]]:
        """The numbered lines of a table and of those in it, its head among them."""
        current, seen, found = "", -1, []
        for at, line in enumerate(self.lines, 1):
            text = line.partition("#")[0].strip()
            if text.startswith("[") and text.endswith("]"):
                current = text.strip("[] \t")
                seen += current == table
            inside = current == table or (table != "" and current.startswith(f"{table}."))
            if inside and (table == "" or seen == number):
                found.append((at, line))
        return found


def read_toml(path: Path) -> Toml:
    """UserError: it cannot be read, or is no TOML; with line and column."""
    text = read_text(path)
    if _DEEP.search(text.replace(" ", "").replace("\t", "")):
        raise UserError(f"{path} is nested too deeply to be read")
    try:
        return Toml(path, tomllib.loads(text), tuple(text.splitlines()))
    except RecursionError:
        raise UserError(f"{path} is nested too deeply to be read") from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise UserError(f"{path} is no TOML: {str(error)[:1].lower()}{str(error)[1:]}") from None
