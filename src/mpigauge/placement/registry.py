# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the policies: every module of policies/ is looked into once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.modules import import_all
from mpigauge.model.placement import Placement, Seat
from mpigauge.model.units import many
from mpigauge.placement import policies as folder
from mpigauge.placement.ask import Ask
from mpigauge.placement.site import Site

Give = Callable[[Ask], Sequence[Seat]]
Expand = Callable[[Ask], Sequence[str]]
ALIASES = {"package": "socket"}


@dataclass(frozen=True)
class Policy:
    name: str
    about: str
    argument: str
    """What stands behind the colon; empty: nothing may."""
    give: Give | None
    """The seats."""
    expand: Expand | None = None
    """Other policies that this one stands for."""
    optional: bool = False
    """Whether the argument may be left out."""


_registered: dict[str, Policy] = {}


def policy(
    name: str, about: str, argument: str = "", optional: bool = False
) -> Callable[[Give], Give]:
    """Makes a function the policy of this name: from what is asked to the seats of ranks."""

    def add(function: Give) -> Give:
        _add(Policy(name, about, argument, function, optional=optional))
        return function

    return add


def several(name: str, about: str) -> Callable[[Expand], Expand]:
    """Makes a function a name for several policies, in their words."""

    def add(function: Expand) -> Expand:
        _add(Policy(name, about, "", None, function))
        return function

    return add


@cache
def policies() -> Mapping[str, Policy]:
    import_all(folder.__name__)
    return MappingProxyType(_registered)


def place(
    text: str, sites: Sequence[Site], usual: int, ranks: int | None = None
) -> tuple[Placement, ...]:
    """The placements that a policy gives on these hosts: one, or several for `all`.

    `ranks` is what was asked for; `usual` what a policy takes that has no number of its own.
    UserError: the policy is not known, or this machine cannot give it.
    """
    name, argument = _split(text)
    ask = Ask(text, argument, tuple(sites), usual, ranks)
    found = policies()[name]
    if found.expand is not None:
        return tuple(
            each for word in found.expand(ask) for each in place(word, sites, usual, ranks)
        )
    assert found.give is not None
    seats = tuple(found.give(ask))
    _check(ask, seats)
    return (Placement(text, seats),)


def words(text: str) -> tuple[str, ...]:
    """The policies in a list with commas; what follows cores:0 and begins with no policy's name
    belongs to it. UserError: one is not known, or lacks its argument."""
    found: list[str] = []
    for piece in text.split(","):
        begins = _name(piece) in policies()
        if found and ":" in found[-1] and not begins:
            found[-1] += f",{piece}"
        else:
            found.append(piece.strip())
    for word in found:
        _split(word)
    return tuple(map(_by_our_names, found))


def _by_our_names(word: str) -> str:
    """So that rows of `package` and of `socket` are known to be of one placement."""
    pieces = word.split(":")
    if pieces[0].strip().lower() not in (*ALIASES, "ppr"):
        return word
    return ":".join(ALIASES.get(piece.strip().lower(), piece) for piece in pieces)


def _name(text: str) -> str:
    name = text.partition(":")[0].strip().lower()
    return ALIASES.get(name, name)


def _split(text: str) -> tuple[str, str]:
    name, argument = _name(text), text.partition(":")[2].strip()
    known = policies()
    if name not in known:
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise UserError(f"--place: there is no placement '{text}'{hint}")
    form = known[name].argument
    if argument and not form:
        raise UserError(f"--place {text}: {name} is {known[name].about}; nothing may follow it")
    if form and not argument and not known[name].optional:
        raise UserError(f"--place {text}: {name} is {known[name].about}; write {name}:{form}")
    return name, argument


def _add(found: Policy) -> None:
    if found.name in _registered:
        raise RuntimeError(f"two placements are named '{found.name}'")
    _registered[found.name] = found


def _check(ask: Ask, seats: Sequence[Seat]) -> None:
    """That there are as many ranks as asked for, and each on PUs that may be used."""
    if ask.ranks is not None and len(seats) != ask.ranks:
        raise ask.refuse(
            f"it names cores for {many(len(seats), 'rank')}, the job has {ask.ranks}; "
            "leave --np away, or take a placement for as many"
        )
    for seat in seats:
        site = ask.site(seat.host)
        outside = seat.pus - site.topology.allowed
        if outside:
            raise ask.refuse(site.outside(min(outside)))
