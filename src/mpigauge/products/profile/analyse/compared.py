# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles as the sides of a comparison: the whole program, then each call site.

A call site is the same on both sides if call, function and region are. Several call sites of a
function are distinguished by their callers, else by their order in it, so that lines may move
between builds. If the sides differ in their number they are summed up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mpigauge.model.record import Figure
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.entries import Called
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.result.compare.match.items import Item, items

LEAST = 0.01
"""The least share of the time in MPI; call sites with less on all sides are summed up."""
REST = "all other call sites"
WHOLE = ("run time", "outside MPI", "in MPI")
Key = tuple[str, str, str]
"""The identity of call sites: call, function and region."""


@dataclass(frozen=True)
class SideOfProfile:
    """One run, with a job for each launch."""

    name: str
    jobs: tuple[ProfiledJob, ...]
    accounts: tuple[Account, ...]

    @classmethod
    def of(cls, name: str, jobs: Sequence[ProfiledJob]) -> SideOfProfile:
        return cls(name, tuple(jobs), tuple(map(Account, jobs)))

    @property
    def mpi_s(self) -> float:
        return float(self.accounts[0].mpi_s.sum())


@dataclass(frozen=True)
class ComparedSite:
    """A call site, or several summed up, on each side."""

    label: str
    """The name, such as Allreduce in norm."""
    sites: tuple[tuple[Called, ...], ...]
    """The call sites of each side, in its first launch; none: not called on that side."""

    def calls(self, side: int) -> int:
        return sum(each.calls for each in self.sites[side])

    def share(self, side: SideOfProfile, number: int) -> float:
        """Returns the share of this call site in the time in MPI."""
        seconds = sum(each.total_s for each in self.sites[number])
        if side.mpi_s > 0:
            return seconds / side.mpi_s
        return 0.0

    def mean_s(self, side: SideOfProfile, number: int, launch: int) -> float:
        """Returns the time of a rank in this call site, in seconds, in the mean of a launch."""
        spots = {each.spot for each in self.sites[number]}
        return sum(each.mean_s for each in side.accounts[launch].sites if each.spot in spots)


def compared_sites(sides: Sequence[SideOfProfile]) -> list[ComparedSite]:
    """Returns the call sites of all sides, the one with the largest share first; small ones are
    summed up."""
    large, small = [], []
    for site in _all_sites(sides):
        share = max(site.share(side, number) for number, side in enumerate(sides))
        if share >= LEAST:
            large.append((share, site))
        else:
            small.append(site)
    large.sort(key=lambda each: -each[0])
    sites = [site for _, site in large]
    if small:
        sites.append(_together(REST, small))
    return sites


def _all_sites(sides: Sequence[SideOfProfile]) -> Iterator[ComparedSite]:
    grouped = [_grouped(side.accounts[0]) for side in sides]
    keys: dict[Key, None] = {}
    for groups in grouped:
        keys |= dict.fromkeys(groups)
    for key in keys:
        of_sides = [groups.get(key, []) for groups in grouped]
        yield from _sites(key, of_sides, sides)


def items_of(
    number: int, side: SideOfProfile, sites: Sequence[ComparedSite], program: str
) -> tuple[Item, ...]:
    """Returns the items of a side to compare: times in the mean of ranks. All sides are one
    `program`, whatever its files are called."""
    return items((), _figures(number, side, sites, program))


def _figures(
    number: int, side: SideOfProfile, sites: Sequence[ComparedSite], program: str
) -> Iterator[Figure]:
    for launch, account in enumerate(side.accounts):
        job = side.jobs[launch]
        own = (account.run_s.mean(), account.own_s.mean(), account.mpi_s.mean())
        values = dict(zip(WHOLE, own, strict=True))
        for site in sites:
            if site.sites[number]:
                values[site.label] = site.mean_s(side, number, launch)
        for name, mean_s in values.items():
            value = float(mean_s)
            yield Figure(job.launch, program, name, value, "s", "lower", len(job.ranks))


# --- which call sites are the same ----------------------------------------------------------------
def _grouped(account: Account) -> dict[Key, list[Called]]:
    groups: dict[Key, list[Called]] = {}
    for each in account.inside:
        function = next(iter(account.functions(each.spot)), "")
        groups.setdefault((each.spot.call, function, each.spot.region), []).append(each)
    return groups


def _sites(
    key: Key, of: Sequence[list[Called]], sides: Sequence[SideOfProfile]
) -> Iterator[ComparedSite]:
    """Yields the call sites of a function, one by one if all sides that have any have as many."""
    call, function, region = key
    label = call.removeprefix("MPI_")
    if function:
        label += f" in {function}"
    if region:
        label += f" [{region}]"
    (count, *others) = {len(each) for each in of if each}
    if others:
        yield ComparedSite(f"{label}, all of them", tuple(map(tuple, of)))
    elif count == 1:
        yield ComparedSite(label, tuple(map(tuple, of)))
    else:
        yield from _one_by_one(label, of, sides)


def _one_by_one(
    label: str, of: Sequence[list[Called]], sides: Sequence[SideOfProfile]
) -> Iterator[ComparedSite]:
    by_stack = [_by_stack(side, held) for side, held in zip(sides, of, strict=True)]
    stack_sets = {frozenset(stacks) for stacks in by_stack if stacks}
    apart = all(len(stacks) == len(held) for stacks, held in zip(by_stack, of, strict=True))
    if apart and len(stack_sets) == 1:
        yield from _by_callers(label, by_stack)
    else:
        yield from _by_order(label, of)


def _by_stack(side: SideOfProfile, held: Sequence[Called]) -> dict[tuple[str, ...], Called]:
    """Returns the call sites by their stacks of functions."""
    return {side.accounts[0].functions(called.spot): called for called in held}


def _by_callers(
    label: str, by_stack: Sequence[dict[tuple[str, ...], Called]]
) -> Iterator[ComparedSite]:
    all_stacks = {stack for stacks in by_stack for stack in stacks}
    for stack in sorted(all_stacks):
        caller = _caller(stack, all_stacks)
        of_sides = []
        for stacks in by_stack:
            of_sides.append((stacks[stack],) if stack in stacks else ())
        yield ComparedSite(f"{label} from {caller}", tuple(of_sides))


def _by_order(label: str, of: Sequence[list[Called]]) -> Iterator[ComparedSite]:
    """Yields call sites matched by their order in the code."""
    ordered = [sorted(held, key=_offsets) for held in of]
    for number in range(max(len(held) for held in ordered)):
        of_sides = [tuple(held[number : number + 1]) for held in ordered]
        yield ComparedSite(f"{label}, number {number + 1}", tuple(of_sides))


def _caller(stack: tuple[str, ...], stacks: set[tuple[str, ...]]) -> str:
    """Returns the first caller that differs from other stacks."""
    for level, name in enumerate(stack):
        if any(other[level : level + 1] != (name,) for other in stacks):
            return name
    return "elsewhere"


def _offsets(called: Called) -> tuple[int, ...]:
    """Returns the offsets of frames, which order call sites as in the code."""
    return tuple(frame.offset for frame in called.spot.frames_of_program)


def _together(label: str, sites: Sequence[ComparedSite]) -> ComparedSite:
    of_sides: list[tuple[Called, ...]] = [() for _ in sites[0].sites]
    for site in sites:
        for number, held in enumerate(site.sites):
            of_sides[number] += held
    return ComparedSite(label, tuple(of_sides))
