# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files that a user names: their content, if they are files of a readable size.

A device may have no end, and a FIFO without a writer would block forever.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_INPUT_BYTES

if TYPE_CHECKING:
    from pathlib import Path

_AT_ONCE = 1 << 20


def read_input(
    path: Path, option: str = "", called: str = "", most: int = MOST_INPUT_BYTES
) -> bytes:
    """The content of a file, or of a pipe to its end.

    `option` begins each error ("--hostfile: "), `called` is the name of the file in errors, if it
    is not its path. UserError: it cannot be read, is neither, is larger than `most`, or is a FIFO
    without a writer.
    """
    name = called or str(path)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise UserError(f"{option}cannot read {name}: {_reason(error)}") from None
    try:
        kind = os.fstat(handle).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise UserError(f"{option}{name} is a device, not a file")
        first = _first_of_pipe(handle, f"{option}{name}") if stat.S_ISFIFO(kind) else b""
        return _to_the_end(handle, first, most, f"{option}{name}")
    except OSError as error:
        raise UserError(f"{option}cannot read {name}: {_reason(error)}") from None
    finally:
        os.close(handle)


def read_text(path: Path, option: str = "", called: str = "") -> str:
    """A file's text, with line ends as \\n and without a byte-order mark. UserError: it cannot be
    read, or is not UTF-8."""
    try:
        text = read_input(path, option, called).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{option}{called or path} is not text in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _first_of_pipe(handle: int, name: str) -> bytes:
    """The data that is already in a pipe; later reads block until its writer writes more."""
    try:
        first = os.read(handle, _AT_ONCE)
        if not first:
            raise UserError(f"{name} is a FIFO without a writer; name a file")
    except BlockingIOError:
        first = b""
    os.set_blocking(handle, True)
    return first


def _to_the_end(handle: int, first: bytes, most: int, name: str) -> bytes:
    pieces, size = [first], len(first)
    while piece := os.read(handle, _AT_ONCE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise UserError(f"{name} is larger than {most >> 20} MiB, the most that is read")
    return b"".join(pieces)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return "its name holds a zero byte"
    if error.errno == errno.ENXIO:
        return "it is a socket, not a file"
    return error.strerror or str(error)
