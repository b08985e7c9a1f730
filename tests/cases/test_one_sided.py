# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One-sided communication: its modes, rotating displacements, atomic operations, and what a time
is about.

That every benchmark runs on every number of ranks is the registry's test.
"""

from __future__ import annotations

import math

import pytest

from tests.cases.launching import ONE_SIDED, ROUGH, Ended, Site, run, site

pytestmark = [pytest.mark.mpi, pytest.mark.alone]
"""Open MPI 5.0.11 ends by signal 11 in one-sided communication now and then, more often beside
other jobs; why is not known."""

FEW_CALLS = 1 << 20
"""A size that IMB repeats 40 times, not 1000."""


def one_sided(where: Site) -> str:
    return ",".join(f"{card.suite}:{card.name}" for card in where.cards if card.suite in ONE_SIDED)


def right(ended: Ended) -> Ended:
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert not ended.skips
    assert ended.cells
    return ended


def test_every_mode_of_every_benchmark_is_a_cell(where: Site) -> None:
    ended = right(run(where, 2, "--benchmarks", one_sided(where), "--sizes", FEW_CALLS,
                      *ROUGH))  # fmt: skip
    found = [(c.suite, c.benchmark, c.completion) for c in ended.cells]
    expected = [
        (card.suite, card.name, completion)
        for card in where.cards
        if card.suite in ONE_SIDED
        for completion in card.completions
    ]
    assert sorted(found) == sorted(expected)


def test_operations_completed_together_are_as_many_as_in_imb(where: Site) -> None:
    names = "EXT:Unidir_Put,RMA:Unidir_put"
    ended = right(run(where, 2, "--benchmarks", names, "--sizes", f"0,8,{FEW_CALLS}",
                      *ROUGH, "--cell-seconds", 0))  # fmt: skip
    calls = {(c.suite, c.message_bytes): c.calls for c in ended.cells if c.completion == "end"}
    assert calls
    assert calls == {key: 40 if key[1] == FEW_CALLS else 1000 for key in calls}


def test_displacements_rotate_when_cold(where: Site) -> None:
    ended = right(run(where, 2, "--benchmarks", one_sided(where), "--cache", "cold",
                      "--cache-bytes", 1 << 20, "--sizes", "0,4096",
                      *ROUGH))  # fmt: skip
    assert {c.cache for c in ended.cells} == {"cold"}


def test_the_schedule_of_imb_is_right_too(where: Site) -> None:
    ended = right(run(where, 2, "--benchmarks", one_sided(where), "--mode", "classic",
                      "--repetitions", 4, "--sizes", FEW_CALLS))  # fmt: skip
    assert {c.stop for c in ended.cells} == {"schedule"}


@pytest.mark.parametrize(
    ("datatype", "op"), [("int", "sum"), ("double", "max"), ("char", "bxor"), ("int64", "min")]
)
def test_accumulations_are_exact(where: Site, datatype: str, op: str) -> None:
    names = "EXT:Accumulate,RMA:Accumulate,RMA:Get_accumulate,RMA:Fetch_and_op"
    ended = right(run(where, 2, "--benchmarks", names, "--datatype", datatype, "--op", op,
                      "--sizes", "8,20000", *ROUGH))  # fmt: skip
    assert {(c.datatype, c.op) for c in ended.cells} == {(datatype, op)}


def test_passive_targets_are_told_apart_from_busy_ones(where: Site) -> None:
    """A busy target computes for as long as a call with a passive one takes, and the call ends with
    a barrier after that: it takes at least the computation, and longer than with a passive target.
    What else runs here may hit the passive calls alone, so this is tried again."""
    sums = []
    for _ in range(3):
        ended = right(run(where, 2, "--benchmarks", "Truly_passive_put", "--sizes", "8,4096,65536",
                          "--seconds", 10))  # fmt: skip
        assert all(0 <= c.overlap_ratio <= 1 for c in ended.cells)
        passive = math.fsum(c.time_pure_s for c in ended.cells)
        computed = math.fsum(c.time_cpu_s for c in ended.cells)
        busy = math.fsum(c.time_p50_s for c in ended.cells)
        sums.append((passive, computed, busy))
        if busy > passive and busy > 0.9 * computed > 0.7 * passive:
            return
    pytest.fail(f"passive, computed, busy: {sums}")


def test_several_targets_count_each(where: Site) -> None:
    names = "One_put_all,One_get_all,Put_all_local"
    ended = right(run(where, 3, "--benchmarks", names, "--ranks", 3, "--sizes", FEW_CALLS,
                      *ROUGH))  # fmt: skip
    assert {c.moved_bytes for c in ended.cells} == {2 * FEW_CALLS}


def test_two_small_programs_have_their_own_sizes() -> None:
    ended = right(run(site("mpich"), 2, "--benchmarks", "mpi_latency,ping_pong"))
    sizes = {(c.benchmark, c.message_bytes) for c in ended.cells}
    assert sizes == {("mpi_latency", 1)} | {("ping_pong", 1000 * k) for k in range(1, 11)}
    assert {c.time_scale for c in ended.cells} == {0.5}
