# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command line of the kernels for one launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from mpigauge.measuring.plan.general import PlanFields
from mpigauge.measuring.plan.plan import LaunchPlan, Plan, PlanPart
from mpigauge.model.option_table import GENERAL, KERNEL_OPTIONS


def kernel_words(plan: Plan, launch: LaunchPlan) -> tuple[str, ...]:
    """The words of the command line, in the order of the kernels' options, without empty ones."""
    part = launch.part
    values: dict[str, object] = {
        **_general(plan),
        "benchmarks": _list(part.benchmarks),
        "ranks": _list(part.ranks),
        "pairs": part.pairs,
        "arms": "|".join(_arm(*arm) for arm in part.arms),
        "sizes": _list(part.sizes or ()),
        "mode": plan.mode,
        "seconds": f"{launch.seconds:.3f}",
        "cell-seconds": f"{launch.cell_seconds:.3f}",
        "use-all": int(launch.use_all),
        "seed": launch.seed,
        "launch": launch.number,
        "cache-bytes": plan.cache_bytes,
        "by-clock": _by_clock(launch),
        "detours": launch.detours,
        **plan.suite_options,
        **part.suite_options,
        "insist": _list(name for name in part.benchmarks if name in plan.insist),
        "bind": _bound_by_kernel(plan, part),
        "memory-limit": plan.memory_limit or None,
        "leave-out": "|".join(map(_left_out, part.left_out)),
        "gpus": _list(_gpus_here(part)),
        "stop-file": launch.stop_file,
        "records": "-",
    }
    places = {name: place for place, name in enumerate(KERNEL_OPTIONS)}
    words = []
    for name in sorted(values, key=lambda name: places.get(name, len(places))):
        value = values[name]
        if value is not None and value != "":
            words += [f"--{name}", str(value)]
    return tuple(words)


def _general(plan: Plan) -> dict[str, object]:
    """The options of all benchmarks that the kernels get as the plan keeps them."""
    kept = {each.name for each in fields(PlanFields)}
    rows = [row for row in GENERAL if row.name in KERNEL_OPTIONS and row.key in kept]
    return {row.name: _word(row.form, getattr(plan, row.key)) for row in rows}


def _word(form: str, value: object) -> object:
    if isinstance(value, (tuple, list)):
        return ("x" if form == "rank_grid" else ",").join(map(str, value))
    if isinstance(value, bool):
        return int(value)
    return f"{value:g}" if isinstance(value, float) else value


def _by_clock(launch: LaunchPlan) -> str:
    """Cells that start by the clock, or `none`; empty: not determined yet."""
    if launch.by_clock is None:
        return ""
    return _list(launch.by_clock) or "none"


def _bound_by_kernel(plan: Plan, part: PlanPart) -> str:
    """The cores of this machine's ranks, if the kernels bind them; hosts have their own."""
    if plan.bound_by != "kernel":
        return ""
    return _list(part.bind)


def _gpus_here(part: PlanPart) -> tuple[str, ...]:
    """The GPUs of this machine's ranks; hosts have their own."""
    return next((block.gpus for block in part.blocks if not block.host), ())


def host_words(bind: Iterable[str], gpus: Iterable[str]) -> tuple[str, ...]:
    """Additional words for the ranks of one host."""
    words: tuple[str, ...] = ()
    if bind:
        words += ("--bind", _list(bind))
    if gpus:
        words += ("--gpus", _list(gpus))
    return words


def _left_out(entry: tuple[str, str, str]) -> str:
    """A benchmark, a memory and a reason, which has no mark of this list."""
    name, memory, reason = entry
    return f"{name}~{memory}~{reason.replace('|', '/').replace('~', '-')}"


def _arm(name: str, values: Mapping[str, str]) -> str:
    written = [f"{key}={value}" for key, value in values.items()]
    return f"{name}~{';'.join(written)}"


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
