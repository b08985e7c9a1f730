# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A file with the place of each rank, in the syntax of Open MPI's rankfiles.

    rank 0=node01 slot=4          logical core 4, with all its hardware threads
    rank 1=+n1 slot=1:0-2         the second host; logical cores 0 to 2 of its logical socket 1
    rank 2=node01 slot=0:*        all cores of a socket
    rank 3=node01 slot=1:0,2      logical cores 0 and 2 of socket 1; `;` ends the cores of a socket
    rank 4=node01 slot=p7         CPU 7 as the system numbers it, one hardware thread

Logical numbers count in the order of the tree, as hwloc's do; only cores that may be used count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.errors import did_you_mean
from mpigauge.model.hostfile import AS_USER, without_comments
from mpigauge.model.placement import Seat
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy

_LINE = re.compile(r"rank\s+(\d{1,9})\s*=\s*(\S+)\s+slots?\s*=\s*(\S+)")
_PART = re.compile(r"(?:(\d{1,9}):)?(\*|\d{1,9}(?:-\d{1,9})?)")
_FORM = "write lines such as: rank 0=HOST slot=4, or slot=1:0-2 for cores 0 to 2 of socket 1"


@policy("rankfile", "a rankfile of Open MPI", argument="FILE", reads=True)
def rankfile(request: PolicyRequest) -> list[Seat]:
    seats: dict[int, Seat] = {}
    for number, line in _lines(request):
        match = _LINE.fullmatch(line)
        if not match:
            raise request.refuse(f"line {number} ('{line}') is none of a rankfile; {_FORM}")
        rank, host = int(match[1]), _host(request, number, match[2])
        if rank in seats:
            raise request.refuse(f"line {number} names rank {rank} again; each rank has one line")
        seats[rank] = Seat(host.name, _pus(request, number, host, match[3]))
    missing = next((rank for rank in range(max(len(seats), 1)) if rank not in seats), None)
    if missing is not None:
        raise request.refuse(f"rank {missing} is missing; a rankfile names every rank from 0 on")
    return [seats[rank] for rank in sorted(seats)]


def _lines(request: PolicyRequest) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(without_comments(request.files[request.argument]), 1):
        if text := line.strip():
            yield number, text


def _host(request: PolicyRequest, number: int, name: str) -> HostResources:
    """Returns a host by name, or by number: +n0 is the first."""
    names = [host.name for host in request.hosts]
    place = re.fullmatch(r"\+[nN](\d{1,9})", name)
    if place and int(place[1]) < len(names):
        return request.hosts[int(place[1])]
    if name in names:
        return request.host(name)
    if name == "localhost" and len(names) == 1:
        return request.hosts[0]
    if name.startswith(("+e", "+E")):
        raise request.refuse(
            f"line {number}: {name} means hosts without ranks, which are not known beforehand; "
            "name the host, or count it as +n0"
        )
    if "@" in name:
        raise request.refuse(f"line {number}: '{name}': {AS_USER}")
    hint = did_you_mean(name, names) or f"; there is {', '.join(names)}"
    raise request.refuse(f"line {number}: there is no host '{name}'{hint}")


def _pus(request: PolicyRequest, number: int, host: HostResources, text: str) -> frozenset[int]:
    """Returns the PUs of a list such as 4, 0-2,7, 1:0,2 or p7."""
    if text[0] in "pP":
        return _as_numbered(request, number, host, text)
    pus: frozenset[int] = frozenset()
    for group in text.split(";"):
        socket: str | None = None
        for part in group.split(","):
            match = _PART.fullmatch(part)
            if not match:
                raise request.refuse(f"line {number}: '{part}' names no cores; {_FORM}")
            socket = match[1] or socket
            pus |= _logical(request, number, host, (socket, match[2], text))
    return pus


def _logical(
    request: PolicyRequest, number: int, host: HostResources, part: tuple[str | None, str, str]
) -> frozenset[int]:
    """Returns the PUs of one range of cores, of a socket or of the host."""
    socket, numbers, text = part
    cores = _cores(request, number, host, socket)
    first, _, last = numbers.partition("-")
    chosen = range(len(cores)) if first == "*" else range(int(first), int(last or first) + 1)
    if not chosen or chosen[-1] >= len(cores):
        where = f"socket {socket} of {host.name}" if socket else host.name
        raise request.refuse(
            f"line {number}: slot={text} is outside of the {len(cores)} cores of {where} that "
            "may be used"
        )
    return frozenset().union(*(cores[place] for place in chosen))


def _as_numbered(
    request: PolicyRequest, number: int, host: HostResources, text: str
) -> frozenset[int]:
    """Returns the PUs by the operating system's numbers: p7, p0-3,8."""
    if ":" in text:
        raise request.refuse(
            f"line {number}: slot={text}: cores within a socket have no numbers of their own in "
            "the system; write CPUs, such as slot=p7, or logical cores, such as slot=1:0"
        )
    try:
        pus = frozenset(parse_list(re.sub(r"[pP](?=\d)", "", text)))
    except ValueError:
        raise request.refuse(f"line {number}: '{text}' names no CPUs; write slot=p0-3,8") from None
    usable = frozenset().union(*host.levels.usable_groups("core"))
    for pu in sorted(pus - usable):
        raise request.refuse(f"line {number}: {host.outside(pu)}")
    if not pus:
        raise request.refuse(f"line {number}: '{text}' names no CPUs; write slot=p0-3,8")
    return pus


def _cores(
    request: PolicyRequest, number: int, host: HostResources, socket: str | None
) -> list[frozenset[int]]:
    """Returns the PUs of each core of the host, or of one of its sockets."""
    cores = host.levels.usable_groups("core")
    if socket is None:
        return cores
    sockets = host.levels.usable_groups("socket")
    if int(socket) >= len(sockets):
        raise request.refuse(
            f"line {number}: {host.name} has no socket {socket}, it has {len(sockets)}"
        )
    return [core for core in cores if core <= sockets[int(socket)]]
