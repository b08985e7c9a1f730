# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of readers, each defined in a file of this folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mpigauge.model.registry import Registry
from mpigauge.runs.readers.parts import read_parts
from mpigauge.runs.readers.reading import Reading
from mpigauge.runs.readers.repeated import with_each_row_kept
from mpigauge.runs.readers.text import Text

Read = Callable[[Text], Reading]


@dataclass(frozen=True)
class Reader:
    name: str
    about: str
    mark: re.Pattern[bytes]
    """A pattern that only occurs in texts for this reader."""
    read: Read


READERS = Registry[Reader]("reader", __name__.rpartition(".")[0])


def reader(name: str, about: str, mark: bytes) -> Callable[[Read], Read]:
    """Registers the reader of this name; `mark` is a regular expression, ^ matches any line start.

    The function reads plain text. Pages and JSON are divided before, and rows with the same key are
    kept apart after it.
    """

    def add(function: Read) -> Read:
        def read(text: Text) -> Reading:
            return with_each_row_kept(read_parts(function, text))

        READERS.add(name, Reader(name, about, re.compile(mark, re.MULTILINE), read))
        return function

    return add


def sniff(text: Text) -> list[Reader]:
    """The readers whose mark occurs: a log may hold the output of several programs."""
    data = [each.data for each in (text, *text.parts.values())]
    return [each for each in READERS.values() if any(map(each.mark.search, data))]
