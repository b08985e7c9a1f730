# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The machine itself: its plan, what is concluded from its rows, and its page."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan import Resources, read_request
from mpigauge.model.cards import Cards
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.names import COPIES
from mpigauge.products.node.node_suite import CLOCKS, NOISE, PEAKS
from mpigauge.products.node.plan import (
    CURVES,
    LINES,
    LOADED,
    SHARES,
    STREAM,
    STREAMS,
    array_beyond_caches,
    counts,
    node_plan,
)
from mpigauge.products.node.present import page_of
from mpigauge.products.node.show import page
from mpigauge.result.document import Document
from mpigauge.result.node.node import NodeResult, node
from mpigauge.result.run_result import RunResult
from mpigauge.result.stats.launches import rows
from mpigauge.session.run_names import open_run
from mpigauge.show.web.of_node import node_numbers
from mpigauge.site import topology
from tests import cells, pages
from tests.unit.measuring.plan.test_plan import CARDS, MPICH

MACHINES = Path(__file__).resolve().parents[3] / "machines"
MEMORY = 128 << 20


def _cards(*names: str) -> Cards:
    like = CARDS.chosen(["PingPong"])[0]
    ours = [replace(like, suite="NODE", name=name, ranks=_ranks(name)) for name in names]
    return replace(CARDS, benchmarks=(*CARDS.benchmarks, *ours))


def _ranks(name: str) -> str:
    return "pair" if name in LINES else "any"


TUNED = tuple(f"{name}_tuned" for name in STREAMS)
RESTING = tuple(name + share for name in LOADED for share in SHARES)
X86 = _cards(
    *STREAMS,
    *TUNED,
    "Memcpy",
    *CURVES[1:],
    *PEAKS[:4],
    *CLOCKS,
    *LINES,
    *LOADED,
    *RESTING,
    *COPIES,
    NOISE,
)


PRODUCTS = _cards("DGEMM", "SGEMM").benchmarks[-2:]
WITH_PRODUCTS = replace(X86, benchmarks=(*X86.benchmarks, *PRODUCTS))
FIRST_WORDS = ("NODE:Copy", "NODE:DGEMM")


def resources(name: str = "epyc-rome-2s-nps4.xml") -> Resources:
    return Resources(topology.built(MACHINES / name))


def of_node(benchmark: str, ranks: int = 1, **changed: Any) -> Cell:
    return cells.cell(benchmark, suite="NODE", ranks=ranks, **changed)


def stream(
    name: str, ranks: int, gigabytes: float, variant: str = "avx2", size: int = MEMORY
) -> Cell:
    """A row of so many GB/s."""
    moved = 3.0 * size * ranks
    return of_node(name, ranks, message_bytes=size, moved_bytes=moved, variant=variant,
                   time_p50_s=moved / gigabytes / 1e9)  # fmt: skip


def clock(name: str, ghz: float, ranks: int = 1) -> Cell:
    return of_node(name, ranks, message_bytes=-1, messages=1.0, time_scale=1 / 3072,
                   time_p50_s=3072 / ghz / 1e9)  # fmt: skip


def seen(*measured: Cell) -> NodeResult:
    found = node(rows(measured))
    assert found is not None
    return found


def text(*measured: Cell) -> str:
    known = tuple(rows(measured))
    return "\n".join(page(Document(known, X86), seen(*measured)))


# --- plan -----------------------------------------------------------------------------------
def test_all_cores_have_their_turn_one_and_all_at_once() -> None:
    made = node_plan(read_request({"seconds": "20s"}), X86, resources(), MPICH).parts
    triad, stream, cores, copies, loaded, memory, curve = made
    assert (triad.benchmarks, triad.ranks) == (("NODE:Triad",), (1, 128))
    assert stream.benchmarks == tuple(f"NODE:{name}" for name in STREAM)
    assert stream.ranks == (1, 128)
    assert {part.world_ranks for part in (memory, curve, cores, loaded, copies)} == {128}
    assert memory.ranks == (1, 2, 4, 8, 16, 32, 64, 128)
    assert set(memory.benchmarks) == {f"NODE:{n}" for n in (*STREAMS, *TUNED, "Memcpy")}
    assert curve.ranks == (1,)
    assert cores.ranks == (1, 128)
    assert {"PingPong", "NODE:Noise"} <= set(cores.benchmarks)
    assert loaded.ranks == (2, 4, 8, 16, 32, 64, 128)
    assert copies.ranks == (2,)


def test_it_takes_a_minute_and_one_launch_unless_more_is_asked_for() -> None:
    usual = node_plan(read_request({}), X86, resources(), MPICH)
    assert (usual.seconds, usual.launches, usual.strict) == (60, 1, True)
    more = node_plan(read_request({"seconds": "2m", "launches": 7}), X86, resources(), MPICH)
    assert (more.seconds, more.launches, more.strict) == (120, 7, False)


@pytest.mark.parametrize(("seconds", "times"), [("5s", 1), ("20s", 1), ("60s", 3), ("10m", 6)])
def test_stream_and_products_come_first_and_as_often_as_there_is_time(
    seconds: str, times: int
) -> None:
    made = node_plan(read_request({"seconds": seconds}), WITH_PRODUCTS, resources(), MPICH)
    firsts = [part.benchmarks[0] for part in made.parts]
    assert firsts[:4] == ["NODE:Triad", "NODE:Copy", "NODE:DGEMM", "NODE:DGEMM"]
    assert firsts.count("NODE:Copy") == times
    assert firsts.count("NODE:DGEMM") == 2 * times
    first = sum(part.weight for part in made.parts if part.benchmarks[0] in FIRST_WORDS)
    assert first / sum(part.weight for part in made.parts) == pytest.approx(0.4, abs=0.1)
    assert len(set(made.parts)) == len(made.parts) - 3 * (times - 1)


@pytest.mark.parametrize(
    ("cache", "memory", "expected"),
    [(16 << 20, 0, 128 << 20), (96 << 20, 1 << 40, 384 << 20), (1 << 30, 4 << 30, 341 << 20),
     (1 << 30, 1 << 20, 128 << 20), (0, 0, 128 << 20)],
)  # fmt: skip
def test_arrays_are_larger_than_caches_where_the_memory_has_room(
    cache: int, memory: int, expected: int
) -> None:
    machine = resources().machine
    caches = tuple(replace(each, bytes=cache) for each in machine.caches[:1]) if cache else ()
    others = (replace(each, bytes=0) for each in machine.numa[1:])
    numa = (replace(machine.numa[0], bytes=memory), *others)
    changed = replace(machine, caches=caches, numa=numa)
    assert array_beyond_caches(changed, 2) == (expected,)


def test_arrays_have_room_in_the_memory_of_a_container() -> None:
    machine = topology.read(MACHINES / "epyc-7302-two-sockets.txt")
    caches = (replace(machine.caches[0], bytes=1 << 30),)
    limited = replace(machine, caches=caches, memory_limit_bytes=3 << 30)
    assert array_beyond_caches(limited, 2) == (256 << 20,)


def test_what_fits_into_a_cache_is_said() -> None:
    found = seen(stream("Triad", 1, 10.0, size=4 << 20))
    document = Document(tuple(rows([stream("Triad", 1, 10.0, size=4 << 20)])), X86)
    small = "\n".join(page(document, replace(found, cache_bytes=32 << 20)))
    assert "3 arrays of 4 MiB fit into a cache of 32 MiB: that is not the memory" in small
    assert "fit into a cache" not in "\n".join(page(document, replace(found, cache_bytes=1 << 20)))


@pytest.mark.parametrize(("launches", "said"), [(1, "1 launch"), (3, "…+"), (6, "±")])
def test_each_row_has_an_error_or_says_why_it_has_none(launches: int, said: str) -> None:
    measured = [
        replace(
            stream("Triad", 1, 10.0 + 0.1 * launch),
            launch=launch,
            ci_low_s=math.nan,
            ci_high_s=math.nan,
        )
        for launch in range(launches)
    ]
    line = next(line for line in text(*measured).splitlines() if line.startswith("Triad   plain"))
    assert said in line


def test_peaks_that_this_kind_of_processor_never_has_are_not_asked_for() -> None:
    made = node_plan(read_request({}), X86, resources(), MPICH)
    assert "NODE:Peak_avx512" in made.benchmarks
    assert "NODE:Peak_neon" not in made.benchmarks


def test_one_core_has_no_partner() -> None:
    made = node_plan(read_request({"np": 1}), X86, resources(), MPICH)
    assert not {"PingPong", "NODE:Line"} & set(made.benchmarks)
    assert {part.ranks for part in made.parts} == {(1,)}


def test_few_cores_load_the_memory_for_a_part_of_the_time_too() -> None:
    def loads(ranks: int) -> set[str]:
        made = node_plan(read_request({"np": ranks}), X86, resources(), MPICH)
        return {name for name in made.benchmarks if "_loaded" in name}

    full = {"NODE:Chase_loaded", "NODE:Read_loaded"}
    shares = ("", "_half", "_quarter", "_eighth")
    assert loads(2) == loads(4) == {name + share for name in full for share in shares}
    assert loads(5) == full


def test_several_placements_are_refused() -> None:
    with pytest.raises(UserError, match=r"one placement, not 2 \(.*\); name one"):
        node_plan(read_request({"place": ("compact,scatter",), "np": 4}), X86, resources(), MPICH)


@pytest.mark.parametrize(
    ("ranks", "expected"), [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))]
)
def test_numbers_of_ranks_double_up_to_all(ranks: int, expected: tuple[int, ...]) -> None:
    assert counts(ranks) == expected


# --- analysis -------------------------------------------------------------------------------
def test_runs_without_it_are_no_node() -> None:
    assert node(rows([cells.cell("PingPong")])) is None


def test_tuned_is_compared_with_the_simple_loop_and_both_with_the_best() -> None:
    way = "avx2, past the caches, huge pages"
    measured = (
        stream("Triad", 2, 30.0),
        stream("Triad_tuned", 2, 48.0, way),
        stream("Update", 2, 60.0),
    )
    found = seen(*measured)
    plain, tuned, update = found.streams
    assert tuned.gain == pytest.approx(1.6)
    assert math.isnan(plain.gain)
    assert [stream.limit for stream in found.streams] == pytest.approx([60e9] * 3)
    assert plain.on_bus == pytest.approx(40e9)
    assert tuned.on_bus == pytest.approx(48e9)
    assert update.on_bus == pytest.approx(60e9)


def test_launches_that_took_different_ways_are_told() -> None:
    ways = ("sse2", "avx2, past the caches", "sse2")
    launches = [replace(stream("Copy_tuned", 1, 20.0, way), launch=i) for i, way in enumerate(ways)]
    (copy,) = seen(*launches).streams
    assert copy.row.cell.variant == "sse2 / avx2, past the caches"
    assert copy.on_bus is None


def test_the_library_keeps_its_way_to_itself() -> None:
    (memcpy,) = seen(stream("Memcpy", 1, 14.0, "")).streams
    assert memcpy.on_bus is None


def test_memory_is_what_most_streams_have_gone_over() -> None:
    """Triad was also measured over larger arrays, on its way out of the caches."""
    larger = stream("Triad", 1, 14.0, size=2 * MEMORY)
    found = seen(stream("Triad", 1, 16.0), stream("Copy", 1, 15.0), larger)
    assert {stream.message_bytes for stream in found.streams} == {MEMORY}


def test_clocks_that_disagree_are_not_believed() -> None:
    good = seen(clock("Clock_multiply", 3.67), clock("Clock_xor", 3.70)).clocks[1]
    assert good.agrees
    assert good.hz == pytest.approx(3.70e9)
    bad = seen(clock("Clock_multiply", 3.67), clock("Clock_xor", 4.1)).clocks[1]
    assert not bad.agrees
    assert math.isnan(bad.hz)


def test_few_ranks_may_be_enough() -> None:
    speeds = {1: 26.0, 2: 46.0, 4: 59.0, 8: 60.0}
    found = seen(*(stream("Triad_tuned", ranks, speed) for ranks, speed in speeds.items()))
    assert found.enough("Triad_tuned") == (4, 4, 4)
    assert found.enough("Copy_tuned") is None


def test_one_number_of_ranks_is_not_the_best_of_several() -> None:
    measured = (stream("Triad_tuned", 1, 5.4), stream("Triad", 2, 9.0))
    assert seen(*measured).enough("Triad_tuned") is None
    assert "95 % of the best" not in text(*measured)


def floors() -> list[Cell]:
    return [
        of_node("Mailbox", 2, message_bytes=-1, time_scale=0.5 / 32, time_p50_s=64 * 134e-9,
                time_p01_s=64 * 124e-9, time_p99_s=64 * 143e-9),
        cells.cell("PingPong", message_bytes=0, time_p50_s=2 * 190e-9),
    ]  # fmt: skip


def test_messages_are_put_beside_what_the_lines_take() -> None:
    (floor,) = seen(*floors()).floors
    assert floor.ratio == pytest.approx(190 / 134)


def test_fresh_messages_are_not_put_beside_lines() -> None:
    fresh = cells.cell("PingPong", message_bytes=0, time_p50_s=4e-7, data="fresh")
    (floor,) = seen(*floors(), fresh).floors
    assert floor.ratio == pytest.approx(190 / 134)


# --- page -----------------------------------------------------------------------------------
def test_the_page_says_which_way_was_taken() -> None:
    one = stream("Triad", 1, 16.0), stream("Triad_tuned", 1, 26.0, "avx512, 4 strips")
    two = stream("Triad", 2, 30.0), stream("Triad_tuned", 2, 48.0, "sse2, huge pages")
    shown = text(*one, *two)
    assert "Memory, STREAM-like: 2 ranks, arrays of 128 MiB on each" in shown
    assert "1.60 ×  sse2, huge pages" in shown
    assert "92 %" in shown
    assert "avx512" not in shown
    assert "95 % of the best with 2 ranks" in shown


def test_the_page_counts_by_the_cycle_only_where_the_clock_is_known() -> None:
    peak = of_node("Peak_avx2", message_bytes=-1, messages=96_000.0, time_p50_s=96_000 / 64e9)
    known = text(peak, clock("Clock_multiply", 4.0), clock("Clock_xor", 4.0))
    assert "16.0 a cycle of each" in known
    assert "GHz, by two chains" in known
    unknown = text(peak, clock("Clock_multiply", 4.0), clock("Clock_xor", 23.6))
    assert "a cycle" not in unknown
    assert "unknown; one chain gives" in unknown


def test_the_page_has_latencies_with_their_spread() -> None:
    shown = text(*floors())
    assert "over lines 124 to 143; PingPong of 0 B: 190, 1.4 × as long" in shown


def test_a_run_of_other_benchmarks_is_refused(tmp_path: Path, capsys: Any) -> None:
    assert run(["node", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err


def test_the_page_ends_with_the_numbers_of_the_machine(tmp_path: Path) -> None:
    stored = open_run(str(pages.machine(tmp_path)))
    lines = list(page_of(stored))
    seen = RunResult.of("machine", stored).node
    assert seen is not None
    quoted = list(node_numbers(seen))
    places = [max(n for n, line in enumerate(lines) if line.startswith(of.label)) for of in quoted]
    assert places == list(range(places[0], places[0] + len(quoted)))
    assert places[0] > len(lines) - 12
    assert lines[-1].startswith(("Next: ", "  "))
