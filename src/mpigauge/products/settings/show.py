# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of an MPI as a table, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mpigauge.model.grouping import grouped
from mpigauge.model.knob import READ_WORDS
from mpigauge.model.width import wrap

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob

HEADS = ("setting", "default", "read", "meaning")
_LONGEST_DEFAULT = 24
_LABEL = 9


def row(knob: Knob) -> list[str]:
    """Name, default, when it is read, and our words or the beginning of the MPI's."""
    default = knob.default or "-"
    if knob.default is None:
        default = "?"
    if len(default) > _LONGEST_DEFAULT:
        default = f"{default[: _LONGEST_DEFAULT - 1]}…"
    return [knob.name, default, knob.read or "?", knob.meaning or first_sentence(knob.about)]


def rows(knobs: Iterable[Knob]) -> list[list[str]]:
    """A row for each, and one for all that share a name with a star."""
    table = []
    for name, alike in grouped(knobs, lambda knob: knob.family or knob.name).items():
        if len(alike) == 1:
            table.append(row(alike[0]))
        else:
            table.append(_family(name, alike))
    return table


def _family(name: str, knobs: list[Knob]) -> list[str]:
    """One row for all of them, with the words of the first."""
    _, default, read, meaning = row(knobs[0])
    if len({knob.default for knob in knobs}) > 1:
        default = "differs"
    return [name, default, read, f"{meaning} ({len(knobs)} of them)"]


def first_sentence(text: str) -> str:
    head, stop, _ = text.partition(". ")
    if not stop:
        return head
    return f"{head}."


_FOR = {"user": "users", "tuner": "tuners", "developer": "developers"}


def page(knob: Knob, environment: Mapping[str, str], width: int) -> Iterator[str]:
    """All that is known of one setting; `environment` tells what it is set to now."""
    yield knob.name
    for label, text in _facts(knob, environment):
        start = f"  {label:<{_LABEL}}  "
        for part in wrap(text, max(24, width - len(start))):
            yield start + part
            start = " " * len(start)


def _facts(knob: Knob, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The facts on a setting: labels and texts, none of them empty."""
    default = knob.default or "empty"
    if knob.default is None:
        default = "unknown"
    texts = {
        "meaning": knob.meaning,
        "values": knob.legal,
        "declared": ", ".join(knob.choices),
        "default": default,
        "here": "",
        "type": knob.kind,
        "read": READ_WORDS[knob.read],
        "set it": "no variable is known",
        "control": "",
        "for": _FOR.get(knob.level, ""),
        "of": knob.of,
        "tested": "",
        "its words": knob.about,
    }
    if knob.variable:
        texts["here"] = environment.get(knob.variable, "not set")
        texts["set it"] = f"--set {knob.variable}=VALUE"
    if knob.control != knob.variable:
        texts["control"] = knob.control
    if not knob.tested:
        texts["tested"] = "no: known by name only, no MPI here has it"
    for label, text in texts.items():
        if text:
            yield label, text
