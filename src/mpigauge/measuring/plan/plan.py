# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of all launches, stored with the run and sufficient to resume it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan.arms.foreign import Foreign
from mpigauge.measuring.plan.general import PlanFields
from mpigauge.model.grouping import distinct
from mpigauge.model.hosts import HostRanks
from mpigauge.model.secrets import masked_json
from mpigauge.model.sizes import default_sizes
from mpigauge.result.stats.launches import DEFAULT_MOST

if TYPE_CHECKING:
    from mpigauge.model.replayed import Replayed

LEAST_LAUNCHES = 6
"""The fewest launches that give a 95 % interval."""
_SEED_STEP = 0x9E3779B97F4A7C15
_SEED_MASK = (1 << 63) - 1


@dataclass(frozen=True)
class PlanPart:
    """Benchmarks that share a job: its ranks, their cores, the sizes."""

    benchmarks: tuple[str, ...]
    world_ranks: int
    ranks: tuple[int, ...] = ()
    """Sizes of groups; empty: 2, 4, … all, as in IMB."""
    sizes: tuple[int, ...] | None = None
    """Message sizes in bytes; None: 0, 1, 2, 4, … 4 MiB."""
    pairs: str = ""
    """The pairs of ranks that measure at the same time: all, each, ring or 0-1,2-3;0-2; empty:
    groups do."""
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Policies that pairs of ranks stand for, by the two ranks: "0,2" for l3."""
    placement: str = ""
    """The policy that `blocks` came from; empty: the user named none."""
    blocks: tuple[HostRanks, ...] = ()
    """This machine or the hosts, each with its ranks and their cores."""
    arm: str = ""
    """The values that a sweep varies here, as name=value; empty: nothing, or the default."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Settings of this part alone, besides those of the plan."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables of this part alone, which override those of the plan."""
    arms: tuple[tuple[str, Mapping[str, str]], ...] = field(default=(), hash=False)
    """Arms that share its launches: their names, and control variables to be set."""
    suite_options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Options that only some benchmarks use, of this part alone, in the kernels' words."""
    left_out: tuple[tuple[str, str, str], ...] = ()
    """Benchmarks that are not measured in a kind of memory, with the reasons."""
    foreign: Foreign | None = None
    """A program of the user instead of benchmarks."""
    share: int = 0
    """Its share of a time budget; 0: in proportion to its cells."""
    in_turn: bool = False
    """True if ranks alternate between hosts; else the hosts are filled one after the other."""
    timeout_s: float = 0.0
    """The seconds for which its launches may be silent; 0: those of the plan."""

    @property
    def extra_columns(self) -> dict[str, str]:
        """Columns of its cells that kernels do not know."""
        return {"placement": self.placement, "arm": self.arm}

    @property
    def largest_group(self) -> int:
        return max(self.ranks, default=self.world_ranks)

    @property
    def hosts(self) -> tuple[HostRanks, ...]:
        """The hosts of its ranks; empty: this machine."""
        return tuple(block for block in self.blocks if block.host)

    @property
    def bind(self) -> tuple[str, ...]:
        """The cores of local rank 0, 1, … of this machine; other hosts get their own."""
        for block in self.blocks:
            if not block.host:
                return block.bind
        return ()

    @property
    def weight(self) -> int:
        """The approximate number of cells, which is its share of a time budget."""
        if self.share:
            return self.share
        if self.foreign:
            return 1
        sizes = default_sizes() if self.sizes is None else self.sizes
        many = max(1, len(self.ranks), len(self.places)) * max(1, len(self.arms))
        for words in self.suite_options.values():
            many *= words.count(",") + 1
        return len(self.benchmarks) * len(sizes) * many


@dataclass(frozen=True)
class Plan(PlanFields):
    parts: tuple[PlanPart, ...]
    """The parts, launched in turn: each round has a launch of every part."""
    mpi: str
    """The argument of --mpi that selects the MPI again."""
    seed: int
    mode: str = "adaptive"
    seconds: float | None = None
    """Wall time for everything; None: until the precision is reached."""
    use_all: bool = False
    """True if all of the time is to be used, on the cells with the widest interval."""
    cache_bytes: int = 64 << 20
    insist: tuple[str, ...] = ()
    """Benchmarks that are refused if they have no fresh data; others stay static."""
    start_s: float = 0.0
    """The seconds for which a launch may be silent before its first record; at least the
    timeout."""
    suite_options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Options that only some benchmarks use, in the kernels' words."""
    shuffle: bool = False
    """True if each round has its parts in another order."""
    strict: bool = False
    """True if the time limit is strict: parts are in order of importance, and the last are left out
    if no time is left."""
    fail_fast: bool = False
    """True if the run ends with the first launch that fails."""
    replay: Replayed | None = None
    """The program that the benchmark Replay replays; None: none."""

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks of all parts, each once."""
        names: dict[str, None] = {}
        for part in self.parts:
            names |= dict.fromkeys(part.benchmarks)
        return tuple(names)

    @property
    def world_ranks(self) -> int:
        return max(part.world_ranks for part in self.parts)

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts with ranks in any part, as the user named them; empty: this machine."""
        blocks = [block for part in self.parts for block in part.hosts]
        return tuple(distinct(blocks, lambda block: block.host))

    @property
    def least_rounds(self) -> int:
        """Launches of each part that are always made."""
        return self.launches or LEAST_LAUNCHES

    @property
    def most_rounds(self) -> int:
        """The most launches of each part, if the widest interval stays too wide and the time
        lasts."""
        return self.launches or DEFAULT_MOST

    @property
    def ends_early(self) -> bool:
        """True if launches end when more of them would hardly make anything precise. A given time
        is used up, and each launch improves the comparison of what is varied."""
        return self.seconds is None and not any(part.arm or part.arms for part in self.parts)

    def part(self, launch: int) -> PlanPart:
        return self.parts[self.part_number(launch)]

    def part_number(self, launch: int) -> int:
        """The index of the part of this launch, which is reproducible."""
        order = list(range(len(self.parts)))
        if self.shuffle:
            random.Random(self.seed_of(self.round(launch))).shuffle(order)
        return order[launch % len(order)]

    def round(self, launch: int) -> int:
        return launch // len(self.parts)

    def seed_of(self, launch: int) -> int:
        """The seed of a launch, which is reproducible; seeds are far apart."""
        return (self.seed + launch * _SEED_STEP) & _SEED_MASK

    def to_json(self) -> dict[str, Any]:
        """The plan as it is stored: without values that look secret."""
        data: dict[str, Any] = masked_json(asdict(self))
        return data | {"benchmarks": self.benchmarks}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        values: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            if name in data:
                value = data[name]
                values[name] = tuple(value) if isinstance(value, list) else value
        values["parts"] = tuple(_part(each) for each in data["parts"])
        values |= _memory(data)
        values["suite_options"] = _suite_options(data)
        values["replay"] = _replayed(data.get("replay"))
        return cls(**values)


@dataclass(frozen=True)
class LaunchPlan:
    """One start of the MPI job."""

    number: int
    part: PlanPart
    seed: int
    seconds: float = 0.0
    """Measuring time; 0: limited only by each cell's own."""
    cell_seconds: float = 0.0
    """The longest time of one cell, besides its first call; 0: no limit."""
    use_all: bool = False
    stop_file: str = ""
    bound_by: str = "kernel"
    detours: str = ""
    """Noise that an earlier launch sampled, in the kernels' words; empty: this launch samples."""
    by_clock: tuple[str, ...] | None = None
    """The cells that start by the clock according to an earlier launch, for `sync` auto across
    hosts; None: it does not exist."""


def _replayed(data: Mapping[str, Any] | None) -> Replayed | None:
    if data is None:
        return None
    from mpigauge.model.replayed import Replayed

    return Replayed.from_json(data)


def _part(data: Mapping[str, Any]) -> PlanPart:
    sizes, foreign = data.get("sizes"), data.get("foreign")
    blocks = [_block(each) for each in data.get("blocks") or ()]
    arms = [(str(name), dict(values)) for name, values in data.get("arms") or ()]
    return PlanPart(
        benchmarks=tuple(data["benchmarks"]),
        world_ranks=int(data["world_ranks"]),
        ranks=tuple(data.get("ranks") or ()),
        sizes=None if sizes is None else tuple(sizes),
        blocks=tuple(blocks),
        pairs=str(data.get("pairs") or ""),
        places=dict(data.get("places") or {}),
        arm=str(data.get("arm") or ""),
        foreign=Foreign.from_json(foreign) if foreign else None,
        settings=dict(data.get("settings") or {}),
        env=dict(data.get("env") or {}),
        suite_options=_suite_options(data),
        share=int(data.get("share") or 0),
        arms=tuple(arms),
        left_out=tuple((str(n), str(m), str(why)) for n, m, why in data.get("left_out") or ()),
        in_turn=bool(data.get("in_turn")),
        timeout_s=float(data.get("timeout_s") or 0.0),
        placement=str(data.get("placement") or ""),
    )


def _memory(data: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds of memory and the limit; older plans store the limit as memory."""
    stored = data.get("memory", ())
    if isinstance(stored, int):
        return {"memory": (), "memory_limit": stored}
    return {"memory": tuple(map(str, stored)), "memory_limit": int(data.get("memory_limit") or 0)}


def _suite_options(data: Mapping[str, Any]) -> dict[str, str]:
    """The suite options; older plans store them as heeded."""
    return dict(data.get("suite_options") or data.get("heeded") or {})


def _block(data: Mapping[str, Any]) -> HostRanks:
    lists = {name: tuple(data.get(name) or ()) for name in ("bind", "gpus")}
    return HostRanks(**{**data, **lists})
