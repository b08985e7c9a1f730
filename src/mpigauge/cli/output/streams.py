# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Standard output and error: either may be closed, full, or a terminal that obeys control signs.

All that is printed goes through here, so that no text of a stored run, of an MPI or of a file gives
orders to the terminal: of all control characters only our own colours get out.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.screen import without_orders

if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


class OutputError(UserError):
    """Raised when output cannot be written."""


class _Output(io.FileIO):
    """Says in its own words why nothing can be written. A reader that has gone is not a failure."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"cannot write to standard output: {error.strerror}") from None


class _Errors(io.FileIO):
    """Standard error, whose output is dropped if it cannot be written: work goes on."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


class FilteredStream(io.TextIOWrapper):
    """Lets text out, and colours where they are wanted."""

    coloured = False
    unfiltered: TextIO
    """The same without a look at what is written: for a picture whose lines are written anew."""

    def write(self, text: str) -> int:
        super().write(without_orders(text, self.coloured))
        return len(text)


def open_streams(coloured: bool) -> None:
    """Takes the place of the usual streams. UserError: standard output is closed.

    A closed one is taken by nothing first, or the next file that is opened would be in its place.
    """
    closed = sys.stdout is None
    for number in (_INPUT, _OUTPUT, _ERRORS):
        _fill(number)
    sys.stderr = _filtered(_Errors(_ERRORS, "wb", closefd=False), sys.stderr, coloured)
    sys.stdout = _filtered(_Output(_OUTPUT, "wb", closefd=False), sys.stdout, coloured)
    if closed:
        raise UserError("standard output is closed; send it to a file, or to /dev/null")


def forget_output() -> None:
    """Discards the remaining output, since nobody reads it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)


def _fill(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)


def _filtered(raw: io.FileIO, like: TextIO | None, coloured: bool) -> FilteredStream:
    """Names of files that are no UTF-8 are written with `\\udcff` for such a byte."""
    encoding = like.encoding if like is not None else "utf-8"
    buffer = io.BufferedWriter(raw)
    at_once = raw.fileno() == _ERRORS or raw.isatty()

    stream = FilteredStream(buffer, encoding, "backslashreplace", line_buffering=at_once)
    stream.coloured = coloured
    stream.unfiltered = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True
    )
    return stream
