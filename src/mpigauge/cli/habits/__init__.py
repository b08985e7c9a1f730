# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options of launchers and of benchmarks, in our words: `-np 2 -msglog 3:4` is `--np 2 --sizes
0,8..16`.

Options with exactly one meaning here are translated, and a note prints the translation once. Other
options are refused with our words for what they may mean.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import click

from mpigauge.cli.helping import Command, names_of
from mpigauge.model.limits import whole_number

if TYPE_CHECKING:
    from mpigauge.cli.habits.habit import Habit

END = "--"
"""The word after it belong to another program."""
_COUNTS = ("-np", "-n", "--np", "--ntasks")
"""Options for the number of ranks."""
_WITHOUT_NOTE = ("-np", "-n", "-ppn")
"""Options whose translation needs no note."""
_JOINED = re.compile(r"(-[A-Za-z])(\d+)")
"""A short option and its number in one word, as srun takes them: -n4."""


@dataclass(frozen=True)
class Options:
    """The options of a command of ours."""

    values: dict[str, int]
    """The number of words that follow each option."""
    ends_at_program: bool = False
    """The first word that is no option is a program, whose own options follow it."""

    @classmethod
    def of(cls, command: click.Command) -> Options:
        values: dict[str, int] = {}
        for param in command.params:
            if isinstance(param, click.Option):
                count = 0 if param.is_flag or param.count else param.nargs
                values |= dict.fromkeys([*names_of(param), *param.secondary_opts], count)
        mixed = command.context_settings.get("allow_interspersed_args", True)
        return cls(values, not mixed)

    def habit(self, name: str) -> Habit | None:
        """Returns the meaning of an option of another program; None: it has none here."""
        if name in self.values or not name.startswith("-"):
            return None
        habit = all_habits().get(_with_two_dashes(name))
        if habit is None or not habit.needs <= self.values.keys():
            return None
        return habit


@dataclass
class Translated:
    """A command line in our words."""

    ours: list[str] = field(default_factory=list)
    program: list[str] = field(default_factory=list)
    """The words from the program on, with `--` before it if that was typed."""
    notes: list[str] = field(default_factory=list)
    """A note for each translation."""


def in_our_words(words: Sequence[str], options: Options) -> tuple[list[str], list[str]]:
    """Returns the words with all habits translated, and a note for each translation.

    UserError: an option has no one meaning here.
    """
    line = translated(words, options)
    return [*line.ours, *line.program], line.notes


def translated(words: Sequence[str], options: Options) -> Translated:
    """Translates the options before the program. UserError: an option has no one meaning here."""
    line = Translated()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == END or (options.ends_at_program and not word.startswith("-")):
            line.program = [word, *rest]
            break
        name, equals, value = _parts(word, options)
        habit = options.habit(name)
        if habit is None:
            count = 0 if equals else options.values.get(name, 0)
            line.ours += [word, *rest[:count]]
            del rest[:count]
            continue
        values = habit.split(value) if equals else habit.read(name, rest)
        _add(line, name, values, habit.in_our_words(name, values, _ranks_in(words)), options)
    return line


def _parts(word: str, options: Options) -> tuple[str, str, str]:
    """Returns the name of an option, its separator, and its value in the same word."""
    joined = _JOINED.fullmatch(word)
    if joined and options.habit(joined[1]):
        return joined[1], "=", joined[2]
    return word.partition("=")


def _add(
    line: Translated, name: str, values: list[str], ours: Sequence[str], options: Options
) -> None:
    """Adds an option in our words; unchanged if the command has no such option."""
    typed = [name, *values]
    if not _are_options(ours, options.values):
        line.ours += typed
        return
    line.ours += ours
    if name not in _WITHOUT_NOTE:
        line.notes.append(f"{' '.join(typed)} is {' '.join(ours) or 'the default'} here")


def _ranks_in(words: Sequence[str]) -> int | None:
    """Returns the number of ranks that an option before the program names."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word == END:
            break
        if name in _COUNTS:
            return whole_number(value if equals else "".join(words[place + 1 : place + 2]))
        if (joined := _JOINED.fullmatch(word)) and joined[1] in _COUNTS:
            return whole_number(joined[2])
    return None


def _are_options(ours: Sequence[str], options: Collection[str]) -> bool:
    return all(word in options for word in ours[:1])


@cache
def all_habits() -> Mapping[str, Habit]:
    """The options of launchers and of benchmarks, by name."""
    from mpigauge.cli.habits import benchmarks as benchmark_habits
    from mpigauge.cli.habits import launchers as launcher_habits

    return {**launcher_habits.HABITS, **benchmark_habits.HABITS}


def _with_two_dashes(name: str) -> str:
    """Open MPI accepts -map-by for --map-by; options of IMB have the one form."""
    from mpigauge.cli.habits import launchers as launcher_habits

    return f"-{name}" if f"-{name}" in launcher_habits.OPEN_MPI else name


class HabitualCommand(Command):
    """A command that understands options of launchers and of benchmarks."""

    def our_words(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        return in_our_words(words, Options.of(self))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from mpigauge.cli.output import note

        words, notes = self.our_words(args)
        for each in notes:
            note(each)
        return super().parse_args(ctx, words)


def words_of_command(command: click.Command, words: list[str]) -> list[str]:
    """Returns the words as the command will read them."""
    if isinstance(command, HabitualCommand):
        return command.our_words(words)[0]
    return list(words)
