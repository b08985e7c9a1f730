# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a profile hands to others: on which calls the program spends its time in MPI."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mpigauge.features.profile.needs import LEAST_SHARE, uses_of
from mpigauge.features.profile.show import accounts_of, main_jobs
from mpigauge.model.call_mix import CallMix, MixedCall
from mpigauge.model.suite_options import LEVELS
from mpigauge.site.mpi.query import named

if TYPE_CHECKING:
    from mpigauge.features.profile.needs import Use
    from mpigauge.features.profile.stored import Job


def mix_of(name: str, jobs: Sequence[Job]) -> CallMix | None:
    """Of the profile's launch with the share of MPI in the middle; None: no rank was seen."""
    shown = main_jobs(jobs)
    if not shown:
        return None
    account = accounts_of(shown)[0]
    first, whole = account.ranks[0], float(account.mpi_s.sum())
    calls = [each for each in _calls(uses_of(account)) if each.seconds >= LEAST_SHARE * whole]
    return CallMix(
        profile=name,
        mpi=" ".join(named(first.library)),
        thread_level=LEVELS[first.thread_level] if 0 <= first.thread_level < len(LEVELS) else "",
        mpi_s=whole,
        run_s=float(account.run_s.mean()),
        calls=tuple(sorted(calls, key=lambda each: -each.seconds)),
    )


def _calls(uses: Sequence[Use]) -> list[MixedCall]:
    """Collectives, those of one power of two together."""
    together: dict[tuple[object, ...], list[Use]] = defaultdict(list)
    for use in uses:
        need = use.need
        if need.is_collective and need.message_bytes > 0 and need.ranks > 1:
            power = need.message_bytes.bit_length()
            together[need.benchmark, need.ranks, need.datatype, need.op, power].append(use)
    return [_call(alike) for alike in together.values()]


def _call(alike: Sequence[Use]) -> MixedCall:
    need = max(alike, key=lambda use: use.seconds).need
    return MixedCall(
        benchmark=need.benchmark,
        ranks=need.ranks,
        message_bytes=need.message_bytes,
        least_bytes=min(use.least_bytes for use in alike),
        most_bytes=max(use.most_bytes for use in alike),
        seconds=sum(use.seconds for use in alike),
        datatype=need.datatype,
        op=need.op,
    )
