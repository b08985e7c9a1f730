# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The header of a stored run without values of a wrong kind, and with placements in our words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.model.former_names import present_word
from mpigauge.model.placement_words import of_policy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeGuard


_NUMBERS = {
    "cpu_quota", "memory_limit_bytes", "memory_total_bytes", "memory_available_bytes",
    "steal_ratio",
}  # fmt: skip
"""Keys of a machine in the passport with numeric values."""


_TOPOLOGY = {
    "pus", "caches", "numa", "distances", "devices", "allowed", "allowed_numa", "left_out",
}  # fmt: skip
"""Topology keys of a machine in the passport, which are kept all together or not at all."""


_TABLES = ("mpi", "transport", "imported", "between", "tuned")
"""Keys of run.json with objects as values."""


_DICTS_OF_PLAN = ("settings", "env", "suite_options", "heeded")


def is_plan(data: object) -> TypeGuard[Mapping[str, Any]]:
    """True if the data has the structure of a plan, as far as showing a run needs it."""
    if not isinstance(data, dict):
        return False
    parts = data.get("parts") or []
    return (
        _are(data.get("benchmarks") or [], str)
        and (data.get("map") is None or _is_pair(data["map"]))
        and isinstance(data.get("precision") or 0.0, (int, float))
        and all(isinstance(data.get(name) or {}, dict) for name in _DICTS_OF_PLAN)
        and isinstance(parts, (list, tuple))
        and all(map(_is_part, parts))
    )


def _is_pair(data: object) -> bool:
    return isinstance(data, (list, tuple)) and len(data) == 2 and _are(data, int)


def _is_part(data: object) -> bool:
    if not isinstance(data, dict) or "sizes" not in data:
        return False
    names, sizes = data.get("benchmarks"), data["sizes"] or []
    return _are(names, str) and _are(sizes, int)


def _are(values: object, kind: type) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(each, kind) for each in values)


def with_numbers(passport: Mapping[str, Any]) -> Mapping[str, Any]:
    """The passport without values of the machine that should be numbers and are not."""
    machine = passport.get("machine")
    if not isinstance(machine, dict):
        return {name: value for name, value in passport.items() if name != "machine"}
    facts = {
        name: value
        for name, value in machine.items()
        if name not in _NUMBERS or value is None or isinstance(value, (int, float))
    }
    if "pus" in facts and not _has_topology(facts):
        facts = {name: value for name, value in facts.items() if name not in _TOPOLOGY}
    return {**passport, "machine": facts}


def _has_topology(machine: Mapping[str, Any]) -> bool:
    from mpigauge.site.topology.stored import stored

    try:
        stored(machine)
    except (KeyError, TypeError):
        return False
    return True


def with_tables(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """The header without values that should be objects and are not."""
    return {
        name: value
        for name, value in header.items()
        if name not in _TABLES or value is None or isinstance(value, dict)
    }


def in_our_words(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the header with benchmarks and placements of its plan in our words, like those of its
    rows."""
    plan = header.get("plan")
    if not is_plan(plan):
        return header
    parts = [_part_in_our_words(part) for part in plan.get("parts") or ()]
    return {**header, "plan": {**plan, **({"parts": parts} if parts else {})}}


def _part_in_our_words(part: Mapping[str, Any]) -> Mapping[str, Any]:
    changed: dict[str, Any] = {}
    benchmarks = part.get("benchmarks")
    if isinstance(benchmarks, list):
        changed["benchmarks"] = [present_word(str(name)) for name in benchmarks]
    placement, places = part.get("placement"), part.get("places")
    if isinstance(placement, str):
        changed["placement"] = of_policy(placement)
    if isinstance(places, dict):
        changed["places"] = {ranks: of_policy(str(name)) for ranks, name in places.items()}
    return {**part, **changed}
