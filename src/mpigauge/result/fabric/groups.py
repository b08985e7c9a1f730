# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Groups of hosts: those of a switch, a rack or a cell. Every host of a job is in one group.

`read_groups` reads them from a file, which is Slurm's topology.conf or a line for each group:

    SwitchName=leaf1 Nodes=n[01-18]          a switch of Slurm's tree that names nodes is a group,
    SwitchName=spine Switches=leaf[1-2]      one that names switches is not
    BlockName=block1 Nodes=n[01-18]          a block of Slurm is a group
    rack 1: n01,n[03-18]                     a file of ours

Slurm's file describes the whole cluster, so nodes outside of the job are left out. In a file of
ours such a host is refused. Names are compared with and without their domains.

`measured_groups` finds groups from the distances between hosts. The same distances always give
the same groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.errors import UserError, did_you_mean, nearest_or_all
from mpigauge.model.hostfile import short_name
from mpigauge.model.hostlist import compress, parse_hosts
from mpigauge.model.inputs import read_text

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Labels = npt.NDArray[np.intp]

OPTION = "--groups"
MEASURED = "measured"
"""The word of the option for groups that are found from measured distances."""
RIGHT = "a line is a group and its hosts, such as 'rack1: a,b[01-04]'"
APART = 1.25
"""The least ratio of the distance between groups to that within them."""
_CLOSER = 0.2
"""The least mean silhouette of groups (P. J. Rousseeuw, J. Comput. Appl. Math. 20 (1987) 53)."""
_MOST_LONE = 0.25
_SLURM = re.compile(r"\s*(?:SwitchName|BlockName|BlockSizes)\s*=", re.IGNORECASE)
_KEYS = ("SwitchName", "BlockName", "Nodes", "Switches", "LinkSpeed", "BlockSizes")
_NAMES = ("switchname", "blockname")


@dataclass(frozen=True)
class Group:
    name: str
    hosts: tuple[int, ...]
    """The places of its hosts in the list of the job's hosts."""


def read_groups(path: Path, hosts: Sequence[str]) -> tuple[Group, ...]:
    """The groups of a file. UserError: it is no such file, groups overlap, or a host of the job is
    in none."""
    if not path.exists():
        raise UserError(
            f"{OPTION}: there is no file {path}; name Slurm's topology.conf, a file whose lines "
            f"are such as 'rack1: a,b[01-04]', or the word {MEASURED}"
        )
    return parse_groups(read_text(path, f"{OPTION}: "), str(path), hosts)


def parse_groups(text: str, source: str, hosts: Sequence[str]) -> tuple[Group, ...]:
    """The groups of a text in the order of its lines; `source` is what errors call it."""
    lines = list(_lines(text, source))
    is_slurm = any(_SLURM.match(line.text) for line in lines)
    groups = _Groups(_Job(tuple(hosts)), source, is_slurm)
    for line in _of_slurm(lines) if is_slurm else map(_of_ours, lines):
        groups.add(line)
    return groups.whole()


def group_of_hosts(groups: Sequence[Group]) -> tuple[int, ...]:
    """The place of the group of each host."""
    places = {host: place for place, group in enumerate(groups) for host in group.hosts}
    return tuple(places[host] for host in range(len(places)))


class _Line(NamedTuple):
    text: str
    place: str
    """The place of the line, for errors."""


class _GroupLine(NamedTuple):
    name: str
    hosts: str
    place: str


def _lines(text: str, source: str) -> Iterator[_Line]:
    """The lines without comments; one that ends with a backslash goes on in the next."""
    begun, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        first = first or number
        begun += line.partition("#")[0].rstrip()
        if begun.endswith("\\"):
            begun = begun[:-1] + " "
            continue
        if begun.strip():
            yield _Line(begun.strip(), f"{OPTION}: {source}, line {first}")
        begun, first = "", 0
    if begun.strip():
        yield _Line(begun.strip(), f"{OPTION}: {source}, line {first}")


def _of_ours(line: _Line) -> _GroupLine:
    name, colon, hosts = (word.strip() for word in line.text.partition(":"))
    if not (name and colon and hosts):
        raise UserError(f"{line.place}: '{line.text}' is not a group with its hosts; {RIGHT}")
    return _GroupLine(name, hosts, line.place)


def _of_slurm(lines: Sequence[_Line]) -> Iterator[_GroupLine]:
    """The switches and blocks that name nodes. UserError: a line is not from topology.conf, or it
    names a switch that has no line."""
    named: dict[str, str] = {}
    children: list[tuple[str, str]] = []
    for line in lines:
        words = _words(line)
        names = [words[key] for key in _NAMES if key in words]
        if not names and "blocksizes" not in words:
            raise UserError(f"{line.place}: there is no SwitchName= or BlockName= in '{line.text}'")
        for name in names:
            if name in named:
                raise UserError(f"{line.place}: {name} has a line already ({_line(named[name])})")
            named[name] = line.place
            children += _children(words.get("switches", ""), line.place)
            if "nodes" in words:
                yield _GroupLine(name, words["nodes"], line.place)
            elif "switches" not in words:
                raise UserError(f"{line.place}: {name} has no Nodes= and no Switches=")
    for child, place in children:
        if child not in named:
            raise UserError(f"{place}: there is no switch '{child}'{nearest_or_all(child, named)}")


def _words(line: _Line) -> dict[str, str]:
    """The values of a line of Slurm by their keys in small letters."""
    words: dict[str, str] = {}
    for word in re.sub(r"\s*=\s*", "=", line.text).split():
        key, equals, value = word.partition("=")
        if not equals or key.lower() not in map(str.lower, _KEYS):
            raise UserError(
                f"{line.place}: '{word}' is no word of topology.conf{nearest_or_all(key, _KEYS)}"
            )
        if not value or key.lower() in words:
            raise UserError(f"{line.place}: {key} needs one value")
        words[key.lower()] = value
    return words


def _children(switches: str, place: str) -> Iterator[tuple[str, str]]:
    if switches:
        for switch in parse_hosts(switches, f"{place}, {switches}", tuple):
            yield switch.name, place


def _line(place: str) -> str:
    return place.rpartition(", ")[2]


@dataclass(frozen=True)
class _Job:
    hosts: tuple[str, ...]

    def place(self, name: str) -> int | None:
        """The place of a host; None: it is not in the job."""
        if name in self.hosts:
            return self.hosts.index(name)
        alike = [at for at, host in enumerate(self.hosts) if _is_same(host, name)]
        if len(alike) == 1:
            return alike[0]
        return None


def _is_same(host: str, name: str) -> bool:
    """True if one of two names is the other without its domain."""
    return name in (host, short_name(host)) or host == short_name(name)


@dataclass
class _Groups:
    """The groups of the lines so far."""

    job: _Job
    source: str
    is_slurm: bool
    groups: dict[str, list[int]] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    """The place of the line of each group."""
    names: dict[int, str] = field(default_factory=dict)
    """The group of each host."""

    def add(self, line: _GroupLine) -> None:
        if line.name in self.groups:
            raise UserError(
                f"{line.place}: group {line.name} has a line already "
                f"({_line(self.lines[line.name])}); write all of its hosts in one"
            )
        self.groups[line.name], self.lines[line.name] = [], line.place
        for host in parse_hosts(line.hosts, f"{line.place}, {line.hosts}", tuple):
            if host.slots is not None:
                raise UserError(
                    f"{line.place}: {host.name}:{host.slots} has a number of ranks; {RIGHT}"
                )
            self._add(host.name, line)

    def _add(self, name: str, line: _GroupLine) -> None:
        place = self.job.place(name)
        if place is None:
            self._check_outside(name, line.place)
            return
        if (other := self.names.get(place)) is not None:
            where = f"in {other} ({_line(self.lines[other])}) and in"
            if other == line.name:
                where = "twice in"
            raise UserError(
                f"{line.place}: host {name} is {where} {line.name}; name it once, in one group"
            )
        self.names[place] = line.name
        self.groups[line.name].append(place)

    def _check_outside(self, name: str, place: str) -> None:
        if not self.is_slurm:
            hosts = self.job.hosts
            hint = did_you_mean(name, hosts) or f"; its hosts are {compress(hosts)}"
            raise UserError(f"{place}: host {name} is not in this job{hint}")

    def whole(self) -> tuple[Group, ...]:
        """The groups with hosts of the job. UserError: a host is in none."""
        missing = [host for at, host in enumerate(self.job.hosts) if at not in self.names]
        if missing:
            names = compress(missing)
            kind = "no switch or block of it has" if self.is_slurm else "no group has"
            right = f"SwitchName=NAME Nodes={names}" if self.is_slurm else f"NAME: {names}"
            raise UserError(
                f"{OPTION}: {self.source}: {kind} {names}; write a line such as '{right}'"
            )
        return tuple(Group(name, tuple(hosts)) for name, hosts in self.groups.items() if hosts)


def measured_groups(distances: Array) -> tuple[Group, ...]:
    """The groups of hosts that are close to each other; one group if no hosts are closer than
    others by more than chance.

    `distances`: a square matrix, such as of latencies, or of inverse bandwidths; NaN: not
    measured. Hosts are joined in the order of their mean distances (average linkage). Of all
    numbers of groups, the one with the largest mean silhouette holds, if groups are APART. A host
    that is far from all is no group, but just slow; it goes to the group that is nearest.
    """
    import numpy as np

    between = _whole(np.asarray(distances, dtype=float))
    best, most = np.zeros(len(between), dtype=int), _CLOSER
    for linked in _linked(between):
        labels = _without_lone(between, linked)
        if labels is None:
            continue
        own, other = _means(between, labels)
        width = float(np.mean((other - own) / np.maximum(own, other)))
        if width > most and (own < other).all() and np.median(other / own) >= APART:
            best, most = labels, width
    return tuple(_numbered(best.tolist()))


def _whole(distances: Array) -> Array:
    """The distances, alike in both directions. One that was not measured is that of the best way
    by one other host, as far as its longer part: hosts that are near to the same one are near."""
    import numpy as np

    both = np.where(np.isnan(distances), distances.T, distances)
    both = (both + np.where(np.isnan(distances.T), both, distances.T)) / 2
    away = ~np.eye(len(both), dtype=bool)
    measured = both[away & ~np.isnan(both)]
    lengths = np.where(np.isnan(both) | ~away, np.inf, both)
    for host in np.flatnonzero(np.isnan(both).any(axis=1)):
        lost = np.isnan(both[host])
        both[host, lost] = np.maximum(lengths[host], lengths[lost]).min(axis=1)
    both[np.isinf(both)] = np.median(measured) if measured.size else 1.0
    np.fill_diagonal(both, 0.0)
    return both


def _linked(distances: Array) -> Iterator[Labels]:
    """The label of each host after each joining, down to two groups; a label is that of the first
    host of its group."""
    import numpy as np

    apart = distances.copy()
    np.fill_diagonal(apart, np.inf)
    sizes, labels = np.ones(len(apart)), np.arange(len(apart))
    for _ in range(len(apart) - 2):
        first, second = divmod(int(np.argmin(apart)), len(apart))
        whole = sizes[first] + sizes[second]
        joined = (sizes[first] * apart[first] + sizes[second] * apart[second]) / whole
        apart[first], apart[:, first] = joined, joined
        apart[second], apart[:, second], apart[first, first] = np.inf, np.inf, np.inf
        sizes[first] = whole
        labels[labels == second] = first
        yield labels.copy()


def _without_lone(distances: Array, labels: Labels) -> Labels | None:
    """The labels, in which hosts alone have the label of the nearest group; None: there are fewer
    than two groups, or many hosts are alone."""
    import numpy as np

    names, at, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    lone, real = np.flatnonzero(sizes[at] == 1), np.flatnonzero(sizes > 1)
    if len(real) < 2 or len(lone) > _MOST_LONE * len(labels):
        return None
    labels = labels.copy()
    means = np.stack([distances[lone][:, at == each].mean(axis=1) for each in real])
    labels[lone] = names[real[means.argmin(axis=0)]]
    return labels


def _means(distances: Array, labels: Labels) -> tuple[Array, Array]:
    """The mean distance of each host to the others of its group and to the nearest other group."""
    import numpy as np

    _, at = np.unique(labels, return_inverse=True)
    member = np.eye(at.max() + 1)[at]
    sizes, sums = member.sum(axis=0), distances @ member
    rows = np.arange(len(at))
    own = sums[rows, at] / (sizes[at] - 1)
    others = sums / sizes
    others[rows, at] = np.inf
    return own, others.min(axis=1)


def _numbered(labels: list[int]) -> Iterator[Group]:
    for number, label in enumerate(dict.fromkeys(labels), 1):
        hosts = tuple(host for host, each in enumerate(labels) if each == label)
        yield Group(f"group {number}", hosts)
