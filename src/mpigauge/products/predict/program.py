# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The time that a profiled program would spend in MPI on other numbers of nodes.

The time of each kind of call in the profile is multiplied by the ratio of its predicted times on
the ranks to come and on those of the profile. So what ranks wait for each other grows with the
call. Collectives come from the step model, messages from the tables of paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count, dotted, duration, many, percent
from mpigauge.model.width import as_blocks, broken
from mpigauge.products.predict.libraries import has_rules
from mpigauge.products.predict.model import Machine
from mpigauge.products.predict.prediction import PING_PONG, assumed_of, predict
from mpigauge.products.predict.show import assumed_lines, contention, in_columns, trust_lines
from mpigauge.schedules import OPERATIONS

if TYPE_CHECKING:
    from mpigauge.model.call_mix import CallMix, MixedCall
    from mpigauge.products.predict.model import Cost

STRONG, WEAK = "strong", "weak"
SHRINKING = {"Allgather": 1.0, "Gather": 1.0, "Scatter": 1.0, "Reduce_scatter": 1.0,
             "Alltoall": 2.0, PING_PONG: 2 / 3}  # fmt: skip
"""The power of the ratio of ranks that a message shrinks like with strong scaling: the block of a
rank with its share of the data, that of two ranks with both shares, a message to a neighbour with
the surface of the share, in three dimensions. Other collectives keep their size."""
_SAME = {"Allgatherv": "Allgather", "Gatherv": "Gather", "Scatterv": "Scatter",
         "Alltoallv": "Alltoall", "Reduce_scatter_block": "Reduce_scatter",
         "Sendrecv": PING_PONG}  # fmt: skip


@dataclass(frozen=True)
class ScaledCall:
    call: MixedCall
    message_bytes: int
    """The size on the ranks to come."""
    before_s: float
    """The time of a rank, in the profile."""
    after_s: float
    algorithm: str
    used: frozenset[str]


@dataclass(frozen=True)
class ScaledProgram:
    profile: str
    scaling: str
    before: Machine
    after: Machine
    library: str
    calls: tuple[ScaledCall, ...]
    left_out: tuple[tuple[str, float], ...]
    """Calls that are not predicted, with their shares of the time in MPI."""
    mpi_s: float
    """The time of a rank, in the profile."""
    run_s: float

    @property
    def before_s(self) -> float:
        return sum(each.before_s for each in self.calls)

    @property
    def after_s(self) -> float:
        return sum(each.after_s for each in self.calls)


def scaled(
    mix: CallMix, hosts: Sequence[str], machine: Machine, scaling: str, library: str
) -> ScaledProgram:
    """`hosts`: that of each rank of the profile. UserError: nothing of it can be predicted."""
    ranks = len(hosts)
    nodes = len(Counter(hosts))
    before = replace(machine, nodes=nodes, ppn=max(ranks // nodes, 1), network=None)
    calls, left_out = [], []
    for call in mix.every:
        name = _SAME.get(call.benchmark, call.benchmark)
        if why := _reason_against(call, name, before, ranks):
            left_out.append((why, call.seconds / mix.mpi_s))
        else:
            calls.append(_scaled(call, name, before, machine, scaling, library))
    if not calls:
        reasons = "; ".join(why for why, _ in left_out) or "no call takes 1 % of its time in MPI"
        raise UserError(f"{mix.profile}: nothing can be predicted: {reasons}")
    rest = 1 - sum(each.seconds for each in mix.every) / mix.mpi_s
    left_out.append(("calls of other kinds, or of less than 1 % each", max(rest, 0.0)))
    return ScaledProgram(
        mix.profile, scaling, before, machine, library, tuple(calls), tuple(left_out),
        mix.mpi_s / ranks, mix.run_s,
    )  # fmt: skip


def _reason_against(call: MixedCall, name: str, before: Machine, ranks: int) -> str:
    """The reason why a call is left out; empty: it is predicted."""
    if name not in OPERATIONS and name != PING_PONG:
        return f"{call.benchmark}, of which there is no schedule"
    if name == PING_PONG:
        return ""
    if call.ranks != ranks:
        return (
            f"{call.benchmark} on {call.ranks} of {many(ranks, 'rank')}, whose places are not known"
        )
    if before.ranks != ranks:
        return f"{call.benchmark}: its {ranks} ranks are not spread evenly over nodes"
    return ""


def _scaled(
    call: MixedCall, name: str, before: Machine, after: Machine, scaling: str, library: str
) -> ScaledCall:
    size = call.message_bytes
    if scaling == STRONG:
        ratio = before.ranks / after.ranks
        size = max(round(size * ratio ** SHRINKING.get(name, 0.0)), 1)
    old, _ = _cost(before, name, call.message_bytes, library)
    new, algorithm = _cost(after, name, size, library)
    seconds = call.seconds / before.ranks
    times = new.seconds[0] / old.seconds[0]
    return ScaledCall(call, size, seconds, seconds * times, algorithm, old.used | new.used)


def _cost(machine: Machine, name: str, size: int, library: str) -> tuple[Cost, str]:
    (at,) = predict(machine, name, (size,), library if has_rules(library, name) else "").sizes
    chosen = at.chosen or at.timed[0]
    return chosen.cost, chosen.algorithm


# --- how it looks -----------------------------------------------------------------------------
def program_page(of: ScaledProgram) -> str:
    lines = [["call", "bytes", "then", "ms before", "ms after", "algorithm"]]
    for each in of.calls:
        lines.append(
            [each.call.benchmark, byte_count(each.call.message_bytes),
             byte_count(each.message_bytes), f"{each.before_s * 1e3:.4g}",
             f"{each.after_s * 1e3:.4g}", each.algorithm]
        )  # fmt: skip
    rows = in_columns(lines, range(1, 5))
    left = [f"left out: {why} ({percent(share)} of the time in MPI)" for why, share in of.left_out]
    return as_blocks([broken(_head(of)), rows, broken(left), broken(_trust(of))])


def _head(of: ScaledProgram) -> list[str]:
    before, after = of.before, of.after
    start = f"{many(before.ranks, 'rank')} on {many(before.nodes, 'node')}"
    end = f"{many(after.ranks, 'rank')} on {many(after.nodes, 'node')}"
    what = f"the choice of {of.library}" if of.library else "the best algorithm"
    times = (
        f"of {duration(of.mpi_s)} of a rank in MPI these calls take {duration(of.before_s)}, and "
        f"would take {duration(of.after_s)}: {of.after_s / of.before_s:.3g} times as long"
    )
    scaling = f"{of.scaling} scaling from {start} to {end}"
    return [
        dotted(of.profile, scaling, "predicted, not measured"),
        times,
        f"{what}; {contention(after)}",
    ]


def _trust(of: ScaledProgram) -> list[str]:
    names = dict.fromkeys(_SAME.get(each.call.benchmark, each.call.benchmark) for each in of.calls)
    lines = [line for name in names for line in trust_lines(of.after.calibration, name)]
    used = frozenset().union(*(each.used for each in of.calls))
    return [*lines, *assumed_lines(assumed_of(of.after.calibration, used))]


def program_json(of: ScaledProgram) -> dict[str, Any]:
    return {
        "profile": of.profile, "scaling": of.scaling, "ranks_before": of.before.ranks,
        "ranks_after": of.after.ranks, "nodes_before": of.before.nodes,
        "nodes_after": of.after.nodes, "mpi_s": of.mpi_s, "before_s": of.before_s,
        "after_s": of.after_s,
        "calls": [
            {"benchmark": each.call.benchmark, "message_bytes": each.call.message_bytes,
             "message_bytes_after": each.message_bytes, "before_s": each.before_s,
             "after_s": each.after_s, "algorithm": each.algorithm,
             "assumed": list(assumed_of(of.after.calibration, each.used))}
            for each in of.calls
        ],
        "left_out": [{"reason": why, "share": share} for why, share in of.left_out],
        "validated": [vars(each) for each in of.after.calibration.validations],
    }  # fmt: skip
