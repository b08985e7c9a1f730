# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Suspects, and the evidence on each in flows that are not explained yet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.result.fabric.rank_sum import (
    from_others,
    lower_tail,
    lower_tail_in_blocks,
    median_by_block,
    middle_of,
)
from mpigauge.result.stats.order import MAD, OF_MEDIAN
from mpigauge.result.stats.peers import LEAST_PEERS

if TYPE_CHECKING:
    from mpigauge.result.fabric.accusation import Flows, Kind
    from mpigauge.result.fabric.rank_sum import Floats, Ints, Mask

LEAST_RATIO = 1.1
"""Less than 10 % slower beside others is not worth an accusation: networks share unevenly."""
LEAST_SEEN = 3
"""The fewest rounds by which a suspect is judged."""
_APART = 3.0
"""Robust deviations between suspects of a kind that are no fault."""
_MOST_OF = 0.75
_RARE = 0.001
_SMALL = 0.05
"""The share of all flows up to which those of a suspect may be among its peers."""


@dataclass(frozen=True)
class Suspect:
    """A set of flows that one fault explains."""

    kind: Kind
    hosts: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    permutation: int = -1

    @property
    def is_of_groups(self) -> bool:
        return self.kind in ("groups", "uplink", "crossing", "switch")


@dataclass(frozen=True)
class Grouping:
    names: tuple[str, ...]
    of_hosts: Ints
    """The place of the group of each host."""

    def members(self, group: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.of_hosts == group).tolist())

    def suspects(self) -> Iterator[Suspect]:
        """Suspects about groups. A group of one host is that host; two groups have one link."""
        groups = range(len(self.names))
        for pair in combinations(groups, 2):
            yield Suspect("groups", groups=pair)
        several = [group for group in groups if len(self.members(group)) > 1]
        if len(groups) > 1:
            for group in several:
                yield Suspect("switch", groups=(group,))
        if len(groups) > 2:
            for group in several:
                yield Suspect("uplink", groups=(group,))
            yield Suspect("crossing")

    def covers(self, suspect: Suspect, first: Ints, second: Ints) -> Mask:
        """True for each pair of hosts that a suspect is about."""
        one, two, of = first, second, suspect.hosts
        if suspect.is_of_groups:
            one, two, of = self.of_hosts[first], self.of_hosts[second], suspect.groups
        inside: Mask = one != two
        if len(of) == 2:
            inside = ((one == of[0]) & (two == of[1])) | ((one == of[1]) & (two == of[0]))
        elif len(of) == 1:
            touching = (one == of[0]) | (two == of[0])
            inside = touching & inside if suspect.kind == "uplink" else touching
        return inside


class Blocks(NamedTuple):
    """Values of a set beside others of their blocks: flows of one round, or whole rounds."""

    log: Floats
    block: Ints
    inside: Mask
    """True for the values of the set."""


@dataclass(frozen=True)
class Evidence:
    """The flows of a suspect, beside others of their rounds."""

    deviations: Floats
    """The logarithm of each bandwidth less the median of the others of its round."""
    rounds: Ints
    """The round of each."""
    peers: Floats
    """The deviations of others, in order; empty: a flow has a single other one."""
    own: Floats
    """The part of `peers` that is the suspect's own, in order."""
    blocks: Blocks | None = None
    """All that is compared, if ranks are those within a block."""

    @cached_property
    def by_round(self) -> Floats:
        """The mean deviation in each round."""
        return self._means(self.deviations)

    @cached_property
    def middle(self) -> float:
        return middle_of(self.by_round)

    @cached_property
    def error(self) -> float:
        """The standard error of the middle."""
        away = middle_of(np.abs(self.by_round - self.middle))
        return float(OF_MEDIAN * MAD * away / math.sqrt(len(self.by_round)))

    @property
    def gain(self) -> float:
        """The distance to the others that a correction of its flows by their median removes."""
        middle = middle_of(self.deviations)
        return float(np.abs(self.deviations).sum() - np.abs(self.deviations - middle).sum())

    def p(self, allowed: float) -> float:
        """The probability of ranks as low by chance if its flows are slower by `allowed`."""
        if self.blocks:
            log, block, inside = self.blocks
            return lower_tail_in_blocks(log + allowed * inside, block, inside)
        moved = self.deviations + allowed
        below = self._below(self.peers, moved) - self._below(self.own, moved)
        others = len(self.peers) - len(self.own)
        ranks = self._means((below + 1.0) / (others + 1))
        return lower_tail(ranks, math.sqrt(1 + len(moved) / max(others, 1)))

    @staticmethod
    def _below(ordered: Floats, values: Floats) -> Ints:
        return np.searchsorted(ordered, values, "right").astype(np.intp)

    def _means(self, values: Floats) -> Floats:
        counts = np.bincount(self._at)
        if len(counts) == len(values):
            return values
        means: Floats = np.bincount(self._at, values) / counts
        return means

    @cached_property
    def _at(self) -> Ints:
        return numbers_of(self.rounds)


class Verdict(NamedTuple):
    suspect: Suspect
    evidence: Evidence
    p: float
    """The p-value, corrected for the number of suspects."""


@dataclass(frozen=True)
class Case:
    """The flows that no fault explains so far."""

    flows: Flows
    grouping: Grouping
    stratum: Ints
    """A number for each flow: flows of one round and one stratum are compared."""
    accused: frozenset[Suspect] = frozenset()

    @cached_property
    def log(self) -> Floats:
        return np.log(self.flows.bandwidth)

    @cached_property
    def block(self) -> Ints:
        """A number for each flow, from 0 on, that it shares with those it is compared with."""
        both = self.flows.round * (int(self.stratum.max(initial=0)) + 1) + self.stratum
        return numbers_of(both)

    @cached_property
    def others(self) -> Ints:
        """The number of flows beside each in its block."""
        return np.bincount(self.block)[self.block] - 1

    @cached_property
    def deviations(self) -> Floats:
        return from_others(self.log, self.block)

    @cached_property
    def pair(self) -> Ints:
        """A number for each flow that all flows of its two hosts share."""
        low: Ints = np.minimum(self.flows.first, self.flows.second)
        return low * len(self.grouping.of_hosts) + np.maximum(self.flows.first, self.flows.second)

    @cached_property
    def permutation(self) -> Ints:
        """The first round with the same pairs, for each flow."""
        order = np.lexsort((self.pair, self.flows.round))
        rounds, starts = np.unique(self.flows.round[order], return_index=True)
        firsts: dict[bytes, int] = {}
        same = []
        for number, pairs in zip(rounds, np.split(self.pair[order], starts[1:]), strict=True):
            same.append(firsts.setdefault(pairs.tobytes(), int(number)))
        first: Ints = np.asarray(same, dtype=np.intp)[np.searchsorted(rounds, self.flows.round)]
        return first

    @cached_property
    def _is_repeated(self) -> Mask:
        """True for each flow whose permutation came often enough to be judged."""
        rounds, firsts = np.unique(self.flows.round, return_index=True)
        times = np.bincount(self.permutation[firsts], minlength=int(rounds.max(initial=0)) + 1)
        often: Mask = times[self.permutation] >= LEAST_SEEN
        return often

    def verdicts(self, miss: float) -> tuple[list[Verdict], int]:
        """The significant suspects, and the number of all that were judged."""
        judged: list[tuple[Suspect, Evidence]] = []
        for suspect, flows in self._suspects():
            evidence = self._evidence(suspect, flows)
            if evidence is not None and suspect not in self.accused:
                judged.append((suspect, evidence))
        allowed = _allowed(judged)
        verdicts = []
        for suspect, evidence in judged:
            if -evidence.middle > allowed[suspect.kind]:
                p = self._p(suspect, evidence, allowed[suspect.kind]) * len(judged)
                if p <= miss:
                    verdicts.append(Verdict(suspect, evidence, p))
        return verdicts, len(judged)

    def cleared_of(self, suspect: Suspect) -> Case:
        """The case without this suspect: flows of a host or pair are left out, those of groups are
        compared with each other only."""
        flows = self.flows
        inside = self.grouping.covers(suspect, flows.first, flows.second)
        accused = self.accused | {suspect}
        if suspect.is_of_groups:
            return replace(self, accused=accused, stratum=numbers_of(2 * self.stratum + inside))
        if suspect.kind == "collision":
            inside &= self.permutation == suspect.permutation
        return replace(
            self, flows=flows.only(~inside), stratum=self.stratum[~inside], accused=accused
        )

    def _suspects(self) -> Iterator[tuple[Suspect, Ints]]:
        """All suspects with the places of their flows."""
        first, second = self.flows.first, self.flows.second
        places = np.arange(len(first))
        for host, flows in by_value(np.concatenate((first, second)), np.tile(places, 2)):
            yield Suspect("host", (host,)), flows
        count = len(self.grouping.of_hosts)
        for pair, flows in by_value(self.pair, places):
            hosts = divmod(pair, count)
            yield Suspect("pair", hosts), flows
            if self._is_repeated[flows].any():
                permutations = by_value(self.permutation[flows], flows)
                for permutation, its in permutations if len(permutations) > 1 else ():
                    yield Suspect("collision", hosts, permutation=permutation), its
        for suspect in self.grouping.suspects():
            yield suspect, np.flatnonzero(self.grouping.covers(suspect, first, second))

    def _evidence(self, suspect: Suspect, flows: Ints) -> Evidence | None:
        """The evidence on a suspect; None: there is too little to judge it."""
        if len(flows) < LEAST_SEEN:
            return None
        if len(flows) <= _SMALL * len(self.log):
            return self._of_few(flows)
        inside = np.zeros(len(self.log), dtype=bool)
        inside[flows] = True
        if suspect.is_of_groups:
            return self._of_groups(inside)
        return _beside(self.log, self.flows.round, self.block, inside)

    def _of_few(self, flows: Ints) -> Evidence | None:
        """The evidence on few of all flows, whose peers have these among them."""
        kept = flows[self.others[flows] >= 2]
        if not _is_enough(self.flows.round[kept]):
            return None
        deviations = self.deviations[kept]
        return Evidence(deviations, self.flows.round[kept], self._ordered, np.sort(deviations))

    @cached_property
    def _ordered(self) -> Floats:
        return np.sort(self.deviations[self.others >= 2])

    def _of_groups(self, inside: Mask) -> Evidence | None:
        """The evidence on a suspect of groups: its flows beside the others of their rounds, and
        rounds with its flows alone beside rounds without any. Drift between such rounds counts as
        noise."""
        _, first = np.unique(self.block, return_index=True)
        share = np.bincount(self.block, inside) / np.bincount(self.block)
        pure = (share == 0) | (share == 1)
        logs = median_by_block(self.log, self.block, len(first))[pure]
        rounds, stratum = self.flows.round[first][pure], self.stratum[first][pure]
        are_inside = share[pure] == 1
        evidence = _beside(self.log, self.flows.round, self.block, inside)
        evidence = evidence or _beside(logs, rounds, stratum, are_inside)
        blocks = Blocks(
            np.concatenate((self.log, logs)),
            np.concatenate((self.block, len(first) + stratum)),
            np.concatenate((inside, are_inside)),
        )
        return evidence and replace(evidence, blocks=blocks)

    def _p(self, suspect: Suspect, evidence: Evidence, allowed: float) -> float:
        """The p-value. A slow switch needs flows within its group that are slow, and others out of
        it; most of each, as one slow host is in up to two thirds of those within."""
        if len(suspect.hosts) == 2 and not self._is_beyond_its_hosts(suspect, evidence):
            return 1.0
        if suspect.kind != "switch":
            return evidence.p(allowed)
        one, two = (self.grouping.of_hosts[at] for at in (self.flows.first, self.flows.second))
        touching = (one == suspect.groups[0]) | (two == suspect.groups[0])
        ps = []
        for part in (touching & (one == two), touching & (one != two)):
            kept = part | ~touching
            rounds, block = self.flows.round[kept], self.block[kept]
            block = numbers_of(block)
            of_part = _beside(self.log[kept], rounds, block, part[kept])
            if of_part is None or np.quantile(of_part.deviations, _MOST_OF) > -allowed:
                return 1.0
            ps.append(
                lower_tail_in_blocks(self.log[kept] + allowed * part[kept], block, part[kept])
            )
        return max(ps)

    def _is_beyond_its_hosts(self, suspect: Suspect, evidence: Evidence) -> bool:
        """True if flows of a pair are slower than others of its two hosts. A host that is often
        slow, though not as a rule, is so by chance in all flows to some partner."""
        if not len(evidence.peers):
            return True
        inside = self.grouping.covers(suspect, self.flows.first, self.flows.second)
        for host in suspect.hosts:
            own = (self.flows.first == host) | (self.flows.second == host)
            peers = np.sort(self.deviations[own & ~inside & (self.others >= 2)])
            its = replace(evidence, peers=peers, own=np.empty(0))
            if len(peers) and its.p(0.0) > _RARE:
                return False
        return True


def numbers_of(values: Ints) -> Ints:
    """The place of each value among all that are different."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def by_value(values: Ints, places: Ints) -> list[tuple[int, Ints]]:
    """The places of each value, in the order of values."""
    order = np.argsort(values, kind="stable")
    names, starts = np.unique(values[order], return_index=True)
    return list(zip(names.tolist(), np.split(places[order], starts[1:]), strict=True))


def _beside(log: Floats, rounds: Ints, block: Ints, inside: Mask) -> Evidence | None:
    """The evidence on the flows inside a set, whose peers are all others; None: too little."""
    if not inside.any():
        return None
    blocks = int(block.max()) + 1
    others = np.bincount(block[~inside], minlength=blocks)
    least = 2 if np.median(others[block[inside]]) >= 2 else 1
    kept = inside & (others[block] >= least)
    if not _is_enough(rounds[kept]):
        return None
    middles = median_by_block(log[~inside], block[~inside], blocks)
    deviations = log[kept] - middles[block[kept]]
    if least == 1:
        compared = Blocks(log, block, inside)
        return Evidence(deviations, rounds[kept], np.empty(0), np.empty(0), compared)
    peers = from_others(log[~inside], block[~inside])[others[block[~inside]] >= 2]
    return Evidence(deviations, rounds[kept], np.sort(peers), np.empty(0))


def _is_enough(rounds: Ints) -> bool:
    return len(np.unique(rounds)) >= LEAST_SEEN


def _allowed(judged: list[tuple[Suspect, Evidence]]) -> Mapping[Kind, float]:
    """The deviation of each kind that is no fault: LEAST_RATIO, or more if suspects of the kind
    differ by more than noise."""
    by_kind: dict[Kind, list[Evidence]] = {}
    for suspect, evidence in judged:
        by_kind.setdefault(suspect.kind, []).append(evidence)
    allowed: dict[Kind, float] = {}
    for kind, evidence_of in by_kind.items():
        allowed[kind] = max(math.log(LEAST_RATIO), _APART * _scatter(evidence_of))
    return allowed


def _scatter(of: list[Evidence]) -> float:
    """The robust deviation of middles beyond their errors; 0 of few. Beside a single other flow, a
    fault of that one moves the middle, too."""
    of = [evidence for evidence in of if len(evidence.peers)]
    if len(of) < LEAST_PEERS:
        return 0.0
    middles = np.array([evidence.middle for evidence in of])
    apart = MAD * np.median(np.abs(middles - np.median(middles)))
    error = np.median([evidence.error for evidence in of])
    return math.sqrt(max(apart**2 - error**2, 0.0))
