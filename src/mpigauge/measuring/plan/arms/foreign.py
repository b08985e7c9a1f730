# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Any program as a benchmark: its command, and the figures of merit to extract from its output."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpigauge.measuring.plan.arms.arms import Places
from mpigauge.model.errors import UserError, nearest_or_all

KEYS = ("name", "run", "ranks", "launcher", "reader", "figure", "better", "unit", "regex", "json",
        "take")  # fmt: skip
FIGURE_KEYS = ("figure", "better", "unit", "regex", "json", "take")
DIRECTIONS = ("higher", "lower")
TAKES = ("last", "first", "max", "min")


@dataclass(frozen=True)
class Merit:
    """A figure of merit."""

    name: str
    better: str
    """higher or lower."""
    unit: str = ""
    regex: str = ""
    """An expression with one group, which matches the number."""
    json: str = ""
    """Keys and indices separated by dots: results.0.gflops."""
    take: str = "last"
    """The choice among several matches: last, first, max or min."""

    def read(self, text: str) -> float:
        """The value in the output of a program. ValueError: it is missing, or is not a number."""
        texts = self._in_json(text) if self.json else self._matches(text)
        numbers = [float(each) for each in texts]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"{self.name} is {numbers[-1]}, which is not a number")
        if self.take == "max":
            return max(numbers)
        if self.take == "min":
            return min(numbers)
        if self.take == "first":
            return numbers[0]
        return numbers[-1]

    def _matches(self, text: str) -> list[str]:
        matches = re.findall(self.regex, text, re.MULTILINE)
        if not matches:
            raise ValueError(f"nothing in its output fits the expression for {self.name}")
        return matches

    def _in_json(self, text: str) -> list[Any]:
        start = text.find("{")
        value: Any = None
        try:
            if start >= 0:
                value, _ = json.JSONDecoder().raw_decode(text[start:])
            for key in self.json.split("."):
                value = value[int(key)] if isinstance(value, list) else value[key]
        except (ValueError, KeyError, IndexError, TypeError):
            raise ValueError(f"its output has no JSON with {self.json} for {self.name}") from None
        return [value]


@dataclass(frozen=True)
class Foreign:
    """A program of the user."""

    name: str
    words: tuple[str, ...]
    merits: tuple[Merit, ...]
    """Empty: a reader extracts the figures, or it is `timed`."""
    ranks: int = 1
    launcher: bool = True
    """True if the MPI's launcher starts it; else it starts its own ranks, or has none."""
    reader: str = ""
    """The reader of its output: one of those for `mpigauge import`."""
    timed: bool = False
    """True if its figure is the time of a launch, from start to end of the launcher's process."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Foreign:
        merits = tuple(Merit(**each) for each in data["merits"])
        return cls(**{**data, "words": tuple(data["words"]), "merits": merits})


def read_command(data: Mapping[str, Any], places: Places) -> Foreign:
    """The program in a block [[command]] of a plan file. UserError: a key is wrong; with its
    place."""
    _refuse_unknown(data, KEYS, places)
    for needed in ("name", "run"):
        if not data.get(needed):
            raise UserError(f"{places.block}: a [[command]] needs '{needed}'")
    run, ranks = data["run"], data.get("ranks", 1)
    words = _words(run, places)
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise UserError(f"{places.of('ranks')}: ranks is a number from 1 on, not {ranks}")
    reader = _text(data, "reader", places, "")
    if reader and data.get("figure"):
        raise UserError(f"{places.of('reader')}: give a reader or figures, not both")
    timed = not reader and not any(key in data for key in FIGURE_KEYS)
    return Foreign(
        name=_text(data, "name", places),
        words=tuple(words),
        merits=() if reader or timed else _merits(data, places),
        reader=reader,
        timed=timed,
        ranks=ranks,
        launcher=_truth(data.get("launcher", True), "launcher", places),
    )


def _words(run: Any, places: Places) -> list[str]:
    """The words of a command line, or of a list of them."""
    if isinstance(run, list):
        return [str(word) for word in run]
    if not isinstance(run, str):
        raise UserError(f"{places.of('run')}: run is a command line or a list of its words")
    try:
        return shlex.split(run)
    except ValueError as error:
        raise UserError(f"{places.of('run')}: '{run}' is not a command line: {error}") from None


def _merits(data: Mapping[str, Any], places: Places) -> tuple[Merit, ...]:
    """The figure in the block itself, or those in a list of tables in `figure`."""
    figures = data.get("figure")
    if isinstance(figures, list):
        for each in figures:
            if not isinstance(each, Mapping):
                raise UserError(f"{places.of('figure')}: each figure is a table")
            _refuse_unknown(each, FIGURE_KEYS, places)
        return tuple(_merit(each, places) for each in figures)
    return (_merit(data, places),)


def _merit(data: Mapping[str, Any], places: Places) -> Merit:
    merit = Merit(
        name=_text(data, "figure", places),
        better=_one_of(data, "better", DIRECTIONS, places),
        unit=_text(data, "unit", places, ""),
        regex=_text(data, "regex", places, ""),
        json=_text(data, "json", places, ""),
        take=_one_of(data, "take", TAKES, places, "last"),
    )
    if bool(merit.regex) == bool(merit.json):
        raise UserError(
            f"{places.of('figure')}: {merit.name} is found either by regex = '…(number)…' or by "
            "json = 'key.key'; give one of them"
        )
    if merit.regex:
        _check_regex(merit.regex, places)
    return merit


def _check_regex(regex: str, places: Places) -> None:
    try:
        groups = re.compile(regex).groups
    except re.error as error:
        raise UserError(f"{places.of('regex')}: '{regex}' is not an expression: {error}") from None
    if groups != 1:
        raise UserError(
            f"{places.of('regex')}: '{regex}' has {groups} groups; it needs one, round the number"
        )


_NEEDED = object()


def _text(data: Mapping[str, Any], key: str, places: Places, default: object = _NEEDED) -> str:
    value = data.get(key, default)
    if value is _NEEDED:
        raise UserError(f"{places.block}: a [[command]] needs '{key}'")
    if not isinstance(value, str):
        raise UserError(f"{places.of(key)}: {key} is text in quotes, not {value}")
    return value


def _one_of(
    data: Mapping[str, Any],
    key: str,
    values: Sequence[str],
    places: Places,
    default: object = _NEEDED,
) -> str:
    value = _text(data, key, places, default)
    if value not in values:
        raise UserError(f"{places.of(key)}: {key} is {' or '.join(values)}, not '{value}'")
    return value


def _truth(value: object, key: str, places: Places) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"{places.of(key)}: {key} is true or false, not {value}")
    return value


def _refuse_unknown(data: Mapping[str, Any], keys: Sequence[str], places: Places) -> None:
    for key in data:
        if key not in keys:
            hint = nearest_or_all(key, keys)
            raise UserError(f"{places.of(key)}: there is no key '{key}' in [[command]]{hint}")
