# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of policies, each defined in a file of policies/, and the placements they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement, Seat
from mpigauge.model.registry import Registry
from mpigauge.model.units import many
from mpigauge.site.placement import policies as folder
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.policy_request import PolicyRequest

Give = Callable[[PolicyRequest], Sequence[Seat]]
Expand = Callable[[PolicyRequest], Sequence[str]]
ALIASES = {"package": "socket", "sockets": "node"}
"""`node` is a host for launchers, so `sockets` is what help calls two sockets of one."""


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
    reads: bool = False
    """Whether the argument is the path of a file, which is read before a placement is made."""


POLICIES = Registry[Policy]("placement", folder.__name__, "--place")


def policy(
    name: str, about: str, argument: str = "", optional: bool = False, reads: bool = False
) -> Callable[[Give], Give]:
    """Makes a function the policy of this name: from what is asked to the seats of ranks."""

    def add(function: Give) -> Give:
        POLICIES.add(name, Policy(name, about, argument, function, None, optional, reads))
        return function

    return add


def several(name: str, about: str) -> Callable[[Expand], Expand]:
    """Makes a function a name for several policies, in their words."""

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
    """The placements that a policy gives on these hosts: one, or several for `all`.

    `ranks` is what was asked for; `usual` what a policy takes that has no number of its own;
    `files` are the texts of the files that policies name.
    UserError: the policy is not known, or this machine cannot give it.
    """
    name, argument = _split(text)
    request = PolicyRequest(text, argument, tuple(hosts), usual, ranks, files or {})
    found = POLICIES[name]
    if found.expand is not None:
        result: list[Placement] = []
        for word in found.expand(request):
            result.extend(place(word, hosts, usual, ranks, files))
        return tuple(result)
    assert found.give is not None
    seats = tuple(found.give(request))
    _check(request, seats)
    return (Placement(text, seats),)


def words(text: str) -> tuple[str, ...]:
    """The policies in a list with commas; what follows cores:0 and begins with no policy's name
    belongs to it. UserError: one is not known, or lacks its argument."""
    found: list[str] = []
    for piece in text.split(","):
        begins = _name(piece) in POLICIES
        if found and ":" in found[-1] and not begins:
            found[-1] += f",{piece}"
        else:
            found.append(piece.strip())
    for word in found:
        _split(word)
    return tuple(map(_by_our_names, found))


def files_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The paths of the files that policies in these words name. UserError: as in `words`."""
    split = (_split(word) for text in texts for word in words(text))
    return tuple(dict.fromkeys(argument for name, argument in split if POLICIES[name].reads))


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
    found = POLICIES.find(name)
    form = found.argument
    if argument and not form:
        raise UserError(f"--place {text}: {name} is {found.about}; nothing may follow it")
    if form and not argument and not found.optional:
        raise UserError(f"--place {text}: {name} is {found.about}; write {name}:{form}")
    return name, argument


def _check(request: PolicyRequest, seats: Sequence[Seat]) -> None:
    """That there are as many ranks as asked for, and each on PUs that may be used."""
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
