# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What each benchmark is, as the build of the kernels wrote it down: known without any MPI."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


FIRST_SUITE = "MPI1"
REPLAY_SUITE = "REPLAY"
NODE_SUITE = "NODE"
"""The machine itself, between ranks of one host."""
_MOST_NAMED = 40
_SIDES = {"plane": 2, "volume": 3}


@dataclass(frozen=True)
class Card:
    suite: str
    name: str
    about: str
    ranks: str
    """one: rank 0 alone; pair: two of the job; pairs: an even number; several: two or more; plane,
    volume: a product of two or three numbers from 2 on; any: from one to all."""
    time: str
    """half_round_trip or call."""
    unit: str
    """transfer, reduction or none: what the message is made of."""
    sync: str
    """each: the ranks meet before each timed call; none: calls follow each other."""
    rooted: bool
    by_default: bool
    columns: str
    """Which of IMB's tables it has: single, parallel, collective, barrier, band, timed_band, rate,
    overlap, passive."""
    windowed: bool = False
    """Keeps --inflight messages under way."""
    large_counts: bool = False
    why_static: str = ""
    """Why what it sends cannot be written before each call; empty: it can be."""
    completions: tuple[str, ...] = ("",)
    """The ways in which it waits for its operations, in IMB's order; empty: none."""
    only_bytes: int = 0
    """The one size that it has; 0: as asked for."""
    options: tuple[str, ...] = ()
    """Those that it uses and that not all benchmarks do, by name; cards.json calls them heeds."""
    needs: tuple[str, ...] = ()
    """MPI calls that not every library has."""

    @property
    def word(self) -> str:
        """What it is called wherever its suite is not known from elsewhere."""
        return benchmark_word(self.suite, self.name)

    def fits(self, ranks: int) -> bool:
        """Whether a job of so many ranks can run it."""
        if self.ranks in _SIDES:
            return _is_product(ranks, _SIDES[self.ranks])
        return ranks >= (2 if self.ranks in ("pair", "pairs", "several") else 1)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Card:
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        known["options"] = fields.get("heeds", ())
        for name in ("needs", "options", "completions"):
            known[name] = tuple(known.get(name, cls.__dataclass_fields__[name].default))
        return cls(**known)


def benchmark_word(suite: str, name: str) -> str:
    """NAME in the suite that is meant where none is named, SUITE:NAME in others."""
    return name if suite == FIRST_SUITE else f"{suite}:{name}"


def _is_product(number: int, sides: int) -> bool:
    """Whether it is a product of so many factors from 2 on."""
    factors, divisor = 0, 2
    while number > 1:
        while number % divisor == 0:
            number //= divisor
            factors += 1
        divisor += 1
    return factors >= sides


@dataclass(frozen=True)
class Cards:
    benchmarks: tuple[Card, ...]
    datatypes: tuple[str, ...] = ()
    reduction_datatypes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    op_types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each operation with the data types that it can reduce."""
    datatype_bytes: tuple[tuple[str, int], ...] = ()

    def __iter__(self) -> Iterator[Card]:
        return iter(self.benchmarks)

    def names(self) -> list[str]:
        return [card.word for card in self.benchmarks]

    def suites(self) -> list[str]:
        return list(dict.fromkeys(card.suite for card in self.benchmarks))

    def default(self, suite: str = FIRST_SUITE) -> list[Card]:
        """What a suite runs when nothing is named."""
        return [card for card in self.benchmarks if card.by_default and card.suite == suite]

    def get(self, name: str) -> Card | None:
        """The card of SUITE:NAME or NAME in any spelling of capitals, or None.

        A name that several suites have is MPI1's, else that of the one that spells it so.
        """
        suite, _, bare = name.rpartition(":")
        alike = [c for c in self.benchmarks if c.name.lower() == bare.lower()]
        if suite:
            return next((c for c in alike if c.suite.lower() == suite.lower()), None)
        first = [c for c in alike if c.suite == FIRST_SUITE]
        exact = [c for c in alike if c.name == bare]
        return next((found[0] for found in (first, alike, exact) if len(found) == 1), None)

    def find(self, name: str) -> Card:
        """The card of SUITE:NAME or NAME in any spelling of capitals."""
        return self.get(name) or self._none_called(name)

    def _none_called(self, name: str) -> Any:
        alike = [c.word for c in self.benchmarks if c.name.lower() == name.lower()]
        if alike:
            raise UserError(f"several benchmarks are called '{name}': write {' or '.join(alike)}")
        words = {c.name: c.word for c in reversed(self.benchmarks)}
        words |= {word: word for word in (*self.names(), *self.suites())}
        guess = nearest(name, words)
        _unknown("benchmark", name, [words[guess]] if guess else self.names(), bool(guess))

    def named(self, names: Iterable[str]) -> list[Card]:
        """The cards of those of these words that are no suites."""
        suites = {suite.lower() for suite in self.suites()}
        words = (word for name in names for word in name.split(",") if word)
        return [self.find(word) for word in words if word.lower() not in suites]

    def chosen(self, names: Iterable[str]) -> list[Card]:
        """The cards of these words, suites standing for what they run when nothing is named.

        Commas separate names too, and twice named is run once.
        """
        suites = {suite.lower(): suite for suite in self.suites()}
        cards: list[Card] = []
        for name in (name for word in names for name in word.split(",") if name):
            suite = suites.get(name.lower())
            cards += self.default(suite) if suite else [self.find(name)]
        return list(dict.fromkeys(cards))

    def datatype(self, name: str) -> str:
        return _known("data type", name, dict.fromkeys(self.datatypes + self.reduction_datatypes))

    def op(self, name: str) -> str:
        return _known("operation", name, self.ops)

    def check_op(self, op: str, datatype: str) -> None:
        """An operation that is not defined for a data type ends here, not in MPI."""
        allowed = dict(self.op_types).get(op, self.reduction_datatypes)
        if datatype not in allowed:
            raise UserError(
                f"the operation {op} is not defined for {datatype}; it reduces {', '.join(allowed)}"
            )

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Cards:
        return cls(
            benchmarks=tuple(Card.from_json(card) for card in fields["benchmarks"]),
            datatypes=tuple(fields.get("datatypes", ())),
            reduction_datatypes=tuple(fields.get("reduction_datatypes", ())),
            ops=tuple(fields.get("ops", ())),
            op_types=tuple((op, tuple(of)) for op, of in fields.get("op_types", {}).items()),
            datatype_bytes=tuple(fields.get("datatype_bytes", {}).items()),
        )

    @classmethod
    def load(cls, path: Path) -> Cards:
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise UserError(f"cannot read the cards in {path}: {error.strerror}") from None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise UserError(f"{path} does not hold the cards of the benchmarks: {error}") from None


def joined(cards: Sequence[Cards]) -> Cards:
    """The first, with the benchmarks that only others know."""
    known = {card.word: card for each in reversed(cards) for card in each}
    order = dict.fromkeys(card.word for each in cards for card in each)
    return replace(cards[0], benchmarks=tuple(known[word] for word in order))


def _known(what: str, name: str, names: Iterable[str]) -> str:
    listed = list(names)
    found = next((each for each in listed if each.lower() == name.lower()), None)
    return found if found is not None else _unknown(what, name, listed)


def _unknown(what: str, name: str, names: Sequence[str], guessed: bool = False) -> Any:
    if guessed:
        hint = f"; did you mean '{names[0]}'?"
    else:
        hint = did_you_mean(name, names) or f"; known are {', '.join(names[:_MOST_NAMED])}"
        hint += ", …" if len(names) > _MOST_NAMED else ""
    raise UserError(f"there is no {what} '{name}'{hint}")
