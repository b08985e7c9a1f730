# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Former names of benchmarks. They stay valid on command lines, in plans and in stored runs."""

from __future__ import annotations

from collections.abc import Mapping

FORMER_SUITE = "MORE"
SUITE = "ALG"
FORMER: Mapping[str, str] = {
    "Allgather_by_hand": "Allgather/ring",
    "Allreduce_by_hand": "Allreduce/recursive_doubling",
    "Alltoall_by_hand": "Alltoall/pairwise",
    "Bcast_by_hand": "Bcast/binomial",
    "Gather_by_hand": "Gather/linear",
    "Reduce_by_hand": "Reduce/binomial",
    "Scatter_by_hand": "Scatter/linear",
}
"""The names in suite ALG of benchmarks that were in suite MORE."""
_LOWER = {name.lower(): name for name in FORMER}


def present_names(suite: str, name: str) -> tuple[str, str]:
    """The suite and the name that a stored benchmark has now."""
    if suite == FORMER_SUITE and name in FORMER:
        return SUITE, FORMER[name]
    return suite, name


def present_word(word: str) -> str:
    """SUITE:NAME or NAME as it is written now, for a name in any case."""
    suite, _, name = word.rpartition(":")
    former = _LOWER.get(name.lower())
    if former is None or suite.upper() not in ("", FORMER_SUITE):
        return word
    return f"{SUITE}:{FORMER[former]}"
