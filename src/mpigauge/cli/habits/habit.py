# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""An option of another program, with its translation or with the answer in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mpigauge.model.errors import UserError

OF_RUNS = frozenset({"--precision"})
"""Options of commands that measure benchmarks."""
NAME_AND_VALUE = 2
"""The number of words after -genv and --mca."""
_SWITCHES = {"on": True, "1": True, "yes": True, "off": False, "0": False, "no": False}


def _nothing(*_: object) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Habit:
    """An option of another program."""

    translate: Callable[..., Sequence[str]] = _nothing
    """Returns our words for its values. UserError: it has no one meaning here."""
    values: int = 1
    """The number of words that follow the option."""
    needs: frozenset[str] = frozenset()
    """The options that a command must have for the answer to be true of it."""
    of_ranks: bool = False
    """Its meaning depends on the number of ranks, which `translate` takes after the value."""
    answer: str = ""
    """The words to type in its place, with {} for its value; empty: it is translated."""

    def read(self, name: str, rest: list[str]) -> list[str]:
        """Takes the values from the words that follow. UserError: one is missing."""
        if self.values == NAME_AND_VALUE and "=" in "".join(rest[:1]):
            return list(rest.pop(0).partition("=")[::2])
        if len(rest) < self.values:
            raise UserError(f"{name}: a value is missing")
        return [rest.pop(0) for _ in range(self.values)]

    def split(self, value: str) -> list[str]:
        """The values of NAME=VALUE: of an option with two, they are a name and a value again."""
        if self.values == NAME_AND_VALUE:
            return list(value.partition("=")[::2])
        return [value] * self.values

    def in_our_words(self, name: str, values: Sequence[str], ranks: int | None) -> Sequence[str]:
        """Returns our words for the option. UserError: the answer to it."""
        if self.answer:
            raise UserError(f"{' '.join([name, *values])}: {self.answer.format(*values)}")
        return self.translate(*values, *((ranks,) if self.of_ranks else ()))


def same_as(option: str) -> Habit:
    """An option with the value of one of ours."""
    return Habit(lambda value: [option, value])


def flag(*words: str) -> Habit:
    """An option without a value, in our words."""
    return Habit(lambda: words, values=0)


def usual(values: int = 0) -> Habit:
    """An option that requests what every measurement does."""
    return Habit(values=values, needs=OF_RUNS)


def answered(answer: str, values: int = 1) -> Habit:
    """An option that has no counterpart."""
    return Habit(values=values, answer=answer)


def of_runs(habit: Habit) -> Habit:
    """The same, for commands that measure benchmarks alone."""
    return replace(habit, needs=OF_RUNS)


def switch(name: str, on: Sequence[str], off: Sequence[str] | str = ()) -> Habit:
    """An option of IMB that is followed by on or off; a text is the answer to a switch that is not
    here."""

    def translate(value: str) -> Sequence[str]:
        if value.lower() not in _SWITCHES:
            raise UserError(f"{name} {value}: write {name} on or {name} off")
        ours = on if _SWITCHES[value.lower()] else off
        if isinstance(ours, str):
            raise UserError(f"{name} {value}: {ours}")
        return ours

    return Habit(translate)
