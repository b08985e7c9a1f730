# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the readers: every module of this folder is looked into once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.modules import import_all
from mpigauge.readers.reading import Reading
from mpigauge.readers.text import Text

Read = Callable[[Text], Reading]


@dataclass(frozen=True)
class Reader:
    name: str
    about: str
    mark: re.Pattern[bytes]
    """What only texts have that it can read."""
    read: Read


_registered: dict[str, Reader] = {}


def reader(name: str, about: str, mark: bytes) -> Callable[[Read], Read]:
    """Makes a function the reader of this name; `mark` is a regular expression, ^ begins a line."""

    def add(function: Read) -> Read:
        if name in _registered:
            raise ValueError(f"two readers are called '{name}'")
        _registered[name] = Reader(name, about, re.compile(mark, re.MULTILINE), function)
        return function

    return add


@cache
def readers() -> Mapping[str, Reader]:
    import_all(__name__.rpartition(".")[0])
    return MappingProxyType(dict(sorted(_registered.items())))


def find_reader(name: str) -> Reader:
    if name not in readers():
        hint = did_you_mean(name, readers()) or f"; there are {', '.join(readers())}"
        raise UserError(f"there is no reader '{name}'{hint}")
    return readers()[name]


def sniff(text: Text) -> list[Reader]:
    """Those that find something of theirs: a log may hold the output of several programs."""
    return [each for each in readers().values() if each.mark.search(text.data)]
