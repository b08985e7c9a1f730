# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command line of the kernels for one launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mpigauge.measure.plan.plan import LaunchPlan, Plan


def kernel_words(plan: Plan, launch: LaunchPlan) -> tuple[str, ...]:
    """One word each, in the order of this table; what is not wanted is left out."""
    part = launch.part
    table: dict[str, object] = {
        "benchmarks": _list(part.benchmarks),
        "ranks": _list(part.ranks),
        "pairs": part.pairs,
        "arms": "|".join(_arm(*arm) for arm in part.arms),
        "npmin": plan.npmin,
        "multi": plan.multi,
        "map": "x".join(map(str, plan.map)) if plan.map else None,
        "sizes": None if part.sizes is None else _list(part.sizes),
        "mode": plan.mode,
        "precision": f"{plan.precision:g}",
        "seconds": f"{launch.seconds:.3f}",
        "use-all": int(launch.use_all),
        "seed": launch.seed,
        "launch": launch.number,
        "datatype": plan.datatype,
        "op": plan.op,
        "root-shift": int(plan.root_shift),
        "inflight": plan.inflight,
        "cache": plan.cache,
        "cache-bytes": plan.cache_bytes,
        "sync": plan.sync,
        "by-clock": None if launch.by_clock is None else _list(launch.by_clock) or "none",
        **plan.suite_options,
        **part.suite_options,
        "data": plan.data,
        "insist": _list(name for name in part.benchmarks if name in plan.insist),
        "bind": _list(part.bind) if plan.bound_by == "kernel" else "",  # hosts have their own
        "memory": plan.memory,
        "stop-file": launch.stop_file,
        "records": "-",
    }
    said = {name: value for name, value in table.items() if value is not None and value != ""}
    return tuple(word for name, value in said.items() for word in (f"--{name}", str(value)))


def bind_words(bind: Iterable[str]) -> tuple[str, ...]:
    """What the ranks of one host are told beside that."""
    return ("--bind", _list(bind)) if bind else ()


def _arm(name: str, values: Mapping[str, str]) -> str:
    return f"{name}~{';'.join(f'{key}={value}' for key, value in values.items())}"


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
