# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Levels of the caches in words, loads under load, messages by copies: from rows to lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mpigauge.model.columns import Cell
from mpigauge.model.row import Estimate
from mpigauge.products.node.show_limits import in_words, sections
from mpigauge.result.node.limits import copied, loaded, memory_levels, steps
from mpigauge.result.node.node import node
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.plateaus import plateaus
from tests import cells

KI, MI = 1 << 10, 1 << 20
DOUBLED = [8 * KI << i for i in range(16)]
"""8 KiB to 256 MiB."""


def of_node(benchmark: str, ranks: int = 1, **changed: Any) -> Cell:
    return cells.cell(benchmark, suite="NODE", ranks=ranks, **changed)


def chase(nanoseconds: dict[int, float], benchmark: str = "Chase_huge") -> list[Cell]:
    return [
        of_node(benchmark, message_bytes=size, time_scale=1 / 1024, time_p50_s=ns * 1024e-9)
        for size, ns in nanoseconds.items()
    ]


def cached(memory: float | None = 95.0) -> dict[int, float]:
    """A processor of 32 KiB and 1 MiB; where memory is None it gets slower and slower."""

    def load(size: int) -> float:
        if size <= 32 * KI:
            return 1.2
        if size <= MI:
            return 4.0
        if size <= 4 * MI:
            return 15.0 * size / MI
        return memory if memory is not None else 5.0 * size**0.5 / KI * 10

    return {size: load(size) for size in DOUBLED}


# --- levels ---------------------------------------------------------------------------------
def test_levels_are_found_with_their_ends() -> None:
    (found,) = steps(rows(chase(cached())))
    assert [(level.first_bytes, level.last_bytes, level.next_bytes) for level in found.levels] == [
        (8 * KI, 32 * KI, 64 * KI), (64 * KI, MI, 2 * MI), (8 * MI, 256 * MI, None)
    ]  # fmt: skip
    assert [level.value.value for level in found.levels] == pytest.approx([1.2e-9, 4e-9, 95e-9])


def test_they_are_told_in_words() -> None:
    (found,) = steps(rows(chase(cached())))
    said = in_words(found)
    assert said.startswith("a load, in huge pages: from 8 KiB to 32 KiB 1.20 ns (")
    assert "from 64 KiB to 1 MiB 4.00 ns (3.96 to 4.04), which ends before 2 MiB" in said
    assert said.endswith("from 8 MiB to 256 MiB, the largest, 95.0 ns (94.0 to 96.0)")
    assert "UNDECIDED" not in said


def test_memory_that_gets_slower_and_slower_is_undecided() -> None:
    (found,) = steps(rows(chase(cached(memory=None))))
    assert in_words(found).endswith("behind 1 MiB UNDECIDED, it still changes at 256 MiB")


def test_a_curve_that_stays_nowhere_is_undecided() -> None:
    (found,) = steps(rows(chase({size: 2.0**i for i, size in enumerate(DOUBLED)})))
    assert in_words(found).endswith("UNDECIDED, it stays nowhere the same over three sizes")


def test_errors_make_alike_what_seems_to_differ() -> None:
    wide = [(1, Estimate(10, 8, 12)), (2, Estimate(13, 11, 15)), (4, Estimate(11, 9, 13))]
    assert len(plateaus(wide)) == 1
    assert (
        plateaus([(size, Estimate(value.value, value.value, value.value)) for size, value in wide])
        == ()
    )


def test_usual_pages_are_told_of_where_there_are_no_huge_ones() -> None:
    both = [*chase(cached()), *chase(cached(), "Chase")]
    assert [each.benchmark for each in steps(rows(both))] == ["Chase_huge"]
    assert [each.benchmark for each in steps(rows(chase(cached(), "Chase")))] == ["Chase"]


# --- loads under load -----------------------------------------------------------------------
def under_load(others: int, nanoseconds: float, gigabytes: float, share: str = "") -> list[Cell]:
    load = of_node(f"Chase_loaded{share}", others + 1, message_bytes=128 * MI, time_scale=1 / 1024,
                   time_p50_s=nanoseconds * 1024e-9)  # fmt: skip
    read = of_node(f"Read_loaded{share}", others + 1, message_bytes=128 * MI, moved_bytes=1e6,
                   time_p50_s=1e-3 / gigabytes)  # fmt: skip
    return [load, read]


LOAD = [*chase(cached()), *under_load(3, 210.0, 40.0), *under_load(1, 120.0, 15.0)]


def test_loads_are_beside_what_the_others_read() -> None:
    found = loaded(rows(LOAD))
    assert [each.others for each in found] == [0, 1, 3]
    assert found[0].others_read is None
    shown = ["".join(line.split()[:5]) for line in _section("A load while others", LOAD)[2:]]
    assert shown == ["095.0±1.0%", "1all120±1.0%", "3all210±1.0%"]


def test_others_who_rest_come_before_those_who_do_not() -> None:
    resting = [*under_load(1, 98.0, 2.0, "_eighth"), *under_load(1, 105.0, 8.0, "_half")]
    found = loaded(rows([*LOAD, *resting]))
    assert [(each.others, each.share) for each in found] == [
        (0, 1), (1, 1 / 8), (1, 1 / 2), (1, 1), (3, 1)
    ]  # fmt: skip
    assert found[1].others_read is not None
    shown = _section("A load while others", [*LOAD, *resting])[3].split()
    assert shown == ["1", "1/8", "98.0", "±1.0", "%", "2.00", "±1.0", "%"]


def test_streams_of_the_others_are_no_streams_of_the_node() -> None:
    found = node(rows(LOAD))
    assert found is not None
    assert found.streams == ()


# --- copies ---------------------------------------------------------------------------------
def copy(name: str, microseconds: float, suite: str = "NODE", **changed: Any) -> Cell:
    return cells.cell(name, suite=suite, message_bytes=64 * KI, moved_bytes=64.0 * KI,
                      time_scale=0.5, time_p50_s=2e-6 * microseconds, **changed)  # fmt: skip


COPIED = [
    copy("Copy_once", 2.0),
    copy("Copy_once_fresh", 8.0),
    copy("PingPong", 4.0, "MPI1"),
    copy("PingPong", 16.0, "MPI1", cache="cold"),
]


def test_messages_are_put_beside_copies_of_the_same_data() -> None:
    (found,) = copied(rows(COPIED))
    assert found.share("Copy_once") == pytest.approx(0.5)
    assert found.share("Copy_once_fresh") is None
    ping = copy("PingPong", 7.0, "MPI1", data="fresh")
    assert copied(rows([*COPIED, ping]))[0].share("Copy_once_fresh") is None
    fresh = [*COPIED, replace(ping, time_write_s=3e-6)]
    assert copied(rows(fresh))[0].share("Copy_once_fresh") == pytest.approx(0.8)


def test_the_page_has_a_column_for_each_way_that_was_measured() -> None:
    lines = _section("Messages by nothing but copies", COPIED)
    assert lines[1].split() == ["bytes", "one", "copy", "one", "copy,", "fresh"]
    assert lines[2].split() == ["64", "KiB", "32.8", "(50", "%)", "8.19"]


def test_runs_without_all_this_have_no_sections() -> None:
    assert list(sections(memory_levels(rows([cells.cell("PingPong")])), None)) == []


def _section(title: str, measured: list[Cell]) -> list[str]:
    return next(s for s in sections(memory_levels(rows(measured)), None) if s[0].startswith(title))
