# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Models of a run at their limits: where one shape of a break ends, and which rows LogGP takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mpigauge.model.row import Estimate
from mpigauge.result.models.bounds import Network, bound, bounds, network
from mpigauge.result.models.breaks import LikelyBreak, cache_at, kinds, reasons, shape
from mpigauge.result.models.loggp import LogGP, loggp
from mpigauge.result.run_view import Curve, RunView
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.pieces import Break
from tests.planted import OPEN_MPI, ROME, curve, line, ranks, run

EXACT = Estimate(1e-6, 0.9e-6, 1.1e-6)


# --- breaks ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("step", "slope", "after", "expected"),
    [
        (1.1, 1.0, 513, ("eager", "cache")),
        (1.1, 1.0, 512, ("inline", "cache")),
        (1.09, 1.0, 8192, ("segment",)),
        (1.09, 1.2, 8192, ("segment",)),
        (1.09, 1.21, 8192, ("cache", "segment")),
        (0.9, 2.0, 8192, ("single copy", "segment")),
        (0.91, 2.0, 8192, ("cache", "segment")),
    ],
)
def test_from_where_on_a_break_is_of_another_shape(
    step: float, slope: float, after: int, expected: tuple[str, ...]
) -> None:
    at = Break(256, after, step, slope)
    assert kinds(at) == expected
    assert kinds(at, "collective") == ("algorithm", *expected)


@pytest.mark.parametrize(
    ("step", "slope", "expected"),
    [
        (1.1, 1.0, ("cache",)),
        (1.09, 1.2, ()),
        (1.09, 1.21, ("cache",)),
        (0.91, 1.21, ("cache",)),
        (0.9, 1.21, ()),
    ],
)
def test_what_sends_no_messages_outgrows_a_cache_where_its_time_grows(
    step: float, slope: float, expected: tuple[str, ...]
) -> None:
    assert kinds(Break(256, 8192, step, slope), "node") == expected


@pytest.mark.parametrize(
    ("step", "slope", "words"),
    [
        (1.1, 9.0, "the time jumps to 1.1 × what smaller sizes suggest"),
        (0.9, 9.0, "the time falls to 0.9 × what smaller sizes suggest"),
        (1.0, 1.5, "each further byte takes 1.5 × as long"),
        (1.0, 1.0, "each further byte takes less time"),
        (1.0, 0.5, "each further byte takes less time"),
    ],
)
def test_the_shape_in_words(step: float, slope: float, words: str) -> None:
    at = LikelyBreak(Break(1024, 4096, step, slope), ())
    assert (shape(at.at), at.shape, at.where) == (words, words, "between 1 KiB and 4 KiB")
    assert at.middle_bytes == 2048
    assert LikelyBreak(Break(0, 4, step, slope), ()).middle_bytes == 2


def a_curve(*, measured: Any = None, **of: Any) -> tuple[RunView, Curve]:
    view = RunView.of(run(measured or curve(line()), ranks(["0", "1"]), **of))
    (found,) = view.curves
    return view, found


@pytest.mark.parametrize(
    ("before", "after", "is_named"),
    [(2048, 4096, True), (4096, 8192, True), (2048, 4095, False), (4097, 8192, False)],
)
def test_a_limit_at_either_end_of_a_break_is_named(before: int, after: int, is_named: bool) -> None:
    """The eager limit of shared memory in Open MPI is 4 KiB; it may count a header."""
    view, of = a_curve(**OPEN_MPI)
    first = reasons(view, of, Break(before, after, 1.5, 1.0))[0]
    assert first.kind == "eager"
    assert first.is_likely == is_named
    assert ("is usually 4 KiB" in first.words) == is_named


MI = 1 << 20


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (8 * MI, 16 * MI, 3),
        (8 * MI, 8 * MI, 3),
        (8 * MI, 8 * MI - 1, None),
        (16 * MI - 1, 32 * MI, 3),
        (16 * MI, 32 * MI, None),
    ],
)
def test_a_cache_ends_where_a_message_or_a_message_and_its_copy_do_not_fit(
    before: int, after: int, level: int | None
) -> None:
    """The largest cache of the cores is one of 16 MiB."""
    seats = ranks(["0", "1"], str(ROME["hostname"]))
    view = RunView.of(run(curve(line()), seats, machine=ROME))
    (of,) = view.curves
    cache = cache_at(view, of, Break(before, after, 1.5, 1.0))
    assert (cache.level if cache else None) == level


# --- LogGP ----------------------------------------------------------------------------------------
def test_the_overhead_is_at_most_the_gap_and_at_most_half_of_the_latency() -> None:
    short = LogGP(EXACT, gap=Estimate(1e-7, 0.9e-7, 2e-7))
    assert short.overhead == (0.0, 2e-7)
    assert short.latency == pytest.approx((0.5e-6, 1.1e-6))
    long = LogGP(EXACT, gap=Estimate(3e-6, 2e-6, 4e-6))
    assert long.overhead == (0.0, 0.55e-6)
    assert long.latency == (0.0, 1.1e-6)
    assert LogGP(EXACT).latency is None
    assert LogGP(gap=EXACT).overhead is None


@pytest.mark.parametrize(("size", "is_short"), [(64, True), (65, False)])
def test_a_short_message_has_at_most_64_bytes(size: int, is_short: bool) -> None:
    sizes = [size << place for place in range(6)]
    found = loggp(rows(curve(line(), sizes=sizes)))
    assert (found.latency_and_overheads is not None) == is_short


def band(size: int, inflight: int = 64, **changed: Any) -> list[Any]:
    """As the model has it, with a gap of 0.1 µs and answers of 1 µs."""
    time = (inflight - 1) * 1e-7 + 2e-6
    return curve(lambda _: time, "Uniband", [size], inflight=inflight, **changed)


@pytest.mark.parametrize(
    ("bands", "has_gap"),
    [
        (band(0), True),
        (band(64), True),
        (band(65), False),
        (band(8, inflight=4), True),
        (band(8, inflight=3), False),
        (band(8, ranks=4), False),
        (band(8, suite="P2P"), False),
    ],
)
def test_the_gap_is_of_several_short_messages_between_two_ranks(
    bands: list[Any], has_gap: bool
) -> None:
    found = loggp(rows([*curve(line(1e-6)), *bands]))
    assert (found.gap is not None) == has_gap
    assert found.gap is None or found.gap.value == pytest.approx(1e-7, rel=0.05)


def test_a_gap_of_nothing_is_none() -> None:
    """The messages take as long as the answer does."""
    trips = curve(lambda _: 1e-6, sizes=[8, 16, 32])
    assert loggp(rows([*trips, *curve(lambda _: 2e-6, "Uniband", [8], inflight=64)])).gap is None


def test_the_gap_is_that_of_the_shortest_messages() -> None:
    slower = [replace(cell, time_p50_s=2 * cell.time_p50_s) for cell in band(32)]
    found = loggp(rows([*curve(line(1e-6)), *slower, *band(8)]))
    assert found.gap is not None
    assert found.gap.value == pytest.approx(1e-7, rel=0.05)


def test_the_gap_per_byte_is_that_of_the_longest_messages() -> None:
    def bent(size: int) -> float:
        return 1e-6 + 1e-10 * size + max(0, size - 65536) * 9e-10

    found = loggp(rows(curve(bent)))
    assert found.gap_per_byte is not None
    assert found.gap_per_byte.value == pytest.approx(1e-9, rel=0.02)


# --- bounds ---------------------------------------------------------------------------------------
def test_the_network_is_the_best_of_what_was_measured() -> None:
    """Latency at one size, bandwidth at another; other suites are other programs."""
    times = {8: 2e-6, 16: 1e-6, 1024: 1e-5, 1 << 20: 1e-3}
    measured = curve(times.__getitem__, sizes=list(times))
    other = curve(lambda _: 1e-9, sizes=[8, 1 << 20], suite="P2P")
    known = network(rows([*measured, *other]))
    assert known is not None
    assert known.alpha_s.value == pytest.approx(1e-6, rel=0.01)
    assert known.beta_s_per_byte.value == pytest.approx(1e-3 / (1 << 20), rel=0.01)
    assert network(rows(other)) is None
    assert network(rows(curve(line(), sizes=[0]))) is None


def test_collectives_of_one_rank_or_without_bytes_have_no_bound() -> None:
    trips = curve(line())
    for of, count in (({"ranks": 1}, 0), ({"ranks": 2}, 1), ({"ranks": 2, "suite": "NBC"}, 0)):
        assert len(bounds(rows([*trips, *curve(line(), "Bcast", [8], **of)]))) == count
    assert bounds(rows([*trips, *curve(line(), "Bcast", [0], ranks=4)])) == []


def test_the_larger_bound_counts_and_starting_where_both_are_equal() -> None:
    """Two steps among four ranks."""
    (row,) = rows(curve(lambda _: 5e-6, "Bcast", [8], ranks=4))
    known = Network(Estimate(1.0, 0.5, 1.5), Estimate(1.0, 0.5, 1.5))
    for moved, limit, value in ((1.9, "α", 2.0), (2.0, "α", 2.0), (2.1, "β", 2.1)):
        found = bound(row, known, lambda _, __, moved=moved: moved)  # type: ignore[misc]
        assert (found.limit, found.bound_s.value) == (limit, value)
        assert found.ratio.value == row.latency.value / value
        assert found.ratio.low == row.latency.low / found.bound_s.high
        assert found.ratio.high == row.latency.high / found.bound_s.low
