# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A whole line of another program in our words: `mpirun -np 2 IMB-MPI1 PingPong -msglog 3:10` is
`mpigauge run PingPong --sizes 0,8..1024`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from mpigauge.cli.habits import END, Options, translated
from mpigauge.cli.registry import COMMANDS
from mpigauge.model.elsewhere import command_here
from mpigauge.model.stored_cards import all_cards
from mpigauge.model.typed import as_word
from mpigauge.site.launch.lines import is_launcher

if TYPE_CHECKING:
    from mpigauge.model.cards import Card

_RUN = "mpigauge run "
_BUFFERS = {"D": "device", "H": "host", "M": "managed"}
"""The words behind a program of OSU for the memory of its ranks."""


@dataclass
class _Parts:
    """The words of a command line of ours by their kind."""

    options: list[str] = field(default_factory=list)
    benchmarks: list[Card] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def memory(self) -> list[str]:
        kinds = list(dict.fromkeys(self.buffers))
        return ["--memory", ":".join(kinds)] if kinds else []


def line_here(words: Sequence[str]) -> str:
    """Returns our command for a line of a launcher or a benchmark; empty: no command does the same.
    UserError: an option of the line has no one meaning here."""
    if not is_launcher(words[0]):
        return _measured(words, [])
    ours = Options.of(COMMANDS["exec"])
    line = translated(words[1:], ours)
    program = line.program[1:] if line.program[:1] == [END] else line.program
    parts = _sorted(line.ours, ours)
    if not program or parts.unknown:
        return ""
    start = ["--launcher", "srun"] if PurePath(words[0]).name == "srun" else []
    options = [*start, *line.ours]
    return _measured(program, options) or _joined(["mpigauge", "exec", *options, END, *program])


def _measured(program: Sequence[str], options: Sequence[str]) -> str:
    """Returns the command that measures the same as a benchmark's program; empty: the program or
    one of its words is unknown."""
    cards = all_cards()
    command = command_here(PurePath(program[0]).name, cards.names())
    if not command.startswith(_RUN):
        return ""
    ours = Options.of(COMMANDS["run"])
    parts = _sorted(translated(program[1:], ours).ours, ours)
    if parts.unknown:
        return ""
    usual, *more = command.removeprefix(_RUN).split()
    chosen = parts.benchmarks or cards.chosen([usual])
    names = [card.word for card in parts.benchmarks] or [usual]
    launched = _without_pair(options) if all(card.ranks == "pair" for card in chosen) else options
    words = ["mpigauge", "run", *names, *more, *launched, *parts.options, *parts.memory]
    return _joined(words)


def _sorted(words: Sequence[str], ours: Options) -> _Parts:
    """Sorts words of a command of ours, whose options are known, by their kind."""
    cards = all_cards()
    parts = _Parts()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        if name in ours.values:
            count = 0 if equals else ours.values[name]
            parts.options += [word, *rest[:count]]
            del rest[:count]
        elif word in _BUFFERS:
            parts.buffers.append(_BUFFERS[word])
        elif card := cards.get(word):
            parts.benchmarks.append(card)
        else:
            parts.unknown.append(word)
    return parts


def _without_pair(options: Sequence[str]) -> list[str]:
    """Returns the options without --np 2, which benchmarks of two ranks have anyway."""
    words = list(options)
    for place, word in enumerate(words):
        if words[place : place + 2] == ["--np", "2"]:
            return [*words[:place], *words[place + 2 :]]
        if word == "--np=2":
            return [*words[:place], *words[place + 1 :]]
    return words


def _joined(words: Sequence[str]) -> str:
    return " ".join(
        word if word == END or word.startswith("-") else as_word(word) for word in words
    )
