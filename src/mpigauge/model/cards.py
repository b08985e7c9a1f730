# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What each benchmark is, as the build of the kernels wrote it down: known without any MPI."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Card:
    suite: str
    name: str
    about: str
    ranks: str
    """pair: two of the job; pairs: an even number; any: from one to all."""
    time: str
    """half_round_trip or call."""
    unit: str
    """transfer, reduction or none: what the message is made of."""
    sync: str
    """each: the ranks meet before each timed call; none: calls follow each other."""
    rooted: bool
    by_default: bool
    columns: str
    """Which of IMB's tables it has: single, parallel, collective, barrier, band."""
    windowed: bool = False
    """Keeps --inflight messages under way."""
    large_counts: bool = False
    needs: tuple[str, ...] = ()
    """MPI calls that not every library has."""

    def fits(self, ranks: int) -> bool:
        """Whether a job of so many ranks can run it."""
        return ranks >= (2 if self.ranks in ("pair", "pairs") else 1)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Card:
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        return cls(**known | {"needs": tuple(fields.get("needs", ()))})


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
        return [card.name for card in self.benchmarks]

    def default(self) -> list[Card]:
        return [card for card in self.benchmarks if card.by_default]

    def get(self, name: str) -> Card | None:
        """The card of this name in any spelling of capitals, or None."""
        return next((c for c in self.benchmarks if c.name.lower() == name.lower()), None)

    def find(self, name: str) -> Card:
        """The card of this name in any spelling of capitals."""
        return self.get(name) or _unknown("benchmark", name, self.names())

    def chosen(self, names: Iterable[str]) -> list[Card]:
        """The cards of these words; commas separate names too, and twice named is run once."""
        cards = [self.find(name) for word in names for name in word.split(",") if name]
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
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} does not hold the cards of the benchmarks: {error}") from None


def _known(what: str, name: str, names: Iterable[str]) -> str:
    listed = list(names)
    found = next((each for each in listed if each.lower() == name.lower()), None)
    return found if found is not None else _unknown(what, name, listed)


def _unknown(what: str, name: str, names: Sequence[str]) -> Any:
    hint = did_you_mean(name, names) or f"; known are {', '.join(names)}"
    raise UserError(f"there is no {what} '{name}'{hint}")
