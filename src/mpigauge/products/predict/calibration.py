# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A calibration: a machine as predictions see it, in a file that people can read and edit.

A path has times of messages by size: between nodes, within a socket, between the sockets of a
node. Other quantities are single numbers. Each has its interval, where one is keys, its source,
and the mark `assumed` where it was not measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.row import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from mpigauge.model.toml import Toml

FORMAT = 1
NETWORK, SOCKET, SOCKETS = "network", "socket", "sockets"
PATHS: Mapping[str, str] = {
    NETWORK: "a message between two nodes",
    SOCKET: "a message between two cores of a socket",
    SOCKETS: "a message between two sockets of a node",
}
QUANTITIES: Mapping[str, tuple[str, float, str]] = {
    "network_card": ("GB/s", 1e9, "bytes that the cards of a node send, and as many receive"),
    "node_copy": ("GB/s", 1e9, "bytes that all cores of a node copy together"),
    "message_gap": ("us", 1e-6, "between two messages that a rank sends or receives"),
    "flag": ("us", 1e-6, "until a core sees what another has written"),
    "reduction": ("ns/B", 1e-9, "arithmetic of a reduction, for each byte"),
    "eager": ("B", 1.0, "the longest message that is sent before the receiver is ready"),
}
"""The unit in files, what it is in seconds, bytes or bytes per second, and the meaning."""
_US = 1e-6
_MOST_SIZES = 1000


@dataclass(frozen=True)
class MessageTimes:
    """Times of one message, by its size; sizes ascend."""

    sizes: tuple[int, ...]
    times: tuple[Estimate, ...]
    """The times in seconds."""
    source: str
    assumed: bool = False


@dataclass(frozen=True)
class Quantity:
    value: Estimate
    source: str
    assumed: bool = False


@dataclass(frozen=True)
class Validation:
    """Predicted against measured times of one collective in a range of sizes."""

    run: str
    collective: str
    ranks: int
    nodes: int
    first_bytes: int
    last_bytes: int
    sizes: int
    typical: float
    """exp of the mean of |ln(predicted / measured)|."""
    worst: float
    way: str
    """The algorithm that was predicted: the best, a library's choice, or that of the rows."""


@dataclass(frozen=True)
class Calibration:
    name: str
    machine: str
    mpi: str
    sockets: int
    """The number of sockets of a node."""
    paths: Mapping[str, MessageTimes]
    quantities: Mapping[str, Quantity]
    validations: tuple[Validation, ...] = field(default=())

    @property
    def assumed(self) -> tuple[str, ...]:
        """The names of all that was not measured."""
        both: dict[str, MessageTimes | Quantity] = {**self.paths, **self.quantities}
        return tuple(name for name, each in both.items() if each.assumed)


# --- writing --------------------------------------------------------------------------------
def to_text(calibration: Calibration) -> str:
    """The file: first what it is, then paths and quantities, then validations."""
    return "\n".join(_lines(calibration))


def _lines(of: Calibration) -> Iterator[str]:
    yield "# Made by `mpigauge calibrate`, for `mpigauge predict`. low, high: ends of intervals."
    yield "# assumed = true: not measured; the value may be off by a factor of two."
    yield f"format = {FORMAT}"
    for key in ("name", "machine", "mpi"):
        yield f"{key} = {_quoted(getattr(of, key))}"
    yield f"sockets = {of.sockets}"
    for name, path in of.paths.items():
        yield from ("", f"[path.{name}]  # {PATHS[name]}, in µs", *_marks(path))
        yield f"bytes = [{', '.join(map(str, path.sizes))}]"
        columns = zip(*path.times, strict=True)
        for key, column in zip(("us", "low", "high"), columns, strict=True):
            if not any(map(math.isnan, column)):
                yield f"{key} = [{', '.join(_number(time / _US) for time in column)}]"
    for name, quantity in of.quantities.items():
        unit, scale, about = QUANTITIES[name]
        yield from ("", f"[{name}]  # {about}", *_marks(quantity), f'unit = "{unit}"')
        for key, value in zip(("value", "low", "high"), quantity.value, strict=True):
            if not math.isnan(value):
                yield f"{key} = {_number(value / scale)}"
    for each in of.validations:
        yield from ("", "[[validated]]")
        for key in Validation.__dataclass_fields__:
            value = getattr(each, key)
            yield f"{key} = {_quoted(value) if isinstance(value, str) else _number(value)}"
    yield ""


def _marks(of: MessageTimes | Quantity) -> list[str]:
    return [f"source = {_quoted(of.source)}", *(["assumed = true"] if of.assumed else [])]


def _number(value: float) -> str:
    return str(value) if type(value) is int else f"{value:.6g}"


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


# --- reading --------------------------------------------------------------------------------
def read_calibration(file: Path) -> Calibration:
    """UserError: it cannot be read, is of another version, or a value of it is missing or wrong."""
    from mpigauge.model.toml import read_toml

    return _Reader(read_toml(file)).calibration()


@dataclass(frozen=True)
class _Reader:
    toml: Toml

    def calibration(self) -> Calibration:
        data = dict(self.toml.data)
        self._check_format(data.pop("format", None))
        paths = data.pop("path", {})
        validated = self._of(data.pop("validated", []), list, "validated")
        words = {key: self._of(data.pop(key, None), str, key) for key in ("name", "machine", "mpi")}
        sockets = self._of(data.pop("sockets", None), int, "sockets")
        if not 1 <= sockets <= 1024:
            raise self._wrong(
                "sockets", "", f"{sockets} is not a number of sockets; write 1 or more"
            )
        self._check_keys(data, QUANTITIES, "", "quantity")
        self._check_keys(self._of(paths, dict, "path"), PATHS, "path", "path")
        if not paths.keys() & {SOCKET, SOCKETS}:
            raise UserError(
                f"{self.toml.path} has no times within a node: [path.{SOCKET}] is missing"
            )
        optional = {"eager"} if NETWORK in paths else {"eager", "network_card"}
        return Calibration(
            **words,
            sockets=sockets,
            paths={name: self._path(name, paths[name]) for name in PATHS if name in paths},
            quantities={name: self._quantity(name, data.get(name)) for name in QUANTITIES
                        if name in data or name not in optional},
            validations=tuple(self._validation(each, n) for n, each in enumerate(validated)),
        )  # fmt: skip

    def _check_format(self, written: Any) -> None:
        if written != FORMAT or isinstance(written, bool):
            what = "no `format`" if written is None else f"format {written!r}"
            raise UserError(
                f"{self.toml.path} has {what}, and this version reads format {FORMAT}: make it "
                "again by `mpigauge calibrate RUN… -o FILE`"
            )

    def _check_keys(
        self, data: Mapping[str, Any], names: Mapping[str, Any], table: str, what: str
    ) -> None:
        for key in data:
            if key not in names:
                raise self._wrong(
                    key, table, f"there is no {what} '{key}'{nearest_or_all(key, names)}"
                )

    def _path(self, name: str, data: Any) -> MessageTimes:
        table = f"path.{name}"
        self._of(data, dict, name, table)
        keys = dict.fromkeys(("source", "assumed", "bytes", "us", "low", "high"))
        self._check_keys(data, keys, table, "key")
        sizes = self._numbers(data, "bytes", table)
        if any(size != int(size) or size < 0 for size in sizes) or sizes != sorted(set(sizes)):
            raise self._wrong("bytes", table, "sizes are whole numbers that ascend, each once")
        times = self._numbers(data, "us", table, len(sizes))
        if 0 in times:
            raise self._wrong("us", table, "a time is more than 0")
        unknown = [math.nan] * len(sizes)
        low = self._numbers(data, "low", table, len(sizes)) if "low" in data else unknown
        high = self._numbers(data, "high", table, len(sizes)) if "high" in data else unknown
        estimates = []
        for values in zip(times, low, high, strict=True):
            self._check_interval(values, table)
            estimates.append(Estimate(*(value * _US for value in values)))
        return MessageTimes(tuple(map(int, sizes)), tuple(estimates), *self._marks(data, table))

    def _numbers(
        self, data: Mapping[str, Any], key: str, table: str, count: int | None = None
    ) -> list[float]:
        values = self._of(data.get(key), list, key, table)
        if not 1 <= len(values) <= _MOST_SIZES or count not in (None, len(values)):
            expected = f"{count}, one for each size" if count else f"1 to {_MOST_SIZES}"
            raise self._wrong(key, table, f"{len(values)} values, and it takes {expected}")
        return [self._positive(value, key, table) for value in values]

    def _quantity(self, name: str, data: Any) -> Quantity:
        self._of(data, dict, name, name)
        keys = dict.fromkeys(("source", "assumed", "unit", "value", "low", "high"))
        self._check_keys(data, keys, name, "key")
        unit, scale, _ = QUANTITIES[name]
        if data.get("unit") != unit:
            raise self._wrong(
                "unit", name, f"the unit is {data.get('unit')!r}, and has to be '{unit}'"
            )
        values = [math.nan] * 3
        for place, key in enumerate(("value", "low", "high")):
            if key in data or key == "value":
                values[place] = self._positive(data.get(key), key, name)
        self._check_interval(values, name)
        if name in ("network_card", "node_copy") and 0 in values:
            raise self._wrong("value", name, "a rate is more than 0")
        return Quantity(Estimate(*(value * scale for value in values)), *self._marks(data, name))

    def _check_interval(self, values: Sequence[float], table: str) -> None:
        value, low, high = values
        if low > value or value > high:
            raise self._wrong(
                "low", table, f"{value:g} is not between its ends {low:g} and {high:g}"
            )

    def _validation(self, data: Any, number: int) -> Validation:
        values: dict[str, Any] = {}
        self._of(data, dict, "validated", "validated")
        for key, each in Validation.__dataclass_fields__.items():
            kind = {"int": int, "float": float}.get(str(each.type), str)
            value = data.get(key)
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                where = self.toml.place(key, "validated", number)
                raise UserError(f"{where}: {key} is missing, or is no {_KINDS[kind]}")
            values[key] = value
        return Validation(**values)

    def _marks(self, data: Mapping[str, Any], table: str) -> tuple[str, bool]:
        source = self._of(data.get("source"), str, "source", table)
        return source, self._of(data.get("assumed", False), bool, "assumed", table)

    def _positive(self, value: Any, key: str, table: str) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < math.inf:
            shown = "nothing" if value is None else repr(value)
            raise self._wrong(key, table, f"{shown} is no number of at least 0")
        return float(value)

    def _of(self, value: Any, kind: type[Any], key: str, table: str = "") -> Any:
        if type(value) is not kind:
            what = "is missing" if value is None else f"is no {_KINDS[kind]}"
            raise self._wrong(key, table, f"`{key}` {what}")
        return value

    def _wrong(self, key: str, table: str, why: str) -> UserError:
        return UserError(f"{self.toml.place(key, table)}: {why}")


_KINDS: Mapping[type[Any], str] = {
    str: "text", int: "whole number", float: "number", bool: "true or false", list: "list",
    dict: "table",
}  # fmt: skip
