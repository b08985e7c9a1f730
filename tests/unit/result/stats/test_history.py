# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a machine remembers of its runs, and what a run is told of it."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.cli.main import run as main
from mpigauge.measuring.campaign.memory import Memory, rebuild
from mpigauge.model.between import (
    LEAST_LAUNCHES,
    MOST_RUNS,
    Between,
    KnownCell,
    Remembered,
    Scatter,
    cell_name,
)
from mpigauge.model.row_tables import row_tables
from mpigauge.result.stats.history import (
    STARTING_SD,
    between,
    correlation_of,
    kind_of,
    remember,
    shrunk,
)
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.order import OF_MEDIAN
from mpigauge.result.stats.remarks import machine_sentences
from mpigauge.runs.store import RunWriter, history, load
from mpigauge.show.formats.table import table_lines
from tests import cells, runs

if TYPE_CHECKING:
    from mpigauge.model.row import Row

PLACE = history.HistoryKey("a, A CPU, 2 CPUs", "mpich 5.0.2")


def made(value: float = 1e-6, seed: int = 1, launches: int = 6, spread: float = 0.02) -> list[Row]:
    """Rows of two sizes, whose launches scatter by so much around the value."""
    random = Random(seed)
    return rows(
        cells.cell(
            message_bytes=size,
            launch=number,
            time_p50_s=value * (1 + size / 1024) * math.exp(random.gauss(0, spread)),
        )
        for number in range(launches)
        for size in (8, 1024)
    )


def past(count: int, scatter: float = 0.03, conditions: str = "") -> list[Remembered]:
    random, found = Random(7), list[Remembered]()
    for number in range(count):
        value = 1e-6 * math.exp(random.gauss(0, scatter))
        when = f"2026-11-{number + 1:02d}T05:00:00Z"
        found.append(remember(made(value, number), found, conditions, when, str(number)))
    return found


# --- what earlier runs tell -----------------------------------------------------------------------
def test_a_machine_that_is_not_known_has_the_starting_value() -> None:
    found = between(made(spread=0.0), past(4))
    for row in made(spread=0.0):
        scatter = found.of(row.key)
        assert scatter is not None
        assert not scatter.is_known
        assert scatter.sd == pytest.approx(STARTING_SD)
        assert scatter.high == pytest.approx(1.96 * STARTING_SD)


def test_few_runs_that_scatter_more_than_the_starting_value_say_so() -> None:
    for scatter in between(made(), past(4, 0.5)).cells.values():
        assert not scatter.is_known
        assert scatter.runs == 4
        assert scatter.sd > 1.5 * STARTING_SD


def test_a_known_machine_has_the_scatter_of_its_runs() -> None:
    found = between(made(), past(20, 0.03))
    (scatter, _) = found.cells.values()
    assert scatter.is_known
    assert scatter.runs == 20
    assert 0.02 < scatter.sd < 0.045
    assert scatter.middle_s == pytest.approx(1e-6 * (1 + 8 / 1024), rel=0.03)
    assert not scatter.outside


def test_launches_that_agree_by_chance_know_as_little_as_others_of_their_number() -> None:
    """Of fewer than five; a single launch of the earlier runs scattered by about 2 %."""
    earlier = past(20, 0.03)
    sds = {}
    for launches in (3, 4, 5, 6):
        (scatter, _) = between(made(spread=0.0, launches=launches), earlier).cells.values()
        sds[launches] = scatter.sd
    assert sds[6] == sds[5] < sds[4] < sds[3]
    of_launch = math.sqrt(4 * (sds[4] ** 2 - sds[5] ** 2))
    assert of_launch == pytest.approx(0.02 * OF_MEDIAN, rel=0.5)
    assert math.sqrt(3 * (sds[3] ** 2 - sds[5] ** 2)) == pytest.approx(of_launch)


def test_two_earlier_runs_are_counted_though_they_tell_no_middle() -> None:
    for count in (0, 1, 2, 3):
        for scatter in between(made(), past(count)).cells.values():
            assert scatter.runs == count
            assert math.isnan(scatter.middle_s)


def test_it_is_never_narrower_than_the_run_itself_supports() -> None:
    quiet, noisy = (between(made(spread=s), past(20, 0.01)) for s in (0.01, 0.3))
    assert min(each.sd for each in noisy.cells.values()) > 0.3 / math.sqrt(6) / 2
    assert max(each.sd for each in quiet.cells.values()) < 0.03


def weighted_median(values: Any, weights: Any) -> float:
    order = np.argsort(values)
    reached = np.cumsum(np.asarray(weights)[order])
    return float(np.asarray(values)[order][np.searchsorted(reached, reached[-1] / 2)])


LOGS = (0.00, 0.02, -0.03, 0.01, 0.30, -0.01, 0.05, 0.03, -0.02)
"""Of nine earlier runs, of which one was far off."""


@pytest.mark.parametrize("error", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("far", [0.0, 0.1, 1.0, -1.0])
def test_the_scatter_of_one_cell_is_as_its_page_says(error: float, far: float) -> None:
    """Written out: half the weight after eight runs, 2.5 times what is usual at most, the own error
    of earlier runs out and this run's in, at least a tenth of the square left."""
    (row, _) = made(1e-6 * math.exp(far))
    name = cell_name(row.key)
    now = remember([row], []).cells[name]
    middle_log = math.log(row.cell.time_p50_s) - far
    earlier = [
        Remembered("", str(n), "", 0.0, {name: KnownCell(now.kind, middle_log + log, error, 6)})
        for n, log in enumerate(LOGS)
    ]
    weights = 0.5 ** (np.arange(len(LOGS))[::-1] / 8)
    middle = weighted_median(LOGS, weights)
    apart = np.abs(np.array(LOGS) - middle) * math.sqrt(9 / 8)
    kept = np.minimum(apart, 2.5 * 1.4826 * weighted_median(apart, weights))
    scatter = math.sqrt(np.average(kept**2, weights=weights))
    own = remember([row], earlier).cells[name].error
    sd = math.sqrt(max(scatter**2 - error**2, scatter**2 / 10) + own**2)
    of_middle = scatter * OF_MEDIAN / math.sqrt(weights.sum() ** 2 / (weights**2).sum())
    away = middle - far
    found = between([row], earlier).of(row.key)
    assert found is not None
    assert found.sd == pytest.approx(sd)
    assert found.low == pytest.approx(min(-1.96 * sd, away - 1.5 * of_middle), rel=1e-4)
    assert found.high == pytest.approx(max(1.96 * sd, away + 1.5 * of_middle), rel=1e-4)
    assert found.middle_s == pytest.approx(math.exp(middle_log + middle))
    assert found.outside == (abs(away) > 3 * math.hypot(sd, of_middle))
    assert found.runs == len(LOGS)


@pytest.mark.parametrize("count", [2, 3, 4, 6, 9])
def test_the_own_error_of_a_run_is_that_of_a_median_of_launches_that_are_alike(count: int) -> None:
    """By half the cell's own scatter and by half that of all cells of its kind; neighbours' effect
    on a mean: 1 + 2 Σ (1 - k/n) r^k."""
    measured = made(launches=count, seed=3)
    stored = remember(measured, [])
    alike = shrunk(stored.correlation, [])

    def spread(rows: list[Row]) -> float:
        logs = [np.log(row.values_s) for row in rows]
        apart = np.concatenate([np.abs(each - np.median(each)) for each in logs])
        return float(1.4826 * np.median(apart) * math.sqrt(count / (count - 1)))

    longer = 1 + 2 * sum((1 - k / count) * alike**k for k in range(1, count))
    for row in measured:
        both = math.sqrt((spread([row]) ** 2 + spread(measured) ** 2) / 2)
        if count >= LEAST_LAUNCHES:
            error = stored.cells[cell_name(row.key)].error
            assert error == pytest.approx(OF_MEDIAN * both * math.sqrt(longer / count))
        else:
            assert cell_name(row.key) not in stored.cells


def test_a_run_in_another_state_is_outside_and_reaches_to_the_usual_one() -> None:
    found = between(made(value=1.5e-6), past(12, 0.01))
    for scatter in found.cells.values():
        assert scatter.outside
        assert scatter.low < -math.log(1.5) + 0.02
        assert scatter.high < 0.1


def test_few_launches_that_agree_by_chance_know_no_more_than_few() -> None:
    two = between(made(launches=2, spread=0.0), past(12, 0.001))
    six = between(made(launches=6, spread=0.0), past(12, 0.001))
    for name, scatter in two.cells.items():
        assert scatter.sd > six.cells[name].sd


def test_one_launch_on_an_unknown_machine_says_nothing() -> None:
    assert between(made(launches=1), []).cells == {}
    assert between(made(launches=1), past(6)).cells


def test_cells_under_other_conditions_are_other_cells_of_the_same_kind() -> None:
    found = between(made(), past(12, conditions="tcp"), conditions="shm")
    for scatter in found.cells.values():
        assert scatter.is_known
        assert math.isnan(scatter.middle_s)


def test_a_kind_that_no_run_has_is_not_known_by_others() -> None:
    """Runs of one kind that agree to 1 % say nothing of another; where they scatter more than the
    starting value, that is the least to be expected."""
    collectives = rows(
        cells.cell("Bcast", sync="clock", launch=number, time_p50_s=1e-6) for number in range(6)
    )
    for scatter, least in ((0.01, STARTING_SD), (0.4, 0.2)):
        found = between([*made(), *collectives], past(12, scatter))
        *_, other = found.cells.values()
        assert not other.is_known
        assert other.runs == 0
        assert other.sd >= least
        small, *_ = found.cells.values()
        assert small.is_known


def test_cells_that_are_not_known_are_named_beside_others() -> None:
    small, large = made()
    known = replace(small, scatter=Scatter(0.02, -0.04, 0.04, 9))
    new = replace(large, scatter=Scatter(0.08, -0.16, 0.16, 2))
    (said,) = machine_sentences([known, new])
    assert said.startswith("This machine is not known yet for PingPong 1 KiB (2 earlier runs of")
    (said,) = machine_sentences([new])
    assert said.startswith("This machine is not known yet (2 earlier runs of")


def test_later_runs_count_more() -> None:
    calm, wild = past(12, 0.005), past(12, 0.1)
    after = [*calm, *(replace(run, name=f"w{run.name}") for run in wild)]
    before = [*(replace(run, name=f"w{run.name}") for run in wild), *calm]
    now_wild, now_calm = (between(made(), each) for each in (after, before))
    for name, scatter in now_wild.cells.items():
        assert scatter.sd > now_calm.cells[name].sd


def test_neither_classic_nor_imported_nor_wrong_rows_are_remembered() -> None:
    def kept(launches: int = 6, **changed: Any) -> int:
        found = rows(cells.cell(launch=number, **changed) for number in range(launches))
        return len(remember(found, []).cells)

    assert kept() == kept(launches=2) == 1
    assert kept(launches=1) == 0
    assert kept(mode="classic") == kept(origin="imported") == kept(wrong_count=1) == 0


def test_kinds_of_cells() -> None:
    assert kind_of(cells.cell(message_bytes=8)) == "small"
    assert kind_of(cells.cell(message_bytes=1 << 20)) == "large"
    assert kind_of(cells.cell("Bcast", sync="clock", message_bytes=8)) == "collective"
    assert kind_of(cells.cell("Read", suite="NODE", message_bytes=8)) == "node"


# --- launches that follow each other --------------------------------------------------------------
def test_correlation_is_estimated_over_all_cells() -> None:
    random = Random(3)
    apart = [[math.exp(random.gauss(0, 0.05)) for _ in range(8)] for _ in range(200)]
    assert abs(correlation_of(apart)) < 0.1
    alike = []
    for _ in range(200):
        state, series = 0.0, []
        for _ in range(8):
            state = 0.8 * state + random.gauss(0, 0.05)
            series.append(math.exp(state))
        alike.append(series)
    assert correlation_of(alike) > 0.3
    assert correlation_of([[1.0, 1.1, 1.0]]) == 0.0


def test_the_correlation_of_neighbours_is_raised_by_the_length_of_a_series() -> None:
    """Written out for two series; one of three launches is too short to tell."""
    series = [(1.00, 1.01, 1.03, 1.02, 1.05, 0.98), (2.0, 2.1, 2.05, 2.2), (1.0, 9.0, 1.0)]
    together = alone = 0.0
    for values in series[:2]:
        logs = np.log(values)
        apart = logs - np.median(logs)
        steps = np.clip(apart / (1.4826 * np.median(np.abs(apart))), -2.5, 2.5)
        steps -= steps.mean()
        together += (steps[1:] * steps[:-1]).sum() * len(values) / (len(values) - 1)
        alone += (steps**2).sum()
    assert correlation_of(series) == pytest.approx(together / alone + 2 / 10)
    assert correlation_of(series[2:]) == 0.0
    assert correlation_of([(1.0,) * 6]) == 0.0


def test_earlier_correlations_count_by_half_after_eight_runs() -> None:
    """This run's once, 0.2 as if that were two runs, and never more than 0.8."""
    runs_before = [Remembered("", "", "", value, {}) for value in (0.6, *[0.0] * 7, 0.3)]
    weights = 0.5 ** (np.arange(9)[::-1] / 8)
    whole = 0.5 + 2 * 0.2 + 0.6 * weights[0] + 0.3 * weights[8]
    assert shrunk(0.5, runs_before) == pytest.approx(whole / (3 + weights.sum()))
    assert shrunk(-5.0, []) == 0.0
    assert shrunk(9.0, []) == 0.8
    assert shrunk(0.5, []) == pytest.approx(0.9 / 3)


def test_few_launches_are_shrunk_to_what_the_machine_showed() -> None:
    assert 0 < shrunk(0.0, []) < 0.2
    assert shrunk(-1.0, []) == 0.0
    alike = [replace(run, correlation=0.6) for run in past(10)]
    assert shrunk(0.0, alike) > 0.35


def test_the_interval_of_the_run_is_widened_by_the_correlation() -> None:
    measured = [row.cell for row in made()]
    alone = rows(cells.cell(launch=i, time_p50_s=t * 1e-6) for i, t in enumerate(range(10, 16)))
    wide = rows(
        (cells.cell(launch=i, time_p50_s=t * 1e-6) for i, t in enumerate(range(10, 16))),
        between=Between(0, 0.5),
    )
    assert measured
    (one,), (two,) = alone, wide
    assert math.log(two.high_s / 12.5e-6) == pytest.approx(
        math.sqrt(3) * math.log(one.high_s / 12.5e-6)
    )
    assert 0 < two.low_s < one.low_s


# --- what is stored -------------------------------------------------------------------------------
def test_statements_survive_being_stored() -> None:
    found = between(made(), past(12))
    assert Between.from_json(json.loads(json.dumps(found.to_json()))) == found
    for damaged in ({}, {"runs": 1, "correlation": 0.1, "cells": 3},
                    {"runs": 1, "correlation": math.inf, "cells": {}},
                    {"runs": 1, "correlation": 0, "cells": {"a": {"sd": "x"}}}):  # fmt: skip
        with pytest.raises(ValueError, match="no"):
            Between.from_json(damaged)


def test_a_history_is_read_as_it_was_written_and_is_bounded(tmp_path: Path) -> None:
    for run in past(MOST_RUNS + 3):
        history.add(tmp_path, PLACE, replace(run, when=f"2026-{int(run.name):04d}"))
    found = history.read(tmp_path, PLACE)
    assert [run.name for run in found] == [str(n) for n in range(3, MOST_RUNS + 3)]
    history.add(tmp_path, PLACE, replace(found[-1], correlation=0.25))
    again = history.read(tmp_path, PLACE)
    assert len(again) == MOST_RUNS
    assert again[-1].correlation == 0.25
    many = {str(n): KnownCell("small", 0.0, 0.1, 6) for n in range(3000)}
    history.add(tmp_path, PLACE, replace(found[-1], cells=many))
    assert len(history.read(tmp_path, PLACE)[-1].cells) == history.MOST_CELLS


def test_a_file_of_the_history_written_out(tmp_path: Path) -> None:
    early, late = (replace(past(1)[0], name=name, when=when) for name, when in ("ba", "ab"))
    root = tmp_path / "new" / "folder"
    for run in (late, early):
        history.add(root, PLACE, run)
    text = (root / PLACE.file_name).read_text()
    assert json.loads(text) == {
        "schema": 1, "machine": PLACE.machine, "mpi": PLACE.mpi,
        "runs": [early.to_json(), late.to_json()],
    }  # fmt: skip
    assert text.count("\n") == 1
    assert ", " not in text.replace(PLACE.machine, "")
    few = {str(n): KnownCell("small", 0.0, 0.1, 6) for n in range(history.MOST_CELLS + 1)}
    history.add(root, PLACE, replace(early, cells=few))
    assert list(history.read(root, PLACE)[0].cells) == list(few)[:-1]


def test_places_are_listed_by_machine_and_mpi(tmp_path: Path) -> None:
    places = [history.HistoryKey(*words) for words in ("ab", "aa", "ba", "ca")]
    for place in places:
        history.add(tmp_path, place, past(1)[0])
    (tmp_path / "damaged.json").write_text("{")
    (tmp_path / "other.txt").write_text("{}")
    found = history.histories(tmp_path)
    assert [each.place for each in found] == [places[1], places[0], *places[2:]]
    assert [each.path for each in found] == [tmp_path / each.place.file_name for each in found]
    history.clear(found[1:])
    assert history.histories(tmp_path) == found[:1]
    history.clear(found)  # one of them is gone already


def test_runs_that_end_at_once_are_all_remembered(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda run: history.add(tmp_path, PLACE, run), past(16)))
    assert len(history.read(tmp_path, PLACE)) == 16


def test_a_damaged_history_is_empty_and_is_written_anew(tmp_path: Path) -> None:
    huge = replace(past(1)[0], cells={"a": KnownCell("small", 1e308, 0.01, 6)}).to_json()
    texts = ["{", "[]", '{"schema": 99}', '{"schema": 1, "runs": [{"when": 1}, 3]}']
    for text in (*texts, '{"schema": 1, "runs": 5}', json.dumps({"schema": 1, "runs": [huge]})):
        (tmp_path / PLACE.file_name).write_text(text)
        assert history.read(tmp_path, PLACE) == ()
    history.add(tmp_path, PLACE, past(1)[0])
    assert len(history.read(tmp_path, PLACE)) == 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [*(({"MPIGAUGE_HISTORY": word}, None) for word in ("off", " OFF ", "0", "no", "None")),
     ({"MPIGAUGE_HISTORY": "/x"}, Path("/x")),
     ({"MPIGAUGE_HISTORY": "~/x"}, Path.home() / "x"),
     ({"MPIGAUGE_HISTORY": "x"}, Path.cwd() / "x"),
     ({"XDG_DATA_HOME": "/d"}, Path("/d/mpigauge/history")),
     ({"XDG_DATA_HOME": "~/d"}, Path.home() / "d/mpigauge/history"),
     ({"XDG_DATA_HOME": ""}, Path.home() / ".local/share/mpigauge/history")],
)  # fmt: skip
def test_where_it_is(environment: dict[str, str], expected: Path | None) -> None:
    assert history.folder(environment) == expected


def test_it_names_nothing_but_the_machine_and_the_mpi(tmp_path: Path) -> None:
    found = rows(cells.cell(launch=i, directory="/home/ann/x", arm="SECRET=1") for i in range(6))
    history.add(tmp_path, PLACE, remember(found, []))
    text = (tmp_path / PLACE.file_name).read_text()
    assert PLACE.machine in text
    assert not any(word in text for word in ("ann", "SECRET", "PingPong"))


# --- places ---------------------------------------------------------------------------------------
def test_places() -> None:
    machine = {"machine": {"hostname": "n1", "cpu_model": "A CPU", "pus": [1, 2]}}
    mpi = {"name": "mpich", "version": "5.0.2", "abi": "mpich"}

    def place(hosts: list[str], **more: object) -> history.HistoryKey | None:
        blocks = [{"host": host, "hostname": host} for host in hosts]
        return history.place_of(
            {"plan": {"parts": [{"blocks": blocks}]}, "mpi": mpi} | more, machine
        )

    assert place([]) == history.HistoryKey("n1, A CPU, 2 CPUs", "mpich 5.0.2")
    assert place(["n17", "n18"]) == place(["n101", "n44"])
    assert place(["n17", "n18"]) != place(["n17", "n18", "n19"])
    assert place(["n17"]) != place(["n18"])
    assert place([], imported={"source": "x"}) is None


def test_places_written_out() -> None:
    machine = {"hostname": "login", "cpu_model": "A CPU", "pus": [1]}

    def place(blocks: object, about: object = machine, **mpi: str) -> history.HistoryKey | None:
        head = {"plan": {"parts": [{"blocks": blocks}]}, "mpi": {"name": "mpich"} | mpi}
        return history.place_of(head, {"machine": about})

    def on(*names: str) -> str:
        found = place([{"host": name} for name in names])
        assert found is not None
        return found.machine.removesuffix(", A CPU, 1 CPU")

    assert on() == on("login") == "login"
    assert on("a", "a") == "a"
    assert on("n17.x.org") == "n17.x.org"
    assert on("n17.x.org", "n18.x.org") == "2 hosts n#"
    assert on("n1", "m2", "login", "n3") == "4 hosts login, m#, n#"
    named = place([{"host": "10.0.0.1", "hostname": "n1"}, {"hostname": "no"}, {"host": ""}])
    assert named == history.HistoryKey("n1, A CPU, 1 CPU", "mpich")
    assert place([], {"hostname": "a"}) == history.HistoryKey("a", "mpich")
    assert place([], {"hostname": "a", "pus": "0-3"}) == history.HistoryKey("a", "mpich")
    standard = place([], {"hostname": "a"}, version="5.0", abi="std")
    assert standard == history.HistoryKey("a", "mpich 5.0 (standard ABI)")
    for about in ({}, {"hostname": ""}, "damaged"):
        assert place([], about) is None
    assert place([], name="") is None
    assert history.place_of({}, {"machine": {"hostname": "a"}}) is None


def test_a_place_has_a_file_of_its_own() -> None:
    others = {PLACE, replace(PLACE, machine="b"), replace(PLACE, mpi="mpich 4")}
    names = {place.file_name for place in others}
    assert len(names) == 3
    assert all(len(Path(name).stem) == 16 and Path(name).suffix == ".json" for name in names)


PART: dict[str, Any] = {"world_ranks": 2, "blocks": [{"bind": ["0"]}, {"bind": ["1"]}]}
CONDITIONS: dict[str, Any] = {
    "version": "1",
    "transport": {"name": "tcp"},
    "tuned": {"sha256": "abc"},
    "plan": {"parts": [PART], "settings": {"A": "1"}, "env": {"B": "1"}, "launcher": "hydra",
             "bound_by": "us", "oversubscribe": False, "cache_bytes": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [{"version": "2"}, {"transport": {"name": "shm"}}, {"tuned": {"sha256": "abd"}}, {"tuned": {}},
     *({"plan": {name: "other"}} for name in CONDITIONS["plan"]),
     {"plan": {"parts": [PART | {"world_ranks": 4}]}},
     {"plan": {"parts": [PART | {"blocks": [{"bind": ["0"]}]}]}}],
)  # fmt: skip
def test_each_condition_makes_other_conditions(changed: dict[str, Any]) -> None:
    header = CONDITIONS | changed
    if "plan" in changed:
        header["plan"] = CONDITIONS["plan"] | changed["plan"]
    assert history.conditions_of(header) != history.conditions_of(CONDITIONS)
    assert len(history.conditions_of(header)) == 16


def test_neither_order_nor_repetition_of_seats_makes_other_conditions() -> None:
    parts = [PART | {"blocks": PART["blocks"][::-1], "benchmarks": ["Bcast"]}, PART]
    again = CONDITIONS | {"plan": CONDITIONS["plan"] | {"parts": parts}, "created": "today"}
    assert history.conditions_of(again) == history.conditions_of(CONDITIONS)


def test_a_run_has_one_name_by_its_date_and_seed() -> None:
    header = {"created": "2026-11-01", "plan": {"seed": 7}}
    name = history.name_of_run(header)
    assert len(name) == 16
    assert name == history.name_of_run(header | {"version": "2"})
    assert name != history.name_of_run(header | {"created": "2026-11-02"})
    assert name != history.name_of_run(header | {"plan": {"seed": 8}})


def test_conditions_are_those_that_move_values() -> None:
    plan = {"settings": {}, "env": {}, "parts": [{"world_ranks": 2, "blocks": [{"bind": ["0"]}]}]}
    usual = history.conditions_of({"version": "1", "plan": plan})
    assert usual == history.conditions_of({"version": "1", "plan": plan | {"precision": 0.1}})
    assert usual != history.conditions_of({"version": "2", "plan": plan})
    assert usual != history.conditions_of({"version": "1", "plan": plan | {"env": {"A": "1"}}})
    moved = plan | {"parts": [{"world_ranks": 2, "blocks": [{"bind": ["1"]}]}]}
    assert usual != history.conditions_of({"version": "1", "plan": moved})


# --- runs -----------------------------------------------------------------------------------------
def stored(folder: Path, day: int, value: float = 1e-6) -> Path:
    launches = (runs.cell(n, time_p50_s=value * (1 + n / 100)) for n in range(6))
    return runs.write(
        folder, [runs.launch(), *launches], header={"created": f"2026-11-{day:02d}T05:00:00Z"}
    )


def test_a_run_knows_the_runs_before_it_and_never_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    folders = [stored(tmp_path / f"run-{day}", day, 1e-6 + day * 1e-8) for day in range(1, 9)]
    assert len(rebuild(tmp_path / "history", map(load, folders))) == 8
    assert len(rebuild(tmp_path / "history", map(load, folders))) == 8
    assert len(Memory(folders[0]).earlier) == 0
    assert len(Memory(folders[6]).earlier) == 6
    (kept,) = history.histories(tmp_path / "history")
    assert len(kept.runs) == 8
    history.clear([kept])
    assert history.histories(tmp_path / "history") == []
    assert kept.path.with_suffix(".lock").exists()  # somebody may wait for it


def test_a_classic_run_uses_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    folders = [stored(tmp_path / f"run-{day}", day) for day in (1, 2)]
    rebuild(tmp_path / "history", [load(folders[0])])
    assert len(Memory(folders[1]).earlier) == 1
    header = json.loads((folders[1] / "run.json").read_text())
    header["plan"] = {**(header.get("plan") or {}), "mode": "classic"}
    (folders[1] / "run.json").write_text(json.dumps(header))
    assert Memory(folders[1]).earlier == ()


def test_what_was_used_is_written_into_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    folders = [stored(tmp_path / f"run-{day}", day, 1e-6 + day * 1e-8) for day in range(1, 9)]
    rebuild(tmp_path / "history", map(load, folders[:-1]))
    memory = Memory(folders[-1])
    with RunWriter.resume(folders[-1]) as writer:
        memory.end(writer, rows(load(folders[-1]).cells))
    (kept,) = history.histories(tmp_path / "history")
    assert len(kept.runs) == 8
    found = load(folders[-1]).between
    assert found is not None
    (row,) = rows(load(folders[-1]).cells, None, found)
    assert row.scatter is not None
    assert row.scatter.runs == 7
    assert row.machine_error > 0.02
    assert found.remark == ""
    history.clear([kept])
    (again,) = rows(load(folders[-1]).cells, None, load(folders[-1]).between)
    assert again.scatter == row.scatter


@pytest.mark.parametrize("value", ["off", "file"])
def test_a_run_without_history_says_nothing_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """A file where the folder should be stands for any disk that cannot be written."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(history.SWITCH, "off" if value == "off" else str(tmp_path / "file"))
    folder = stored(tmp_path / "run", 1)
    with RunWriter.resume(folder) as writer:
        Memory(folder).end(writer, rows(load(folder).cells))
    found = load(folder).between
    assert found is not None
    assert bool(found.cells) == (value == "file")
    assert ("cannot be remembered in" in found.remark) == (value == "file")


def test_a_damaged_statement_is_named(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run", 1)
    (folder / "history.json").write_text('{"runs": "x"}')
    run = load(folder)
    assert run.between is None
    assert f"{folder / 'history.json'} is damaged and left out" in run.damaged
    far = Between(1, 0.2, {"a": Scatter(0.1, -0.2, 1e308)}).to_json()
    (folder / "history.json").write_text(json.dumps(far))
    assert load(folder).between is None, "no end of an interval is e to that power"


@pytest.mark.parametrize("parts", [5, [5], [{"blocks": 5}], [{"blocks": ["a"]}]])
def test_runs_with_a_damaged_plan_can_be_remembered(tmp_path: Path, parts: object) -> None:
    folder = stored(tmp_path / "run", 1)
    header = json.loads((folder / "run.json").read_text()) | {"plan": {"parts": parts}}
    (folder / "run.json").write_text(json.dumps(header))
    assert len(rebuild(tmp_path / "history", [load(folder)])) == 1


def test_names_of_cells_tell_nothing() -> None:
    key = cells.cell(directory="/home/ann").key
    assert len(cell_name(key)) == 16
    assert cell_name(key) != cell_name(cells.cell().key)
    assert Scatter(0.1, -0.2, 0.2).is_known is False


# --- commands -------------------------------------------------------------------------------------
def test_commands_list_clear_and_rebuild(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    root = tmp_path / "runs"
    for day in range(1, 7):
        stored(root / f"run-{day}", day)
    runs.write(root / "few")
    assert main(["history", "list"]) == 0
    assert "no runs are in the history" in capsys.readouterr().err
    assert main(["history", "rebuild", str(root)]) == 0
    assert "6 of 7 runs are in the history now" in capsys.readouterr().out
    assert main(["history", "list"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "mpich 5.0.2" in line]
    assert "a, A CPU" in line
    assert "2026-11-01 to 2026-11-06" in line
    assert line.endswith("yes")
    assert main(["history", "clear", "--mpi", "openmpi"]) == 2
    assert "the history has no match; there are a, A CPU" in capsys.readouterr().err
    assert main(["history", "clear"]) == 0
    assert "forgotten: a, A CPU, mpich 5.0.2 (6 runs)" in capsys.readouterr().out
    assert history.histories(tmp_path / "history") == []


def test_commands_say_that_it_is_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "list"]) == 2
    assert "switched off by MPIGAUGE_HISTORY" in capsys.readouterr().err


def test_an_option_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from mpigauge.commands.run import command

    monkeypatch.setenv(history.SWITCH, "/somewhere")
    command.make_context("run", ["PingPong", "--no-history"])
    assert history.folder() is None


# --- what is shown --------------------------------------------------------------------------------
def shown(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["show", str(folder), "--format", form]) == 0
    return capsys.readouterr().out


def test_both_statements_are_shown_in_all_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    folders = [stored(tmp_path / f"run-{day}", day, 1e-6 + day * 1e-8) for day in range(1, 10)]
    imb = shown(folders[-1], "imb", capsys)
    rebuild(tmp_path / "history", map(load, folders[:2]))
    finish(folders[2])
    rebuild(tmp_path / "history", map(load, folders[3:-1]))
    finish(folders[-1])
    monkeypatch.setenv(history.SWITCH, "off")
    new, known = (shown(folders[n], "table", capsys) for n in (2, -1))
    assert "± machine" in new
    assert "± machine" in known
    assert main(["show", str(folders[2]), "--remarks"]) == 0
    remarks = " ".join(capsys.readouterr().out.split())
    assert "This machine is not known yet (2 earlier runs of the 5" in remarks
    assert main(["show", str(folders[-1]), "--remarks"]) == 0
    assert "not known yet" not in capsys.readouterr().out
    assert max(len(line) for line in known.splitlines() if str(tmp_path) not in line) <= 80
    (row,) = json.loads(shown(folders[-1], "json", capsys))["rows"]
    assert row["machine_low_s"] < row["time_p50_s"] < row["machine_high_s"]
    assert row["machine_runs"] == 8
    assert row["machine_outside"] is False
    assert "machine_low_s" in shown(folders[-1], "csv", capsys).splitlines()[0]
    assert shown(folders[-1], "imb", capsys) == imb


def finish(folder: Path) -> None:
    memory = Memory(folder)
    with RunWriter.resume(folder) as writer:
        memory.end(writer, rows(load(folder).cells))
        writer.finish("done")


def test_a_run_outside_of_what_the_machine_has_shown_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    folders = [stored(tmp_path / f"run-{day}", day, 1e-6 + day * 1e-9) for day in range(1, 10)]
    rebuild(tmp_path / "history", map(load, folders))
    odd = stored(tmp_path / "odd", 11, 1.7e-6)
    finish(odd)
    text = " ".join(shown(odd, "table", capsys).split())
    assert "Outside of what this machine has shown, PingPong 8 B: 1.69 times as long" in text


@pytest.mark.parametrize("launches", [2, 5])
def test_a_range_is_not_shown_as_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], launches: int
) -> None:
    several = (runs.cell(n, time_p50_s=1e-6 * (1 + n / 10)) for n in range(launches))
    folder = runs.write(tmp_path / "run", [runs.launch(), *several])
    text = shown(folder, "table", capsys)
    assert f"range of {launches}" in text
    (head,) = [line for line in text.splitlines() if "bytes" in line and "samples" in line]
    assert "range" in head
    assert "±" not in head
    assert "…+" in text
    (row,) = json.loads(shown(folder, "json", capsys))["rows"]
    assert row["ci_low_s"] is row["ci_high_s"] is row["latency_low_s"] is None
    assert (row["range_low_s"], row["range_high_s"]) == (1e-6, 1e-6 * (1 + (launches - 1) / 10))


@pytest.mark.parametrize("launches", [3, 6])
@pytest.mark.parametrize("benchmark", ["Sendrecv", "Iallreduce"])
def test_tables_with_both_statements_fit_on_80_columns(benchmark: str, launches: int) -> None:
    beside = {"time_pure_s": 1e-3, "time_cpu_s": 1e-3, "overlap_ratio": 0.5}
    more = beside | {"overlap_low_ratio": 0.25, "overlap_high_ratio": 0.75}
    measured = [
        cells.cell(benchmark, message_bytes=size, launch=n, time_p50_s=1e-3 * (1 + n / 30),
                   moved_bytes=float(size), flags=["tainted", "drift", "bimodal"],
                   **(more if benchmark == "Iallreduce" else {}))
        for n in range(launches) for size in (8, 4096, 262144, 1 << 22)
    ]  # fmt: skip
    card = replace(cells.cards().benchmarks[0], name=benchmark,
                   columns="overlap" if benchmark == "Iallreduce" else "parallel")  # fmt: skip
    known = between(rows(measured), [])
    (table,) = row_tables(rows(measured, 0.05, known), replace(cells.cards(), benchmarks=(card,)))
    lines = table_lines(table)
    assert any("± machine" in line for line in lines)
    assert max(map(len, lines)) <= 80
