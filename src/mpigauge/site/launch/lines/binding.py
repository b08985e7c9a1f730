# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What launchers call places of ranks, in the words of our policies."""

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
"""Ours by theirs."""
FREE = ("none", "no", "off")
A_CORE_EACH = ("core", "cores", "hwthread", "hwthreads", "thread", "threads", "rank")
"""What we do in any case: each rank has a core of its own."""
SHARE = "OVERSUBSCRIBE"
_MAPPED = {"core": "compact", "package": "scatter", "socket": "scatter"}
_CORES = re.compile(r"[\d,+-]+")


def per_object(draft: LineDraft, said: str, count: str, level: str) -> None:
    """So many ranks on each object of a level: `said` is how the line says it."""
    known = LEVELS.get(level.lower())
    if known is None or not count.isdecimal():
        draft.leave(said)
    elif known == "node":
        draft.ppn = draft.count(said, count)
    else:
        draft.place = f"ppr:{count}:{known}"


def cores(draft: LineDraft, said: str, text: str) -> None:
    """A list of cores, one for each rank of a host."""
    if _CORES.fullmatch(text):
        draft.place = f"cores:{text}"
    else:
        draft.leave(said)


def bound(draft: LineDraft, said: str, target: str) -> None:
    """What ranks are bound to, whatever their places."""
    wanted = target.lower().partition(":")[0]
    if wanted in FREE:
        draft.unbound = True
    elif wanted not in A_CORE_EACH:
        draft.leave(said)


def mapped(draft: LineDraft, said: str, target: str) -> None:
    """Over what ranks go in turn."""
    wanted = target.lower()
    if wanted == "node":
        draft.in_turn = True
    elif wanted in _MAPPED:
        draft.place = _MAPPED[wanted]
    elif wanted != "slot":
        draft.leave(said)


def settle(draft: LineDraft) -> None:
    """Ranks that are bound to nothing have hosts and no places on them."""
    if draft.unbound:
        draft.place = ""


def pinned(sets: Mapping[str, str]) -> str:
    """Our policy for what variables of Intel MPI say; empty: they say nothing that we know."""
    cores_of = sets.get("I_MPI_PIN_PROCESSOR_LIST", "")
    return f"cores:{cores_of}" if cores_of and _CORES.fullmatch(cores_of) else ""
