# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The capabilities of the output device: its width, colours and block characters.

NO_COLOR disables colours (https://no-color.org), FORCE_COLOR and CLICOLOR_FORCE enable them in a
pipe, CLICOLOR=0 and TERM=dumb disable them on a terminal; otherwise a terminal has them.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

from mpigauge.model.width import WIDTH

TRUE_COLOURS = 1 << 24
_UTF_8 = "utf-8"
_LOCALES = ("LC_ALL", "LC_CTYPE", "LANG")
"""Locale variables; the first of them that is set decides."""
_FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE")
_ASCII = {
    "µ": "u", "±": "+-", "·": "-", "×": "x", "–": "-", "—": "-", "…": "...", "α": "alpha",
    "β": "beta", "½": "1/2", "≥": ">=", "≤": "<=", "→": "->", "⁶": "^6", "²": "^2", "³": "^3",
    "√": "sqrt", "’": "'", "‘": "'", "“": '"', "”": '"', "Δ": "d", "σ": "sigma", "≈": "~",
}  # fmt: skip

_COLOUR = r"(?:[0-3]|[39][0-7]|[34]8;5;\d{1,3}|[34]8;2(?:;\d{1,3}){3})"
_COLOURS = rf"\x1b\[{_COLOUR}(?:;{_COLOUR})*m"
_ORDERS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
_RETURN = r"\r(?!\n)"
"""A carriage return without a newline, after which a line overwrites itself."""
_PLAIN_TEXT = re.compile(f"{_RETURN}|{_ORDERS}")
_COLOURED_TEXT = re.compile(f"({_COLOURS})|{_RETURN}|{_ORDERS}")
_TAKEN_OUT = "\ufffd"


@dataclass(frozen=True)
class Screen:
    width: int = WIDTH
    height: int = 24
    colours: int = 0
    """The number of colours: 0, 16, 256 or 2²⁴."""
    unicode: bool = True
    """True if block and braille characters can be shown."""
    live: bool = False
    """True for a terminal whose lines can be redrawn."""

    @property
    def room(self) -> int:
        """Columns for text whose symbols may be spelled out in ASCII, which takes more room."""
        if self.unicode:
            return self.width
        return self.width - self.width // 8

    @property
    def coloured(self) -> bool:
        return self.colours > 0


PLAIN = Screen()
"""The screen of a pipe or a file: text of 80 columns."""


def screen_of(
    environment: Mapping[str, str], terminal: bool, encoding: str, size: tuple[int, int]
) -> Screen:
    """The screen of a terminal, a pipe or a file; `size`: columns and lines."""
    dumb = _is_dumb(environment)
    return Screen(
        width=size[0],
        height=size[1],
        colours=_colours(environment) if wants_colours(environment, terminal) else 0,
        unicode=shows_unicode(environment, encoding),
        live=terminal and not dumb,
    )


def shows_unicode(environment: Mapping[str, str], encoding: str) -> bool:
    """True if output is UTF-8 and the locale can show it; Python also writes UTF-8 in the C
    locale."""
    locale = next((environment[name] for name in _LOCALES if environment.get(name)), "")
    charset = locale.partition(".")[2].partition("@")[0]
    plain = bool(locale) and not _is_utf_8(charset)
    return _is_utf_8(encoding) and not plain


def without_orders(text: str, coloured: bool = False) -> str:
    """The text without what a terminal would execute: control characters except line ends and tabs,
    and characters that change the text direction. `coloured`: colour sequences are kept."""
    if not coloured:
        return _PLAIN_TEXT.sub(_TAKEN_OUT, text)
    return _COLOURED_TEXT.sub(lambda match: match[1] or _TAKEN_OUT, text)


def in_ascii(text: str) -> str:
    """A text in ASCII: mpigauge's own symbols spelled out, other characters as question marks."""
    ascii_text = "".join(_ASCII.get(letter, letter) for letter in text)
    return ascii_text.encode("ascii", "replace").decode()


def wants_colours(environment: Mapping[str, str], terminal: bool) -> bool:
    """True if output is to be coloured, on a terminal or elsewhere."""
    shown = terminal and not _is_dumb(environment)
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in ("", "0") for name in _FORCED):
        return True
    return shown and environment.get("CLICOLOR") != "0"


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "") in ("dumb", "")


def _colours(environment: Mapping[str, str]) -> int:
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return TRUE_COLOURS
    if "256" in environment.get("TERM", ""):
        return 256
    return 16


def _is_utf_8(name: str) -> bool:
    try:
        return codecs.lookup(name).name == _UTF_8
    except LookupError:
        return False
