# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of policies, each defined in a file of policies/, and the placements they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement, Seat
from mpigauge.model.placement_words import POLICIES as SYNONYMS
from mpigauge.model.placement_words import of_policy
from mpigauge.model.registry import Registry
from mpigauge.model.units import many
from mpigauge.site.placement import policies as folder
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.policy_request import PolicyRequest

Give = Callable[[PolicyRequest], Sequence[Seat]]
Expand = Callable[[PolicyRequest], Sequence[str]]


@dataclass(frozen=True)
class Policy:
    name: str
    about: str
    argument: str
    """The form of the text after the colon; empty: none is allowed."""
    give: Give | None
    """Returns the seats."""
    expand: Expand | None = None
    """Returns the other policies that this one stands for."""
    optional: bool = False
    """True if the argument may be omitted."""
    reads: bool = False
    """True if the argument is the path of a file, which is read before placement."""


POLICIES = Registry[Policy]("placement", folder.__name__, "--place")


def policy(
    name: str, about: str, argument: str = "", optional: bool = False, reads: bool = False
) -> Callable[[Give], Give]:
    """Registers a function from a request to seats as the policy of this name."""

    def add(function: Give) -> Give:
        POLICIES.add(name, Policy(name, about, argument, function, None, optional, reads))
        return function

    return add


def several(name: str, about: str) -> Callable[[Expand], Expand]:
    """Registers a function that returns several policies, as users write them."""

    def add(function: Expand) -> Expand:
        POLICIES.add(name, Policy(name, about, "", None, function))
        return function

    return add


def place(
    text: str,
    hosts: Sequence[HostResources],
    usual: int,
    ranks: int | None = None,
    files: Mapping[str, str] | None = None,
) -> tuple[Placement, ...]:
    """Returns the placements of a policy on these hosts: one, or several for `all`.

    `ranks` is the requested number; `usual` is the default of policies without a number of their
    own; `files` has the contents of the files that policies name. UserError: there is no such
    policy, or this machine does not support it.
    """
    name, argument = _split(text)
    request = PolicyRequest(text, argument, tuple(hosts), usual, ranks, files or {})
    entry = POLICIES[name]
    if entry.expand is not None:
        result: list[Placement] = []
        for word in entry.expand(request):
            result.extend(place(word, hosts, usual, ranks, files))
        return tuple(result)
    assert entry.give is not None
    seats = tuple(entry.give(request))
    _check(request, seats)
    return (Placement(of_policy(text), seats),)


def words(text: str) -> tuple[str, ...]:
    """Splits a list of policies at its commas, except at those within an argument, as in cores:0,1.

    UserError: a policy is unknown, or lacks its argument.
    """
    policies: list[str] = []
    for piece in text.split(","):
        begins = _name(piece) in POLICIES
        if policies and ":" in policies[-1] and not begins:
            policies[-1] += f",{piece}"
        else:
            policies.append(piece.strip())
    for word in policies:
        _split(word)
    return tuple(map(of_policy, policies))


def files_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the paths of the files in these lists of policies. UserError: as in `words`."""
    split = (_split(word) for text in texts for word in words(text))
    return tuple(dict.fromkeys(argument for name, argument in split if POLICIES[name].reads))


def _name(text: str) -> str:
    name = text.partition(":")[0].strip().lower()
    return SYNONYMS.get(name, name)


def _split(text: str) -> tuple[str, str]:
    name, argument = _name(text), text.partition(":")[2].strip()
    entry = POLICIES.find(name)
    form = entry.argument
    if argument and not form:
        raise UserError(f"--place {text}: {name} is {entry.about}; nothing may follow it")
    if form and not argument and not entry.optional:
        raise UserError(f"--place {text}: {name} is {entry.about}; write {name}:{form}")
    return name, argument


def _check(request: PolicyRequest, seats: Sequence[Seat]) -> None:
    """Raises a UserError unless there are as many ranks as requested, each on usable PUs."""
    if request.ranks is not None and len(seats) != request.ranks:
        raise request.refuse(
            f"it names cores for {many(len(seats), 'rank')}, the job has {request.ranks}; "
            "leave --np away, or take a placement for as many"
        )
    for seat in seats:
        host = request.host(seat.host)
        outside = seat.pus - host.topology.allowed
        if outside:
            raise request.refuse(host.outside(min(outside)))
