# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Statistics at their limits: how many are enough, how far is far; values computed by hand."""

from __future__ import annotations

import math

import pytest

from mpigauge.model.record import Figure, Skip
from mpigauge.model.row import Estimate
from mpigauge.products.browse.shifts import at_places, shifts
from mpigauge.result.document import Remarked
from mpigauge.result.stats.figures import figure_rows
from mpigauge.result.stats.history import correlation_of
from mpigauge.result.stats.in_turn import in_turn
from mpigauge.result.stats.joint_ratio import SideValue, ratio_of_all
from mpigauge.result.stats.order import ENDS, LOOKS, MAD, OF_MEDIAN, fixed_order, median
from mpigauge.result.stats.peers import RankPair, clusters, odd_ones, odd_pairs, odd_ranks
from mpigauge.result.stats.plateaus import Plateau, plateaus
from mpigauge.result.stats.ratio import Ratio, Sample, ratio
from mpigauge.result.stats.remarks import name_cells, skip_sentences
from mpigauge.result.stats.verdicts import judge


def exact(value: float) -> Estimate:
    return Estimate(value, value, value)


# --- order ----------------------------------------------------------------------------------------
def test_constants_of_normal_values() -> None:
    from scipy.stats import norm

    assert pytest.approx(norm.ppf(0.975), abs=5e-3) == ENDS
    assert pytest.approx(1 / norm.ppf(0.75), abs=5e-5) == MAD
    assert pytest.approx(math.sqrt(math.pi / 2), abs=5e-5) == OF_MEDIAN


def test_looks_are_about_1_4_times_as_many_each() -> None:
    assert LOOKS[:4] == (6, 10, 14, 20)
    assert LOOKS[4:] == tuple(int(1.4 * before) + (before == 28) for before in LOOKS[3:-1])


def test_above_500_values_the_order_is_hoeffding_s() -> None:
    """501 / 2 - sqrt(501 · log(40) / 2) is 220.1; of 500 values the binomial one is 228."""
    assert (fixed_order(500), fixed_order(501)) == (228, 220)
    assert fixed_order(1000, 0.9) == 461


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    assert median([9.0, 1.0, 2.0]) == 2.0


# --- launches in turn -----------------------------------------------------------------------------
def starts(*times: int) -> list[tuple[str, int]]:
    return [(f"{time:04}", launch) for launch, time in enumerate(times)]


def test_launches_that_follow_each_other_are_pairs_in_any_order() -> None:
    """A B B A A B B A A B B A."""
    first, second = starts(0, 3, 4, 7, 8, 11), starts(1, 2, 5, 6, 9, 10)
    assert in_turn(first, second) == [(n, n) for n in range(6)]
    swapped = in_turn(second, first)
    assert swapped == [(n, n) for n in range(6)]


def test_a_launch_between_two_of_its_own_side_is_skipped() -> None:
    """A A B, then pairs: the first of all has no partner."""
    first, second = starts(0, 1, 3, 5, 7, 9, 11), starts(2, 4, 6, 8, 10, 12)
    assert in_turn(first, second) == [(n + 1, n) for n in range(6)]


@pytest.mark.parametrize(("alone", "count"), [(0, 6), (2, 6), (3, 0)])
def test_three_quarters_of_the_launches_need_a_partner(alone: int, count: int) -> None:
    """Six pairs are 3/4 of eight launches, and not of nine."""
    first = starts(*range(0, 12, 2), *range(100, 100 + alone))
    second = starts(*range(1, 12, 2))
    assert len(in_turn(first, second)) == count
    assert len(in_turn(second, first)) == count


def test_fewer_than_six_pairs_or_a_start_that_is_not_known_are_none() -> None:
    first, second = starts(0, 2, 4, 6, 8), starts(1, 3, 5, 7, 9)
    assert in_turn(first, second) == []
    six, others = starts(*range(0, 12, 2)), starts(*range(1, 12, 2))
    assert len(in_turn(six, others)) == 6
    assert in_turn([("", 0), *six[1:]], others) == []


# --- plateaus -------------------------------------------------------------------------------------
@pytest.mark.parametrize(("last", "count"), [(1.2, 1), (1.21, 0)])
def test_a_level_stays_within_a_fifth(last: float, count: int) -> None:
    points = [(8, exact(1.0)), (16, exact(1.1)), (32, exact(last))]
    assert len(plateaus(points)) == count
    assert len(plateaus([*points[:2][::-1], points[2]])) == count
    assert plateaus(points[:2]) == ()


def test_a_level_has_the_median_and_the_range_of_its_sizes() -> None:
    """Two levels and a step between them that belongs to neither, in any order of sizes."""
    values = {8: 1.0, 16: 1.1, 32: 1.05, 64: 2.0, 128: 4.0, 256: 4.1, 512: 4.2}
    points = [(size, Estimate(v, v - 0.01, v + 0.02)) for size, v in values.items()]
    low, high = plateaus(points[::-1])
    assert low == Plateau(8, 32, Estimate(1.05, 0.99, 1.12), 64)
    assert (high.first_bytes, high.last_bytes, high.next_bytes) == (128, 512, None)
    assert high.value == pytest.approx((4.1, 3.99, 4.22))


def test_a_level_begins_at_the_first_size_that_goes_with_two_more() -> None:
    points = [(size, exact(value)) for size, value in ((1, 1), (2, 1), (4, 2), (8, 2), (16, 2))]
    (found,) = plateaus(points)
    assert (found.first_bytes, found.last_bytes) == (4, 16)


def test_errors_that_are_not_known_count_nothing() -> None:
    unknown = [(size, Estimate(v, math.nan, math.nan)) for size, v in ((1, 1.0), (2, 1.2), (4, 1))]
    (found,) = plateaus(unknown)
    assert found.value == (1.0, 1.0, 1.2)
    assert plateaus([(size, each._replace(value=1.3 if size == 2 else 1.0))
                     for size, each in unknown]) == ()  # fmt: skip


# --- peers ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("count", "is_judged"), [(4, False), (5, True)])
def test_five_peers_tell_what_is_usual(count: int, is_judged: bool) -> None:
    values = [1.0] * (count - 1) + [2.0]
    pairs = [RankPair(2 * n, 2 * n + 1, "l3", exact(value)) for n, value in enumerate(values)]
    assert len(odd_pairs(clusters(pairs, ("l3",)))) == is_judged
    assert len(odd_ones({str(n): exact(value) for n, value in enumerate(values)})) == is_judged
    ring = [RankPair(a, b, "l3", exact(2.0 if a == 0 else 1.0))
            for a in range(count) for b in range(a + 1, count)]  # fmt: skip
    assert [each.rank for each in odd_ranks(clusters(ring, ("l3",)))] == [0] * is_judged


@pytest.mark.parametrize(("value", "is_odd"), [(1.0741, False), (1.0742, True)])
def test_peers_that_scatter_forgive_five_deviations(value: float, is_odd: bool) -> None:
    """The median distance from the median is 0.01: 1 + 5 · 1.4826 · 0.01 is 1.07413."""
    values = [0.99] * 7 + [1.0] + [1.01] * 6 + [value]
    assert len(odd_ones({str(n): exact(each) for n, each in enumerate(values)})) == is_odd


@pytest.mark.parametrize(("value", "is_odd"), [(1.49, False), (1.51, True)])
def test_peers_with_wide_intervals_forgive_five_errors(value: float, is_odd: bool) -> None:
    usual = {str(n): Estimate(1.0, 0.9, 1.1) for n in range(9)}
    assert len(odd_ones(usual | {"odd": exact(value)})) == is_odd


@pytest.mark.parametrize(("slow", "is_odd"), [(1.0741, False), (1.0743, True)])
def test_ranks_that_scatter_forgive_five_deviations(slow: float, is_odd: bool) -> None:
    """Each rank has a pair of its own level, with an unseen partner beside it."""
    values = [0.99] * 7 + [1.0] + [1.01] * 6 + [slow]
    pairs = [RankPair(n, n, "l3", exact(each)) for n, each in enumerate(values)]
    found = odd_ranks(clusters(pairs, ("l3",)))
    assert [(each.rank, each.ratio) for each in found] == [(14, slow)] * is_odd


@pytest.mark.parametrize(("slow", "is_odd"), [(1.49, False), (1.51, True)])
def test_ranks_whose_pairs_have_wide_intervals_forgive_five_errors(
    slow: float, is_odd: bool
) -> None:
    """Of two levels, by their own medians: what is usual at one is ten times as long."""
    values = [(n, "l3" if n % 2 else "node", 1.0) for n in range(10)] + [(10, "l3", slow)]
    pairs = []
    for rank, level, value in values:
        scale = 1.0 if level == "l3" else 10.0
        pairs.append(RankPair(rank, rank, level, Estimate(value, value - 0.1, value + 0.1)
                              .times(scale)))  # fmt: skip
    found = odd_ranks(clusters(pairs, ("l3", "node")))
    assert [each.rank for each in found] == [10] * is_odd


# --- many numbers together ------------------------------------------------------------------------
LAUNCHES = tuple(range(6))


def steady(level: float, missing: tuple[int, ...] = (), **known: float) -> SideValue:
    """Launches of which each deviates by a thousandth more."""
    kept = [n for n in LAUNCHES if n not in missing]
    values = tuple(level * (1 + n / 1000) for n in kept)
    return SideValue(Sample(values, **known), tuple(kept))  # type: ignore[arg-type]


@pytest.mark.parametrize(("with_it", "launches"), [(3, 6), (2, 5)])
def test_a_launch_with_half_of_the_numbers_counts(with_it: int, launches: int) -> None:
    numbers = [(steady(1.0), steady(2.0, () if n < with_it else (5,))) for n in range(6)]
    assert ratio_of_all(numbers, {}, {}).launches == launches


def test_errors_within_launches_are_independent_over_numbers() -> None:
    """Intervals of 0.3 and 0.4 have hypot(0.3, 0.4) / 2 in their mean. Six launches that agree
    scatter by no less, so either side has that / 1.96 / sqrt(6)."""
    side = [
        SideValue(Sample((level,) * 6, own), LAUNCHES) for level, own in ((1.0, 0.3), (5.0, 0.4))
    ]
    found = ratio_of_all([(each, each) for each in side], {}, {})
    assert found.error == pytest.approx(math.sqrt(2) * 0.25 / 1.96 / math.sqrt(6))
    assert found.log == 0


# --- verdicts -------------------------------------------------------------------------------------
def test_launches_that_agree_have_what_each_knows_itself() -> None:
    one = Sample((1.0,) * 6, 0.2)
    found = ratio(one, Sample((1.1,) * 6))
    assert found.error == pytest.approx(0.2 / 1.96 / math.sqrt(6))
    assert found.log == pytest.approx(math.log(1.1))


@pytest.mark.parametrize(("launches", "said"), [(5, "UNDECIDED"), (6, "MORE")])
def test_six_launches_are_enough_for_a_verdict(launches: int, said: str) -> None:
    (found,) = judge([Ratio(0.5, 0.01, 10, launches)])
    assert found.verdict == said
    assert found.needed == (6 if launches == 5 else None)


def test_what_only_its_count_leaves_open_needs_a_launch_more() -> None:
    """A launch far from the others was left out; by Student's test it would already differ."""
    (found,) = judge([Ratio(0.5, 0.01, 10, 6, left_out=1, least_p=0.3)])
    assert (found.verdict, found.needed, found.p) == ("UNDECIDED", 7, 0.3)


def test_what_lies_within_the_tolerance_is_the_same_even_if_it_differs() -> None:
    """log(1.05) is 0.0488; of many degrees of freedom an interval has 1.96 errors to each side."""
    inside, outside = (Ratio(0.03, error, 1e6, 6) for error in (0.009, 0.0097))
    assert judge([inside])[0].verdict == "SAME"
    assert judge([outside])[0].verdict == "MORE"
    assert judge([Ratio(-0.03, 0.0097, 1e6, 6)])[0].verdict == "LESS"
    assert judge([outside], tolerance=0.06)[0].verdict == "SAME"


# --- pairs, figures and correlations --------------------------------------------------------------
def test_a_pair_far_from_the_others_leaves_it_to_their_signs() -> None:
    """Ten of twelve pairs go up: 2 · (1 + 12 + 66) of 4096 ways have as few on one side. Both
    sides scatter too widely for a count of those below the middle."""
    first = [2.0**n for n in range(12)]
    steps = [1.1, 1.11, 1.1, 1.12, 0.99, 1.1, 1.11, 1.1, 1.12, 1.1, 0.99, 9.0]
    second = [value * step for value, step in zip(first, steps, strict=True)]
    pairs = [(n, n) for n in range(12)]
    found = ratio(Sample(tuple(first)), Sample(tuple(second)), pairs)
    assert (found.left_out, found.launches) == (1, 12)
    assert found.least_p == pytest.approx(79 / 2048)


@pytest.mark.parametrize(
    ("count", "kind", "expected"),
    [(1, "one launch", (1, math.nan, math.nan)), (2, "range", (1.5, 1, 2)), (5, "range", (3, 1, 5)),
     (6, "interval", (3.5, 1, 6)), (10, "interval", (5.5, 2, 9))],
)  # fmt: skip
def test_figures_of_launches_have_a_range_or_an_interval(
    count: int, kind: str, expected: tuple[float, ...]
) -> None:
    (row,) = figure_rows(
        Figure(n, "app", "rate", float(n + 1), "MB/s", "higher") for n in range(count)
    )
    assert (row.kind, row.numbers, row.worst) == (kind, tuple(range(count)), 1)
    assert row.value == pytest.approx(expected, nan_ok=True)


def test_of_a_figure_that_a_launch_holds_twice_the_later_counts() -> None:
    figures = [Figure(launch, "app", "t", value, "s", "lower")
               for launch, value in ((1, 5.0), (0, 2.0), (1, 4.0))]  # fmt: skip
    (row,) = figure_rows(figures)
    assert (row.values, row.numbers, row.worst) == ((2.0, 4.0), (0, 1), 4.0)
    assert row.error_words == "-33…+33 %"


def test_series_too_short_to_correlate_count_nothing() -> None:
    """Launches that go up and down by turns are opposite to their neighbours."""
    turns = [1.0, 1.1] * 4
    alone = correlation_of([turns])
    assert alone == pytest.approx(-1 + 1 / 8)
    assert correlation_of([[1.0], turns]) == correlation_of([turns, [1.0, 2.0]]) == alone
    assert correlation_of([[1.0], []]) == 0.0


def test_a_skipped_cell_is_named_by_what_its_key_has() -> None:
    assert skip_sentences([Skip(0, {"benchmark": "Alltoall"}, "no memory")]) == [
        "Alltoall left out: no memory."
    ]
    wide = Skip(0, {"benchmark": "Alltoall", "ranks": 4, "message_bytes": 8}, "no memory")
    assert skip_sentences([wide]) == ["Alltoall on 4 ranks 8 B left out: no memory."]
    assert skip_sentences([Skip(0, {}, "no memory")]) == ["a cell left out: no memory."]


def cells_of(*named: tuple[str, int, int]) -> list[Remarked]:
    return [Remarked(*each, (), 0) for each in named]


def test_a_few_cells_are_named_and_of_more_the_benchmarks() -> None:
    three = [("Bcast", 2, 8), ("Alltoall", 4, 8), ("Barrier", 2, -1)]
    assert name_cells(cells_of(*three)) == "Bcast 8 B; Alltoall on 4 ranks 8 B; Barrier"
    assert name_cells(cells_of(*three, *three)) == name_cells(cells_of(*three))
    again = cells_of(*three, ("Bcast", 2, 64))
    assert name_cells(again) == "4 cells of Bcast, Alltoall and Barrier"
    more = cells_of(*three, ("Gather", 2, 8), ("Gather", 2, 64))
    assert name_cells(more) == "5 cells of Bcast, Alltoall, Barrier and 1 more benchmark"
    more += cells_of(("Scatter", 2, 8))
    assert name_cells(more).endswith("Barrier and 2 more benchmarks")
    sizes = cells_of(*(("Bcast", 2, 1 << n) for n in range(4)))
    assert name_cells(sizes[:3]) == "Bcast 1 B, 2 B, 4 B"
    assert name_cells(sizes) == "Bcast 1 B, 2 B, 4 B and 1 more"


def test_three_values_have_a_step_with_an_error_and_two_have_none() -> None:
    """On logarithms 0, 0.1 and 1: the neighbours' standard deviation, sqrt(0.82 / 4), is larger
    than that of the rest, sqrt(0.005). Their correlation is -0.5 and 3 / 3, so the variance counts
    (1 + 0.5) / (1 - 0.5) times."""
    values = [math.exp(log) for log in (0.0, 0.1, 1.0)]
    (found,) = at_places(values, [2], 0.0)
    assert (found.place, found.ratio.launches, found.ratio.freedom) == (2, 1, 1.0)
    assert found.ratio.log == pytest.approx(0.95)
    assert found.ratio.error == pytest.approx(math.sqrt(0.82 / 4) * math.sqrt(3 * 1.5))
    assert found.undecided == "1 run on one side, 6 are needed"
    (known,) = at_places(values, [2], 1.96)
    assert known.ratio.error == pytest.approx(math.sqrt(3 * 1.5))
    (two,) = at_places(values[:2], [1], 0.0)
    assert math.isnan(two.ratio.log)


def test_levels_without_scatter_have_that_of_neighbours() -> None:
    """Of three steps between neighbours two are 0, and half of their mean square is the variance.
    Nothing tells a correlation, so it is 3 / 4, and the variance counts 1.75 / 0.25 times."""
    (found,) = at_places([1.0, 1.0, 2.0, 2.0], [2], 0.0)
    assert found.ratio.log == pytest.approx(math.log(2))
    assert found.ratio.error == pytest.approx(math.log(2) / math.sqrt(6) * math.sqrt(7))


@pytest.mark.parametrize(("before", "behind", "place"), [(6, 9, 6), (9, 6, 9), (5, 9, None)])
def test_a_step_has_six_values_on_either_side(before: int, behind: int, place: int | None) -> None:
    values = [math.exp(0.001 * (n * 7 % 5) + (0.5 if n >= before else 0.0))
              for n in range(before + behind)]  # fmt: skip
    found = shifts(values, 0.0)
    places = [each.place for each in found.steps]
    assert (place in places) if place else (before not in places)
    if place:
        assert found.verdict == "STEP"
        assert found.steps[0].ratio.estimate.value == pytest.approx(math.exp(0.5), rel=0.01)
