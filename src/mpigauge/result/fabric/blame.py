# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The hosts, links, groups and permutations that are to blame, because they are slower than others
while all hosts communicate at once.

    flows = Flows.of_rounds([[(0, 5, 9.1e9), (1, 3, 8.8e9), …], …])    hosts by their places
    account = accuse(flows, ("n1", "n2", …), ("leaf1", "leaf1", …), alone={(0, 5): 9.4e9})
    account.accusations    frozen values: kind, hosts, groups, ratio with its interval, confidence

All is a function of values and has no random part (accusation.py has these values).

**Suspects.** A suspect is a set of flows with one explanation: those of a host, of a pair, between
two groups, out of a group (its uplink), between any groups, of all hosts of a group (its switch),
of a pair in one permutation that came several times. A flow is compared with the others of its
round alone, so that a drift between rounds does not count: its deviation is the logarithm of its
bandwidth less the median of theirs.

**Significance.** The test is one of ranks: no form of the noise is assumed, and a few extreme flows
have little weight. The rank of a deviation is its place among those of all flows outside of the
set. Without a fault ranks are uniform, and the distribution of their sum over rounds is computed
exactly. A suspect of groups has many flows in a round. They are ranked within that round, in which
every choice of as many flows is equally likely without a fault. The test is not about "slower", as
hosts of a healthy cluster do differ, but about slower by more than LEAST_RATIO, and by more than
thrice the scatter of suspects of the same kind beyond their noise. P-values are multiplied by the
number of suspects (C. E. Bonferroni). So a run without a fault names anything in at most MISS of
runs.

**Masking.** One fault makes many suspects: a slow host slows all its pairs, a saturated uplink all
hosts behind it. So suspects are accused one at a time. Of the significant ones, the one that
explains most comes first: the flows of a suspect are corrected by their median, and the sum of
their distances from the others falls. A set with flows that are not slow gains less than the slow
ones alone, and so does a part of the slow ones. Then the data are cleared. Flows of a slow host or
pair are left out; flows of slow groups are compared with each other only. The next suspect has to
be significant in the rest. So neither the pairs of a slow host are accused nor the hosts behind a
saturated uplink, but another fault among them is.

**Stalls.** A lost packet delays a short message by a timeout, a long one by little. So bursts of
short messages are judged, too (stalls.py).

**Limits.** Below four hosts no pair has another one beside it, and nothing is judged. A pair, or a
pair in a permutation, is judged by LEAST_SEEN rounds or more; `Account.unclear` has pairs that
stood out in fewer, which are worth more rounds. Four tournaments, in which each pair meets once,
judge all pairs (of four to six hosts: about twenty). Rounds should be in random order. Rounds that
were chosen because they were slow are biased: leave them out, and measure the permutation again.
Where a pair meets in one permutation only, a slow link and routes that collide differ in the
bandwidth alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.row import Estimate
from mpigauge.result.fabric.accusation import (
    ABOUT,
    Account,
    Accusation,
    Flows,
    Kind,
    Tail,
    UnclearPair,
)
from mpigauge.result.fabric.case import (
    LEAST_RATIO,
    LEAST_SEEN,
    Case,
    Evidence,
    Grouping,
    Suspect,
    Verdict,
    by_value,
)
from mpigauge.result.fabric.rank_sum import at_least
from mpigauge.result.fabric.stalls import stalls
from mpigauge.result.stats.order import ENDS, fixed_order, median_interval

if TYPE_CHECKING:
    from mpigauge.result.fabric.rank_sum import Floats, Ints

__all__ = [
    "ABOUT",
    "LEAST_RATIO",
    "LEAST_SEEN",
    "Account",
    "Accusation",
    "Flows",
    "Kind",
    "Tail",
    "UnclearPair",
    "accuse",
]

MISS = 0.02
"""The most runs without a fault in which anything is named."""
_MISS_OF_EACH = MISS / 3
"""The same for slow flows, stalls and tails each."""
LEAST_HOSTS = 4
TAIL = 0.1
"""The share of flows in the slow tail, if they are slower by LEAST_TAIL_RATIO."""
LEAST_TAIL_RATIO = 1.25
LEAST_OFTEN = 2.0
"""Less than twice as often in the tail as others is not worth an accusation."""
_MOST_UNCLEAR = 8
_UNCLEAR = 0.01
"""The share of flows among which a pair stands out."""


def accuse(
    flows: Flows,
    hosts: Sequence[str],
    groups: Sequence[str] = (),
    alone: Mapping[tuple[int, int], float] | None = None,
    bursts: Flows | None = None,
) -> Account:
    """The faults of a measurement.

    `groups`: the name of the group of each host; none: all are in one. `alone`: the bandwidths of
    pairs that communicate alone, by the places of their hosts. `bursts`: flows of short messages,
    with bursts per second as their bandwidths.
    """
    flows = flows.measured
    if len(np.union1d(flows.first, flows.second)) < LEAST_HOSTS:
        why = f"fewer than {LEAST_HOSTS} hosts communicated, too few to be peers of each other"
        return Account(why=why)
    names = tuple(dict.fromkeys(groups)) or ("",)
    of_hosts = [names.index(group) for group in groups] or [0] * len(hosts)
    grouping = Grouping(names, np.asarray(of_hosts, dtype=np.intp))
    court = _Court(tuple(hosts), grouping, _Alone.of(alone or {}))
    case = Case(flows, grouping, np.zeros(len(flows.round), dtype=np.intp))
    return court.account(case, bursts)


@dataclass(frozen=True)
class _Alone:
    """Pairs of hosts that were measured alone."""

    first: Ints
    second: Ints
    bandwidth: Floats

    @classmethod
    def of(cls, alone: Mapping[tuple[int, int], float]) -> _Alone:
        table = np.array([(*pair, value) for pair, value in alone.items()], dtype=float)
        table = table.reshape(-1, 3)
        hosts = table[:, :2].astype(np.intp)
        return cls(hosts[:, 0], hosts[:, 1], table[:, 2])

    def ratio(self, grouping: Grouping, suspect: Suspect) -> float:
        """The median bandwidth of all other pairs relative to that of a suspect's; NaN: not
        measured."""
        inside = grouping.covers(suspect, self.first, self.second)
        if inside.all() or not inside.any():
            return math.nan
        return float(np.median(self.bandwidth[~inside]) / np.median(self.bandwidth[inside]))


@dataclass(frozen=True)
class _Court:
    hosts: tuple[str, ...]
    grouping: Grouping
    alone: _Alone

    def account(self, case: Case, bursts: Flows | None) -> Account:
        accusations: list[Accusation] = []
        verdicts, suspects = case.verdicts(_MISS_OF_EACH)
        while verdicts:
            worst = max(verdicts, key=lambda verdict: verdict.evidence.gain)
            accusations.append(self._accusation(case, worst))
            case = case.cleared_of(worst.suspect)
            verdicts, _ = case.verdicts(_MISS_OF_EACH)
        tails = tuple(self._tails(case))
        of_groups = self._with_switches(tuple(_with_permutations(accusations)))
        stalled = stalls(bursts, self.hosts, accusations, _MISS_OF_EACH) if bursts else ()
        joined = (*of_groups, *stalled, *_often_slow(tails))
        return Account(joined, tails, self._unclear(case), suspects)

    def _accusation(self, case: Case, verdict: Verdict) -> Accusation:
        suspect, alone = verdict.suspect, self.alone.ratio(self.grouping, verdict.suspect)
        kind, permutation = suspect.kind, suspect.permutation
        if kind == "pair" and alone < LEAST_RATIO:
            permutations = self._permutations(case, suspect)
            if len(permutations) == 1:
                kind, permutation = "collision", permutations[0]
        members = [host for group in suspect.groups for host in self.grouping.members(group)]
        return Accusation(
            kind,
            tuple(self.hosts[host] for host in suspect.hosts or members),
            tuple(self.grouping.names[group] for group in suspect.groups),
            _ratio(verdict.evidence),
            1 - verdict.p,
            len(verdict.evidence.by_round),
            alone,
            permutation,
        )

    def _permutations(self, case: Case, suspect: Suspect) -> list[int]:
        inside = self.grouping.covers(suspect, case.flows.first, case.flows.second)
        permutations: list[int] = np.unique(case.permutation[inside]).tolist()
        return permutations

    def _with_switches(self, accusations: Sequence[Accusation]) -> Iterator[Accusation]:
        """The accusations, in which hosts of one group that are slow beside others only are those
        of an unfair switch."""
        hosts_of: dict[str, list[Accusation]] = {}
        for each in accusations:
            if each.kind == "host" and each.alone < LEAST_RATIO and len(self.grouping.names) > 1:
                group = self.grouping.of_hosts[self.hosts.index(each.hosts[0])]
                hosts_of.setdefault(self.grouping.names[group], []).append(each)
        unfair = {group: of for group, of in hosts_of.items() if len(of) > 1}
        joined = [each for of in unfair.values() for each in of]
        for group, of in unfair.items():
            yield _joined("switch", (group,), of)
        yield from (each for each in accusations if each not in joined)

    def _tails(self, case: Case) -> Iterator[Tail]:
        """The part of each host in the slow tail of what is not explained."""
        compared = np.isfinite(case.deviations)
        deviations = case.deviations[compared]
        first, second = case.flows.first[compared], case.flows.second[compared]
        if not len(deviations):
            return
        limit = min(-math.log(LEAST_TAIL_RATIO), float(np.quantile(deviations, TAIL)))
        share = float((deviations < limit).mean())
        for host, name in enumerate(self.hosts):
            own = deviations[(first == host) | (second == host)]
            slower = int((own < limit - math.log(LEAST_RATIO)).sum())
            p = min(at_least(slower, len(own), share) * len(self.hosts), 1.0)
            yield Tail(name, len(own), int((own < limit).sum()), len(own) * share, p)

    def _unclear(self, case: Case) -> tuple[UnclearPair, ...]:
        compared = np.flatnonzero(np.isfinite(case.deviations))
        if not len(compared):
            return ()
        limit = min(-math.log(LEAST_TAIL_RATIO), np.quantile(case.deviations[compared], _UNCLEAR))
        pairs = []
        for pair, flows in by_value(case.pair[compared], compared):
            middle = float(np.median(case.deviations[flows]))
            rounds = len(np.unique(case.flows.round[flows]))
            if rounds < LEAST_SEEN and middle < limit:
                one, two = divmod(pair, len(self.hosts))
                names = self.hosts[one], self.hosts[two]
                pairs.append(UnclearPair(names, math.exp(-middle), rounds))
        return tuple(sorted(pairs, key=lambda each: -each.ratio)[:_MOST_UNCLEAR])


def _ratio(evidence: Evidence) -> Estimate:
    """The factor by which its flows are slower, with its interval over rounds."""
    values = evidence.by_round.tolist()
    low, high = median_interval(values, fixed_order(len(values)))
    return Estimate(math.exp(-evidence.middle), math.exp(-high), math.exp(-low))


def _with_permutations(accusations: Sequence[Accusation]) -> Iterator[Accusation]:
    """The accusations, in which pairs that collide in one permutation are one."""
    colliding: dict[int, list[Accusation]] = {}
    for each in accusations:
        if each.kind == "collision":
            colliding.setdefault(each.permutation, []).append(each)
    for of in colliding.values():
        yield _joined("collision", (), of)
    yield from (each for each in accusations if each.kind != "collision")


def _joined(kind: Kind, groups: tuple[str, ...], of: Sequence[Accusation]) -> Accusation:
    """Several accusations as one, with the interval that holds all, and the least confidence."""
    ratio = Estimate(
        float(np.median([each.ratio.value for each in of])),
        min(each.ratio.low for each in of),
        max(each.ratio.high for each in of),
    )
    return Accusation(
        kind,
        tuple(host for each in of for host in each.hosts),
        groups,
        ratio,
        min(each.confidence for each in of),
        min(each.rounds for each in of),
        float(np.median([each.alone for each in of])),
        of[0].permutation,
    )


def _often_slow(tails: Sequence[Tail]) -> Iterator[Accusation]:
    """The hosts that are in the slow tail more often than chance, the worst first."""
    for tail in sorted(tails, key=lambda tail: tail.p):
        often = tail.slow / tail.expected if tail.expected else 0.0
        if tail.p <= _MISS_OF_EACH and often >= LEAST_OFTEN and tail.slow >= LEAST_SEEN:
            low, high = _interval(tail)
            ratio = Estimate(often, low / tail.expected, high / tail.expected)
            yield Accusation("tail", (tail.host,), (), ratio, 1 - tail.p, tail.flows)


def _interval(tail: Tail) -> tuple[float, float]:
    """The 95 % interval of the number in the tail (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927)
    209)."""
    count, square = tail.flows, ENDS**2
    middle = (tail.slow + square / 2) / (count + square)
    share = tail.slow / count
    half = ENDS * math.sqrt(share * (1 - share) * count + square / 4) / (count + square)
    return (middle - half) * count, (middle + half) * count
