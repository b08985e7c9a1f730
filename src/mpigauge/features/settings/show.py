# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of an MPI as a table, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from mpigauge.model.knob import READ_WORDS

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob

HEADS = ("setting", "default", "read", "meaning")
_LONGEST_DEFAULT = 24
_LABEL = 9


def row(knob: Knob) -> list[str]:
    """Name, default, when it is read, and our words or the beginning of the MPI's."""
    default = "?" if knob.default is None else knob.default or "-"
    if len(default) > _LONGEST_DEFAULT:
        default = f"{default[: _LONGEST_DEFAULT - 1]}…"
    return [knob.name, default, knob.read or "?", knob.meaning or first_sentence(knob.about)]


def rows(knobs: Iterable[Knob]) -> list[list[str]]:
    """A row for each, and one for all that share a name with a star."""
    families: dict[str, list[Knob]] = {}
    for knob in knobs:
        families.setdefault(knob.family or knob.name, []).append(knob)
    return [
        row(each[0]) if len(each) == 1 else _family(name, each) for name, each in families.items()
    ]


def _family(name: str, knobs: list[Knob]) -> list[str]:
    first = row(knobs[0])
    alike = len({knob.default for knob in knobs}) == 1
    return [name, first[1] if alike else "differs", first[2], f"{first[3]} ({len(knobs)} of them)"]


def first_sentence(text: str) -> str:
    head, stop, _ = text.partition(". ")
    return f"{head}." if stop else head


def page(knob: Knob, environment: Mapping[str, str], width: int) -> Iterator[str]:
    """All that is known of one setting; `environment` tells what it is set to now."""
    yield knob.name
    told = [
        ("meaning", knob.meaning),
        ("values", knob.legal),
        ("declared", ", ".join(knob.choices)),
        ("default", "not told" if knob.default is None else knob.default or "empty"),
        ("here", environment.get(knob.variable, "not set") if knob.variable else ""),
        ("type", knob.kind),
        ("read", READ_WORDS[knob.read]),
        ("set it", f"--set {knob.variable}=VALUE" if knob.variable else "no variable is known"),
        ("control", knob.control if knob.control != knob.variable else ""),
        (
            "for",
            {"user": "users", "tuner": "tuners", "developer": "developers"}.get(knob.level, ""),
        ),
        ("of", knob.of),
        ("tested", "" if knob.tested else "no: known by name only, no MPI here has it"),
        ("its words", knob.about),
    ]
    for label, text in told:
        if text:
            start = f"  {label:<{_LABEL}}  "
            for number, part in enumerate(wrap(text, max(24, width - len(start)))):
                yield (start if number == 0 else " " * len(start)) + part
