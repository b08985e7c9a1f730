# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Translates the mapping and binding options of launchers to our placement policies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.site.launch.lines.grammar import LineDraft

LEVELS = {
    "node": "node",
    "package": "socket",
    "socket": "socket",
    "numa": "numa",
    "l3cache": "l3",
    "l3": "l3",
    "l2cache": "l2",
    "l2": "l2",
    "core": "core",
}
"""Our names of levels, by theirs."""
FREE = ("none", "no", "off")
A_CORE_EACH = ("core", "cores", "hwthread", "hwthreads", "thread", "threads", "rank")
"""Bindings that match our default: each rank has a core of its own."""
SHARE = "OVERSUBSCRIBE"
_MAPPED = {"core": "compact", "package": "scatter", "socket": "scatter"}
_CORES = re.compile(r"[\d,+-]+")


def per_object(draft: LineDraft, option: str, count: str, level: str) -> None:
    """Places a number of ranks on each object of a level. `option`: as typed, for messages."""
    policy_level = LEVELS.get(level.lower())
    if policy_level is None or not count.isdecimal():
        draft.leave(option)
    elif policy_level == "node":
        draft.ppn = draft.count(option, count)
    else:
        draft.place = f"ppr:{count}:{policy_level}"


def cores(draft: LineDraft, option: str, text: str) -> None:
    """Places the ranks of a host on these cores, one each."""
    if _CORES.fullmatch(text):
        draft.place = f"cores:{text}"
    else:
        draft.leave(option)


def bound(draft: LineDraft, option: str, target: str) -> None:
    """Evaluates the binding of ranks, whatever their placement."""
    kind = target.lower().partition(":")[0]
    if kind in FREE:
        draft.unbound = True
    elif kind not in A_CORE_EACH:
        draft.leave(option)


def mapped(draft: LineDraft, option: str, target: str) -> None:
    """Evaluates the objects over which ranks are mapped in turn."""
    kind = target.lower()
    if kind == "node":
        draft.in_turn = True
    elif kind in _MAPPED:
        draft.place = _MAPPED[kind]
    elif kind != "slot":
        draft.leave(option)


def settle(draft: LineDraft) -> None:
    """Removes the placement on hosts if ranks are not bound."""
    if draft.unbound:
        draft.place = ""


def pinned(sets: Mapping[str, str]) -> str:
    """Returns our policy for Intel MPI's variables for pinning; empty: no counterpart."""
    cores_of = sets.get("I_MPI_PIN_PROCESSOR_LIST", "")
    return f"cores:{cores_of}" if cores_of and _CORES.fullmatch(cores_of) else ""
