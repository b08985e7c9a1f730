# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The text of a job as its program wrote it, without the prefixes of launchers and logs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.runs.readers.pages import pieces_of, sections_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.runs.readers.pages import Headings

NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d\d?)?"
"""A number that is not negative, as programs print it, within the range of a float."""
PREFIX = re.compile(
    rb"^(?:"
    rb"\[\d+\] |"  # Hydra -l
    rb"\[\d+,\d+\]<std(?:out|err)>: ?|"  # Open MPI --output tag
    rb"\d+: ?(?=[ #\n])|"  # srun -l
    rb"\[?\d\d\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z]*\]? |"  # a time stamp with its day
    rb"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? {1,2}"  # and without
    rb")+",
    re.MULTILINE,
)

_TOO_LONG = re.compile(rb"(?<![\d.])\d{19}|\d{41}")
"""More digits than a 64-bit integer has, or than any program prints after a point."""
_ALIKE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
_OTHER_DIGITS = re.compile(r"(?![0-9])\d")


_A_NUMBER = re.compile(rf"-?{NUMBER}")
NO_NUMBER = r"[-+]?(?:nan|inf(?:inity)?)(?:\([^)\s]*\))?"
"""A word that programs print instead of a number, in any case."""
_NO_NUMBER = re.compile(rf"(?<![\w.]){NO_NUMBER}(?!\w)", re.IGNORECASE)


def why_unread(line: str, otherwise: str) -> str:
    """The reason why a line without columns is left out: a word such as nan or -inf instead of a
    number, or else the reason `otherwise`."""
    match = _NO_NUMBER.search(line)
    return f"{match[0]} is not a number" if match else otherwise


def why_no_row(words: Sequence[str], heads: Sequence[str], texts: Collection[str] = ()) -> str:
    """The reason why a line is not a row below these heads. The columns of `texts` hold no
    numbers."""
    if len(words) != len(heads):
        return f"it has {len(words)} of {len(heads)} columns"
    for head, word in zip(heads, words, strict=True):
        if head not in texts and not _A_NUMBER.fullmatch(word):
            return f"{word} is not a number ({head})"
    return "a number is cut short"


@dataclass(frozen=True)
class Unread:
    """A line that seems to hold a number, and the reason why it is left out."""

    line: int
    """The line number, from 1."""
    text: str
    why: str
    file: str = ""


@dataclass(frozen=True)
class Text:
    raw: bytes
    benchmark: str = ""
    """The benchmark of tables without a heading, if the user names it."""
    ranks: int = 0
    """The number of ranks, for programs that do not print it; 0: the user does not give it."""

    @cached_property
    def parts(self) -> Mapping[Headings, Text]:
        """The outputs within a page or a JSON text, by their headings; empty: it is neither."""
        pieces = pieces_of(self.raw)
        return {headings: replace(self, raw=piece) for headings, piece in pieces.items()}

    @cached_property
    def sections(self) -> Mapping[Headings, Text]:
        """The lines below each heading of a log; empty: it has none."""
        pieces = sections_of(self.raw)
        return {headings: replace(self, raw=lines) for headings, lines in pieces.items()}

    @cached_property
    def data(self) -> bytes:
        r"""The text whose lines, including the last, end with \n alone and have no prefix. Lines
        with overlong numbers (`left_out`) are empty."""
        if not self.left_out:
            return self._as_written
        lines = self._as_written.split(b"\n")
        for unread in self.left_out:
            lines[unread.line - 1] = b""
        return b"\n".join(lines)

    @cached_property
    def left_out(self) -> tuple[Unread, ...]:
        """Lines with a number of so many digits that it cannot be a result; no reader gets them."""
        if b"0" * _MOST_DIGITS not in self._as_written.translate(_ALIKE):
            return ()
        unread = []
        for number, line in enumerate(self._as_written.split(b"\n"), 1):
            if _TOO_LONG.search(line):
                unread.append(
                    Unread(
                        number,
                        line[:_SHOWN].decode("utf-8", "replace").strip(),
                        "a number is too long",
                    )
                )
        return tuple(unread)

    @cached_property
    def _as_written(self) -> bytes:
        data = self.raw.replace(b"\r\n", b"\n") if b"\r" in self.raw else self.raw
        if any(PREFIX.search(part) for part in _samples(data)):
            data = PREFIX.sub(b"", data)
        if data.endswith(b"\n"):
            return data
        return data + b"\n"

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without digits of other scripts than 0 to 9, which are not a program's
        numbers."""
        text = self.data.decode("utf-8", "replace")
        return (text if text.isascii() else _OTHER_DIGITS.sub("?", text)).split("\n")[:-1]

    def numbered(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, from 1."""
        return enumerate(self.lines, 1)


def _samples(data: bytes) -> Iterator[bytes]:
    """Parts of a text, all of a short one, which suffice since prefixes are everywhere or
    nowhere."""
    step = max(len(data) // _SAMPLES, _SAMPLE_BYTES)
    return (data[start : start + _SAMPLE_BYTES] for start in range(0, len(data), step))


_SAMPLES, _SAMPLE_BYTES = 32, 1 << 15
_MOST_DIGITS = 19
_SHOWN = 80
