# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The screen that we write to, and signs that it cannot show."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from mpigauge.model.limits import MOST_COLUMNS
from mpigauge.model.screen import in_ascii, screen_of, shows_unicode
from mpigauge.model.width import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.screen import Screen

_IN_WORDS = "mpigauge_in_words"
_ASCII = "mpigauge_ascii"


def screen() -> Screen:
    """The terminal as it is now: it may have been made wider."""
    size = shutil.get_terminal_size()
    wide, high = (min(count, MOST_COLUMNS) for count in size)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return screen_of(os.environ, sys.stdout.isatty(), encoding, (wide, high))


def is_terminal() -> bool:
    """True if standard output, which may be closed, is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write(text: str) -> None:
    """Writes text as it is: click would take the colours away from a pipe that was promised
    them."""
    click.echo(text, nl=False, color=screen().coloured)


def write_lines(lines: Iterable[str]) -> None:
    """Writes each of these in a line of its own, whatever names they hold."""
    for line in lines:
        click.echo(one_line(line))


def in_words() -> None:
    """Has signs that the locale cannot show written in words from now on: us for µs."""
    if all(shows_unicode(os.environ, stream.encoding) for stream in (sys.stdout, sys.stderr)):
        return
    codecs.register_error(_IN_WORDS, _in_words)
    codecs.register(_ascii)
    for each in (sys.stdout, sys.stderr):
        for stream in (each, getattr(each, "unfiltered", None)):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding=_ASCII, errors=_IN_WORDS)


def _ascii(name: str) -> codecs.CodecInfo | None:
    """ASCII by another name: click takes a stream of that one for set up wrongly, and writes UTF-8
    past it."""
    if name != _ASCII:
        return None
    base = codecs.lookup("ascii")
    return codecs.CodecInfo(
        *(base.encode, base.decode, base.streamreader, base.streamwriter),
        *(base.incrementalencoder, base.incrementaldecoder),
        name=_ASCII,
    )


def _in_words(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end


def tell(text: str) -> None:
    """Writes a note in a line of its own on standard error."""
    click.echo(f"mpigauge: {one_line(text)}", err=True)


_notes: list[str] = []
"""Notes on what was asked for, until it is certain that it is carried out."""


def note(text: str) -> None:
    """Tells how a word is understood once the command starts something or ends well. A refusal
    stands alone."""
    _notes.append(text)


def tell_notes() -> None:
    while _notes:
        tell(_notes.pop(0))


def forget_notes() -> None:
    _notes.clear()
