# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cards of the benchmarks, as the build of the kernels wrote them: readable without any MPI."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, did_you_mean, nearest
from mpigauge.model.former_names import SUITE, present_names, present_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


FIRST_SUITE = "MPI1"
REPLAY_SUITE = "REPLAY"
NODE_SUITE = "NODE"
"""The suite that measures the machine itself, between ranks of one host."""
NCCL_SUITE = "NCCL"
"""The suite that measures NCCL's collectives on GPUs."""
SAME_RESULT = {"Reduce_scatter_block": "Reduce_scatter"}
"""Collectives whose algorithms in suite ALG have the name of another."""
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
    """each: the ranks synchronize before each timed call; none: calls follow each other."""
    rooted: bool
    by_default: bool
    columns: str
    """The IMB table that it prints: single, parallel, collective, barrier, band, timed_band, rate,
    overlap, passive."""
    windowed: bool = False
    """True if it keeps --inflight messages in flight."""
    large_counts: bool = False
    why_static: str = ""
    """The reason why the send buffer cannot be written before each call; empty: it can."""
    completions: tuple[str, ...] = ("",)
    """The ways in which it completes its operations, in IMB's order; empty: none."""
    gpu: str = ""
    """The reason why its buffers have to be in host memory; empty: they may be on a GPU."""
    buffers: bool = True
    """True if it has message buffers, which may be in caches or not."""
    typed: bool = True
    """True if its messages have the type that --datatype names."""
    only_bytes: int = 0
    """The only message size that it has; 0: any."""
    options: tuple[str, ...] = ()
    """Names of the options that it uses and not all benchmarks do; cards.json calls them heeds."""
    needs: tuple[str, ...] = ()
    """MPI calls that it needs and not every library has."""

    @property
    def word(self) -> str:
        """The name by which the benchmark is shown where its suite is not clear from context."""
        return benchmark_word(self.suite, self.name)

    @property
    def is_sized(self) -> bool:
        """True if it has messages of several sizes."""
        return self.unit != "none" and not self.only_bytes

    def fits(self, ranks: int) -> bool:
        """True if a job of this number of ranks can run it."""
        if self.ranks in _SIDES:
            return _is_product(ranks, _SIDES[self.ranks])
        if self.ranks in ("pair", "pairs", "several"):
            return ranks >= 2
        return ranks >= 1

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Card:
        values = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        values["suite"], values["name"] = present_names(fields["suite"], fields["name"])
        values["options"] = fields.get("heeds", ())
        for name in ("needs", "options", "completions"):
            values[name] = tuple(values.get(name, cls.__dataclass_fields__[name].default))
        return cls(**values)


def benchmark_word(suite: str, name: str) -> str:
    """NAME for the default suite, SUITE:NAME for others."""
    if suite == FIRST_SUITE:
        return name
    return f"{suite}:{name}"


def _is_product(number: int, sides: int) -> bool:
    """True if the number is a product of at least `sides` factors from 2 on."""
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
        """The benchmarks that a suite runs by default."""
        return [card for card in self.benchmarks if card.by_default and card.suite == suite]

    def get(self, name: str) -> Card | None:
        """The card of SUITE:NAME or NAME, ignoring case, or None.

        A name that several suites have is MPI1's, else that of the suite that spells it exactly so.
        """
        suite, _, bare = present_word(name).rpartition(":")
        alike = self._of_name(bare)
        if suite:
            return _of_suite(suite, alike)
        first = [card for card in alike if card.suite == FIRST_SUITE]
        exact = [card for card in alike if card.name == bare]
        for matches in (first, alike, exact):
            if len(matches) == 1:
                return matches[0]
        return None

    def family(self, name: str) -> list[Card]:
        """The benchmarks of a suite that are one collective by several algorithms, such as
        `ALG:Allreduce/ring` of `ALG:Allreduce`; empty if there are none."""
        start = f"{name.lower()}/"
        return [card for card in self.benchmarks if card.word.lower().startswith(start)]

    def algorithms(self, collective: str) -> list[Card]:
        """The algorithms of suite ALG that do the same as a collective."""
        return self.family(f"{SUITE}:{SAME_RESULT.get(collective, collective)}")

    def _of_name(self, name: str) -> list[Card]:
        """The cards of any suite with this name, ignoring case."""
        return [card for card in self.benchmarks if card.name.lower() == name.lower()]

    def find(self, name: str, following: Sequence[str] = ()) -> Card:
        """The card of SUITE:NAME or NAME, ignoring case. UserError: it does not exist, or there are
        several. `following`: the names behind it, which a program of IMB may have."""
        card = self.get(name)
        if card is None:
            raise self._none_called(name, following)
        return card

    def _none_called(self, name: str, following: Sequence[str]) -> UserError:
        from mpigauge.model.elsewhere import command_here

        if alike := self._of_name(name):
            words = " or ".join(card.word for card in alike)
            return UserError(f"several benchmarks are called '{name}': write {words}")

        if command := command_here(name, self.names(), following):
            return UserError(f"there is no benchmark '{name}'; `{command}` does that")
        meant = self._words_by_spelling()
        guess = nearest(name, meant)
        if guess:
            return UserError(f"there is no benchmark '{name}'; did you mean '{meant[guess]}'?")
        suite = name.rpartition(":")[0].upper()
        if suite not in self.suites():
            suite = FIRST_SUITE
        of_suite = [card.word for card in self.benchmarks if card.suite == suite]
        return _unknown("benchmark", name, [*of_suite, *self.suites()])

    def _words_by_spelling(self) -> dict[str, str]:
        """Every name that a user may write for a benchmark or a suite, with its full word."""
        words: dict[str, str] = {}
        for card in reversed(self.benchmarks):
            words[card.name] = card.word
        full = [*self.names(), *self.suites()]
        return words | dict(zip(full, full, strict=True))

    def named(self, names: Iterable[str]) -> list[Card]:
        """The cards of those of these words that name benchmarks, not suites."""
        suites = {suite.lower() for suite in self.suites()}
        cards: list[Card] = []
        for word in split_at_commas(names):
            if word.lower() not in suites:
                cards += self.family(word) or [self.find(word)]
        return cards

    def chosen(self, names: Iterable[str]) -> list[Card]:
        """The cards of these words; a suite stands for its default benchmarks.

        Commas also separate names; a benchmark that is named twice runs once.
        """
        suites = {suite.lower(): suite for suite in self.suites()}
        cards: list[Card] = []
        words = split_at_commas(names)
        for place, name in enumerate(words, 1):
            if suite := suites.get(name.lower()):
                cards += self.default(suite)
            elif family := self.family(name):
                cards += family
            else:
                cards.append(self.find(name, words[place:]))
        return list(dict.fromkeys(cards))

    def datatype(self, name: str) -> str:
        return _listed_name(
            "data type", name, dict.fromkeys(self.datatypes + self.reduction_datatypes)
        )

    def op(self, name: str) -> str:
        return _listed_name("operation", name, self.ops)

    def check_op(self, op: str, datatype: str) -> None:
        """UserError: the operation is not defined for the data type, which MPI would only find
        later."""
        allowed = dict(self.op_types).get(op, self.reduction_datatypes)
        if datatype not in allowed:
            raise UserError(
                f"the operation {op} is not defined for {datatype}; it reduces {', '.join(allowed)}"
            )

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Cards:
        op_types: list[tuple[str, tuple[str, ...]]] = []
        for op, datatypes in fields.get("op_types", {}).items():
            op_types.append((op, tuple(datatypes)))
        return cls(
            benchmarks=tuple(map(Card.from_json, fields["benchmarks"])),
            datatypes=tuple(fields.get("datatypes", ())),
            reduction_datatypes=tuple(fields.get("reduction_datatypes", ())),
            ops=tuple(fields.get("ops", ())),
            op_types=tuple(op_types),
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
    """The first cards, with the benchmarks that only the others have."""
    by_word: dict[str, Card] = {}
    for each in cards:
        for card in each:
            by_word.setdefault(card.word, card)
    return replace(cards[0], benchmarks=tuple(by_word.values()))


def split_at_commas(words: Iterable[str]) -> list[str]:
    """The names in these words, separated by commas or given one by one."""
    names: list[str] = []
    for word in words:
        names += filter(None, word.split(","))
    return names


def _of_suite(suite: str, cards: Iterable[Card]) -> Card | None:
    """The first card of a suite, ignoring case, or None."""
    for card in cards:
        if card.suite.lower() == suite.lower():
            return card
    return None


def _listed_name(what: str, name: str, names: Iterable[str]) -> str:
    listed = list(names)
    for each in listed:
        if each.lower() == name.lower():
            return each
    raise _unknown(what, name, listed)


def _unknown(what: str, name: str, names: Sequence[str]) -> UserError:
    hint = did_you_mean(name, names) or f"; there are {', '.join(names[:_MOST_NAMED])}"
    if len(names) > _MOST_NAMED:
        hint += ", …"
    return UserError(f"there is no {what} '{name}'{hint}")
