# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The rules and settings of a tuning as values, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mpigauge.model.row import Estimate
from mpigauge.model.rules import Rule


@dataclass(frozen=True)
class Fault:
    """A candidate that must not be used."""

    collective: str
    ranks: int
    candidate: str
    """The name of the candidate; empty: the default itself."""
    why: str
    proof: str = ""
    """The command that reproduces it; in tunings before 2026-11-27, a program in the folder."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fault:
        own = dict(data)
        return cls(proof=str(own.pop("program", "")), **own) if "program" in own else cls(**own)


@dataclass(frozen=True)
class Evidence:
    """A ratio of times to the default's, with its 95 % interval and its number of launches."""

    value: float
    low: float
    high: float
    launches: int

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.low, self.high)


@dataclass(frozen=True)
class TunedRule:
    rule: Rule
    chosen: Evidence
    """Evidence from the launches by which it was chosen."""
    confirmed: Evidence | None = None
    """Evidence from launches with the files, independent of the choice; None: there were none yet.
    """
    stands_in: bool = False
    """True if it only replaces the default, which the rules of this MPI cannot name."""

    def to_json(self) -> dict[str, Any]:
        sure = asdict(self.confirmed) if self.confirmed else None
        return {**self.rule.to_json(), "chosen": asdict(self.chosen), "confirmed": sure} | (
            {"stands_in": True} if self.stands_in else {}
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TunedRule:
        """KeyError, TypeError or ValueError: the data is not a tuned rule."""
        sure = data["confirmed"]
        return cls(
            rule=Rule.from_json(data),
            chosen=Evidence(**data["chosen"]),
            confirmed=Evidence(**sure) if sure else None,
            stands_in=bool(data.get("stands_in")),
        )


@dataclass(frozen=True)
class DefaultStays:
    """A collective for which the default stays, and the reason."""

    collective: str
    ranks: int
    why: str


@dataclass(frozen=True)
class Rescued:
    """Settings that make a collective far faster among ranks that share cores."""

    collective: str
    ranks: int
    settings: Mapping[str, str] = field(hash=False)
    """The settings that all these candidates have in common."""
    message_bytes: int
    usual: float
    """The largest ratio, among the candidates, of the median time to the default's."""
    in_launches: int
    """The least number of launches in which a candidate took at most a tenth of the default's time.
    """
    candidates: int
    launches: int


@dataclass(frozen=True)
class Beyond:
    """Sizes at which an algorithm of suite ALG is faster than the library with its rules."""

    collective: str
    ranks: int
    first_bytes: int
    last_bytes: int
    algorithm: str
    """The word of its benchmark."""
    ratio: Evidence
    """The ratio of its time to the library's."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Beyond:
        """KeyError, TypeError or ValueError: the data is not such sizes."""
        return cls(**{**data, "ratio": Evidence(**data["ratio"])})


@dataclass(frozen=True)
class SlowerMessages:
    """Messages that take longer with settings that help others."""

    benchmark: str
    ranks: int
    first_bytes: int
    last_bytes: int
    ratio: Evidence


@dataclass(frozen=True)
class TunedMessages:
    """Settings for point-to-point messages, which have one value for all sizes."""

    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Settings that are significantly faster; empty: the default stays."""
    why: str = ""
    """The reason why the default stays; empty: it does not."""
    chosen: Evidence | None = None
    """Evidence from the launches by which they were chosen, over all messages with their weights.
    """
    confirmed: Evidence | None = None
    """Evidence from launches that did not choose them."""
    measured_by: tuple[str, ...] = ()
    """The benchmarks that measured the messages."""
    tried: int = 0
    """The number of measured combinations of settings."""
    failed: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Combinations that could not be measured or delivered wrong data, with the reason."""
    slower: tuple[SlowerMessages, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TunedMessages:
        """KeyError, TypeError or ValueError: the data is not tuned messages."""
        chosen, sure = data["chosen"], data["confirmed"]
        return cls(
            settings={str(name): str(value) for name, value in data["settings"].items()},
            why=str(data["why"]),
            chosen=Evidence(**chosen) if chosen else None,
            confirmed=Evidence(**sure) if sure else None,
            measured_by=tuple(map(str, data["measured_by"])),
            tried=int(data["tried"]),
            failed={str(point): str(why) for point, why in data["failed"].items()},
            slower=tuple(
                SlowerMessages(**{**each, "ratio": Evidence(**each["ratio"])})
                for each in data["slower"]
            ),
        )
