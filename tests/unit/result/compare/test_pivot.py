# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--pivot: sizes down, and placements, settings or runs across."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import geometric_mean
from typing import Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.model.cards import joined
from mpigauge.model.errors import UserError
from mpigauge.model.row import Row
from mpigauge.model.screen import Screen
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.compare.pivot import Pivot, pivot
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.show.pivoted import markup, text
from mpigauge.show.pivoted.names import in_lines, short_names
from mpigauge.show.pivoted.words import tables_of
from tests import cells, runs

PRINTED = Path(__file__).parents[3] / "golden/printed"
SIZES = (8, 1024, 8192, 65536, 1 << 20)
NUMBERS = re.compile(r"^\s*(\d+)\s+\d+((?:\s+\d+\.\d+)+)\s*$")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def made(factor: float = 1.0, seed: int = 1, launches: int = 6, **columns: Any) -> list[Row]:
    """Rows of PingPong at all sizes, which scatter by 1 %."""
    random = Random(seed)
    sizes = columns.pop("sizes", SIZES)
    return rows_of(
        cells.cell(
            launch=launch,
            message_bytes=size,
            time_p50_s=2e-6 * factor * (1 + size / 8e3) * random.gauss(1, 0.01),
            **columns,
        )
        for launch in range(launches)
        for size in sizes
    )


def side(name: str, rows: Sequence[Row]) -> Side:
    return Side(name, items(rows))


def three() -> Pivot:
    """B is faster than A, C slower."""
    return pivot([side("A", made()), side("B", made(0.8, 2)), side("C", made(1.5, 3))])


def words(found: Pivot, screen: Screen | None = None) -> str:
    return text.render(tables_of(found, cells.cards()), screen=screen or Screen())


# --- the tables that authors made by hand ---------------------------------------------------------
def printed(file: str, column: int = 0) -> dict[int, float]:
    """Sizes and times in µs, as they stand in the text; of collectives the slowest rank's."""
    lines = (PRINTED / f"{file}.txt").read_text(encoding="utf-8").splitlines()
    found = (match for line in lines if (match := NUMBERS.match(line)))
    return {int(match[1]): float(match[2].split()[column]) for match in found}


def fitted(file: str) -> dict[int, float]:
    """The same of ping_pong, which prints the observed time behind the size."""
    lines = (PRINTED / f"{file}.txt").read_text(encoding="utf-8").splitlines()
    parts = (line.split() for line in lines if re.match(r"^\s+\d+\.\s", line))
    return {int(float(each[0])): float(each[1]) for each in parts}


def imported(files: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What one command makes of these texts."""
    paths = [str(PRINTED / f"{file}.txt") for file in files]
    assert cli(["import", *paths, "--apart", "--pivot", "setting", "--format", "json"]) == 0
    tables: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["tables"]
    return tables


def times(table: dict[str, Any]) -> dict[str, dict[int, float]]:
    """In µs, by the column and the size."""
    found: dict[str, dict[int, float]] = {name: {} for name in table["columns"]}
    for line in table["lines"]:
        for name, number in line["numbers"].items():
            found[name][line["message_bytes"]] = number["value"] * 1e6
    return found


def same(found: dict[int, float], told: dict[int, float]) -> bool:
    return found.keys() == told.keys() and all(found[n] == pytest.approx(told[n]) for n in told)


FIVE_PLACES = ("orfeo-map-by-core", "orfeo-cpulist-0-4-partial", "orfeo-map-by-socket-partial",
               "orfeo-map-by-node-ucx-ib", "orfeo-rankfile-msglog28")  # fmt: skip
OF_JUNO = ("juno-a53-intranode", "juno-a72-intranode", "juno-intersocket", "juno-internode",
           "juno-internode-rdmasock")  # fmt: skip
OF_XEON = ("xeon-intrasocket", "xeon-intersocket", "xeon-internode-ib")
OF_BTL = ("juno-btl-sm", "juno-btl-tcp")


@pytest.mark.parametrize("files", [FIVE_PLACES, OF_JUNO, OF_XEON, OF_BTL])
def test_sizes_by_placement(files: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = imported(files, capsys)
    assert table["columns"] == list(files)
    assert table["ratio_to"] == files[0]
    for file, found in times(table).items():
        assert same(found, printed(file)), file
    first = printed(files[0])
    for file in files[1:]:
        of = printed(file)
        shared = [size for size in of if size in first]
        told = table["mean"]["ratios"][file]
        assert told["numbers"] == len(shared)
        assert told["ratio"] == pytest.approx(geometric_mean(of[n] / first[n] for n in shared))
    for line in table["lines"]:
        told = {file: printed(file).get(line["message_bytes"], math.inf) for file in files}
        several = len(line["numbers"]) > 1
        least = [file for file in files if told[file] == min(told.values())]
        assert line["best"] == (least if several else [])
        assert line["outcome"] == ("undecided" if several else "")


def test_two_mpis(capsys: pytest.CaptureFixture[str]) -> None:
    files = [f"oci-{mpi}-{of}" for of in ("pingpong-2node", "allreduce-144")
             for mpi in ("openmpi", "impi")]  # fmt: skip
    first, second = imported(files, capsys)
    assert (first["benchmark"], second["benchmark"]) == ("PingPong", "Allreduce")
    for table, columns in ((first, files[:2]), (second, files[2:])):
        assert table["columns"] == columns
        for file, found in times(table).items():
            assert same(found, printed(file, 1 if "allreduce" in file else 0)), file
    ratios = [line["numbers"][files[1]]["ratio"] for line in first["lines"]]
    assert first["mean"]["ratios"][files[1]]["ratio"] == pytest.approx(geometric_mean(ratios))


def test_ping_pong_by_cores_and_settings(capsys: pytest.CaptureFixture[str]) -> None:
    cores = ("12-13", "12-348-buffermax", "12-348-memnode", "96-180", "96-97")
    files = [f"ember-pingpong-fit-{of}" for of in cores]
    (table,) = imported(files, capsys)
    for file, (name, found) in zip(files, times(table).items(), strict=True):
        assert name.startswith(file)
        assert same(found, fitted(file)), file


COLLECTIVES = ("Bcast", "Reduce", "Scatter", "Gather", "Allreduce", "Alltoall", "Exchange",
               "Sendrecv", "Allgather")  # fmt: skip
BUFFERS = (0, 4096, 16384, 65536)


def log_of_a_sweep() -> str:
    """A job's output as the script of seed 001 makes it: IMB once with defaults, then once for each
    MPI_BUFFER_MAX. The times say which setting, benchmark and size they are of."""
    lines = ["EXEC_HOST=ember-cmp3", "MPT DEFAULTS"]
    for buffer in BUFFERS:
        lines += [f"MPI_BUFFER_MAX= {buffer}"] if buffer else []
        lines += ["#    Intel (R) MPI Benchmark Suite V3.1, MPI-1 part", ""]
        for name in COLLECTIVES:
            rule = "#" + "-" * 70
            extra = "   Mbytes/sec" if name in ("Exchange", "Sendrecv") else ""
            heads = "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
            lines += [rule, f"# Benchmarking {name}", "# #processes = 12", rule, heads + extra]
            for size in (4096, 65536, 1 << 20):
                most = time_in_log(buffer, name, size)
                cells_of = [most * 0.9, most, most * 0.95, *([size / most] if extra else [])]
                lines.append(f"{size:13}{1000:13}" + "".join(f"{c:13.2f}" for c in cells_of))
        lines.append("")
    return "\n".join(lines) + "\n"


def time_in_log(buffer: int, name: str, size: int) -> float:
    return 10 * (COLLECTIVES.index(name) + 1) + size / 100 + 3 * BUFFERS.index(buffer)


def test_nine_benchmarks_by_setting(capsys: pytest.CaptureFixture[str]) -> None:
    Path("imb12.o4711").write_text(log_of_a_sweep(), encoding="utf-8")
    words = ["import", "imb12.o4711", "--pivot", "setting"]
    assert cli([*words, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [table["benchmark"] for table in tables] == list(COLLECTIVES)
    named = ["default", *(f"MPI_BUFFER_MAX={buffer}" for buffer in BUFFERS[1:])]
    for table in tables:
        assert table["columns"] == [*named[1:], "default"]
        assert table["ratio_to"] == "default"
        for name, buffer in zip(named, BUFFERS, strict=True):
            for size, found in times(table)[name].items():
                told = time_in_log(buffer, table["benchmark"], size)
                assert found == pytest.approx(told, abs=0.006)
    assert cli(words) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^ +4096 +16384 +65536 +default$", shown, re.M)
    assert "Columns are named without “MPI_BUFFER_MAX=”." in shown


# --- the same numbers in every form ---------------------------------------------------------------
def test_the_same_numbers_in_every_form() -> None:
    files = [(file, printed(file)) for file in OF_XEON]
    sides = [
        side(
            name,
            rows_of(
                cells.cell(launch=0, message_bytes=size, time_p50_s=2e-6 * time)
                for size, time in told.items()
            ),
        )
        for name, told in files
    ]
    tables = tables_of(pivot(sides), cells.cards())
    shown = text.render(tables, screen=Screen(width=120)).splitlines()
    pasted = markup.markdown(tables).splitlines()
    for number, size in enumerate(files[0][1]):
        values = [f"{told[size]:.10g}" for _, told in files]
        line, row = tables[0].lines[number], pasted[4 + number]
        for value, cell, place in zip(values, line.numbers, range(3), strict=True):
            assert float(cell.value) == pytest.approx(float(value), rel=5e-3)
            assert cell.value in row.split("|")[2 + 2 * place - (place > 0)]
            assert cell.value in shown[2 + number + 1]
        latex = markup.latex(tables)
        assert all(cell.value in latex for cell in line.numbers)
        for cell in line.numbers[1:]:
            assert cell.ratio in row
            assert cell.ratio in shown[2 + number + 1]


def test_csv_and_json_hold_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = imported(OF_XEON, capsys)
    assert cli(["show", "last", "--pivot", "setting", "--format", "csv"]) == 0
    *rows, mean = csv.DictReader(io.StringIO(capsys.readouterr().out))
    for row, line in zip(rows, table["lines"], strict=True):
        assert int(row["message_bytes"]) == line["message_bytes"]
        for name, number in line["numbers"].items():
            assert float(row[name]) == number["value"]
            assert (row[f"{name} best"] == "1") == (name in line["best"])
            if "ratio" in number:
                assert float(row[f"{name} ratio"]) == number["ratio"]
    assert mean["of"] == "geometric mean"
    told = table["mean"]["ratios"]
    assert {name: float(mean[f"{name} ratio"]) for name in told} == {
        name: each["ratio"] for name, each in told.items()
    }


# --- which is best --------------------------------------------------------------------------------
def chosen(found: Pivot) -> list[tuple[str, set[str]]]:
    """Outcome and best columns of each line of the first table."""
    table = found.tables[0]
    return [
        (line.choice.outcome, {table.names[place] for place in line.choice.columns})
        for line in table.lines
    ]


def test_the_best_is_marked() -> None:
    assert chosen(three()) == [("best", {"B"})] * len(SIZES)


def test_what_cannot_be_told_from_the_best_is_marked_too() -> None:
    found = pivot([side("A", made()), side("B", made(0.8, 2)), side("C", made(0.8, 3))])
    assert chosen(found) == [("best", {"B", "C"})] * len(SIZES)


def test_the_column_of_the_ratio_may_be_the_best() -> None:
    found = pivot([side("A", made()), side("B", made(1.3, 2)), side("C", made(1.5, 3))])
    assert chosen(found) == [("best", {"A"})] * len(SIZES)


def test_where_all_are_as_good_none_is_marked() -> None:
    assert chosen(pivot([side("A", made()), side("B", made(seed=2))]))[0] == ("alike", set())


def test_of_few_launches_nothing_is_decided() -> None:
    found = pivot([side("A", made(launches=2)), side("B", made(0.5, 2, launches=2))])
    assert chosen(found) == [("undecided", {"B"})] * len(SIZES)


def test_the_mean_has_its_interval() -> None:
    found = three()
    _, b, c = found.tables[0].overall
    assert b is not None
    assert c is not None
    for mean, factor in ((b, 0.8), (c, 1.5)):
        low, high = mean.ratio.estimate.low, mean.ratio.estimate.high
        assert low < factor < high
    assert found.tables[0].choice.columns == {1}


# --- what stands where ----------------------------------------------------------------------------
def test_sizes_that_only_some_have_are_there() -> None:
    a, b = made(sizes=(8, 1024)), made(0.8, 2, sizes=(1024, 8192))
    (table,) = pivot([side("A", a), side("B", b)]).tables
    assert [line.first.message_bytes for line in table.lines] == [8, 1024, 8192]
    assert [[entry.item is not None for entry in line.entries] for line in table.lines] == [
        [True, False], [True, True], [False, True],
    ]  # fmt: skip
    assert [line.choice.outcome for line in table.lines] == ["", "best", ""]


def test_a_benchmark_that_the_first_lacks_has_a_column_of_ratios_of_its_own() -> None:
    bcast = [made(factor, seed, benchmark="Bcast") for factor, seed in ((1, 4), (0.5, 5))]
    sides = [side("A", made()), side("B", [*made(0.8, 2), *bcast[0]]), side("C", bcast[1])]
    found = pivot(sides)
    assert [(table.first.benchmark, table.names) for table in found.tables] == [
        ("PingPong", ("A", "B")),
        ("Bcast", ("B", "C")),
    ]
    assert len(found.comparisons) == 2


def test_what_only_one_has_is_named() -> None:
    found = pivot([side("A", [*made(), *made(benchmark="Bcast")]), side("B", made(seed=2))])
    assert found.alone == ("Bcast: 5 rows only in A",)


def test_ratios_are_to_the_column_that_was_named() -> None:
    sides = [side("A", made()), side("B", made(0.5, 2))]
    (table,) = pivot(sides, base="B").tables
    assert (table.names, table.base) == (("A", "B"), 1)
    ratio = table.lines[0].entries[0].ratio
    assert ratio is not None
    assert ratio.estimate.value == pytest.approx(2, rel=0.05)
    with pytest.raises(UserError, match="--to: there is no column 'D'"):
        pivot(sides, base="D")


# --- how it looks ---------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit(width: int) -> None:
    sides = [side(f"MPIR_CVAR_CH4_SHM_EAGER={n}", made(1 + n / 10, n + 1)) for n in range(9)]
    shown = words(pivot(sides), Screen(width=width)).splitlines()
    assert max(map(len, shown)) <= width
    heads = [line for line in shown if re.match(r"^ +\d( +\d)*$", line)]
    assert "".join("".join(line.split()) for line in heads) == "012345678"
    assert len(heads) > 1, "columns that do not fit stand below the others"


def test_a_wide_screen_has_room_for_intervals() -> None:
    found = three()
    assert "95 %" not in words(found).splitlines()[2]
    assert "95 %" in words(found, Screen(width=120)).splitlines()[2]


def test_lines_in_which_nothing_is_decided_are_grey() -> None:
    a = [*made(sizes=(8,)), *made(sizes=(1024,), launches=2)]
    b = [*made(0.5, 2, sizes=(8,)), *made(0.5, 3, sizes=(1024,), launches=2)]
    shown = words(pivot([side("A", a), side("B", b)]), Screen(colours=16)).splitlines()
    (decided,) = (line for line in shown if "8 B" in line)
    (grey,) = (line for line in shown if "1 KiB" in line)
    assert "\033[32m" in decided
    assert grey.startswith("\033[90m")
    assert "\033[32m" not in grey


def test_marks_are_explained_where_there_are_any() -> None:
    assert "*: the best, or statistically equal to it." in words(three())
    assert "?:" not in words(three())
    few = pivot([side("A", made(launches=2)), side("B", made(0.5, 2, launches=2))])
    assert "?: the best number of a line in which nothing is decided." in words(few)
    assert "~" not in words(few), "in benchstat it says that nothing differs"


@pytest.mark.parametrize(
    ("names", "short", "common"),
    [
        (["default", "A_MAX=10", "A_MAX=200"], ["default", "10", "200"], "A_MAX="),
        (["20261122-160728-quick", "20261122-170101-quick"], ["160728", "170101"],
         "20261122- … -quick"),
        (["l3", "numa"], ["l3", "numa"], ""),
        (["a=1 b=2", "a=1 b=3"], ["2", "3"], "a=1 b="),
        (["mpich 5.0.2", "openmpi 5.0.11"], ["mpich 5.0.2", "openmpi 5.0.11"], ""),
        (["node1", "node12"], ["node1", "node12"], ""),
        (["a-b", "a-b-c"], ["b", "b-c"], "a-"),
    ],
)  # fmt: skip
def test_names_tell_apart(names: list[str], short: list[str], common: str) -> None:
    found = short_names(names)
    assert list(found.names) == short
    assert found.common == (f"are named without “{common}”." if common else "")


def test_names_of_several_settings_are_their_values() -> None:
    names = ["default", *(f"A=1 B={b} C={c}" for b in ("2", "4 5") for c in ("x", "y")), "control"]
    found = short_names(names)
    assert found.names == ("default", "2, x", "2, y", "4 5, x", "4 5, y", "control")
    assert found.common == "are named by the values of B and C."
    apart = short_names(["A=1", "B=1", "A=2 B=2"])
    assert (apart.names, apart.common) == (("A=1", "B=1", "A=2 B=2"), "")


def test_long_names_are_broken_where_their_parts_end() -> None:
    assert in_lines("cpulist-0-4-partial", 12) == ["cpulist-0-4-", "partial"]
    assert in_lines("MPI_SHARED_NEIGHBORHOOD=MEMNODE", 12) == [
        "MPI_SHARED_", "NEIGHBORHOOD=", "MEMNODE",
    ]  # fmt: skip


def test_latex_and_markdown_have_no_signs_of_their_own() -> None:
    sides = [replace(side("A_1", made()), name="A_1&2"), side("B|2", made(0.8, 2))]
    tables = tables_of(pivot(sides), cells.cards())
    assert r"A\_1\&2" in markup.latex(tables)
    assert r"B\|2" in markup.markdown(tables)
    assert r"\textbf{" in markup.latex(tables)
    assert "**" in markup.markdown(tables).splitlines()[4]


def test_cards_of_all_runs_are_known() -> None:
    """A table may be of a benchmark that the first run has never heard of."""
    first, second = cells.cards(), cells.cards()
    fewer = replace(first, benchmarks=tuple(c for c in first if c.name != "Bcast"))
    assert set(joined([fewer, second]).names()) == set(second.names())
    assert joined([second, fewer]) == second


# --- how it is asked for --------------------------------------------------------------------------
@pytest.fixture
def stored(tmp_path: Path) -> list[str]:
    """Three runs of one machine."""
    return [
        str(
            runs.write(
                tmp_path / f"run-{number}",
                [
                    runs.launch(),
                    *(
                        runs.cell(0, message_bytes=size, time_p50_s=1e-6 * number)
                        for size in (8, 64)
                    ),
                    cells.end(),
                ],
                header={"created": f"2026-11-2{number}T05:00:00Z"},
            )
        )
        for number in (1, 2, 3)
    ]


def test_three_runs_stand_side_by_side(
    stored: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["compare", *stored]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^ +1 +2 +3$", shown, re.M)
    assert re.search(r"^ 8 B ", shown, re.M)
    assert cli(["compare", *stored, "--rows"]) == 0
    assert "UNDECIDED" in capsys.readouterr().out
    assert cli(["compare", *stored[:2]]) == 0
    assert "UNDECIDED" in capsys.readouterr().out


def test_by_date(stored: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["compare", *reversed(stored), "--pivot", "date", "--format", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["columns"] == [f"2026-11-2{number} 05:00:00" for number in (1, 2, 3)]


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_tables_to_be_pasted(
    form: str, stored: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["compare", *stored[:2], "--format", form]) == 0
    assert "8 B" in capsys.readouterr().out
    assert cli(["show", stored[0], "--format", form]) == 0
    assert "8 B" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "run-1", "run-2", "--to", "A"], "add --pivot COLUMN"),
        (["compare", "run-1", "run-2", "--pivot", "plcement"], "did you mean 'placement'"),
        (["compare", "run-1", "--by", "arm", "--pivot", "arm"], "drop one"),
        (["compare", "run-1", "run-2", "--pivot", "run", "--rows"], "drop one"),
        (["compare", "run-1", "run-2", "--pivot", "run", "--response", "worst"], "medians"),
        (["show", "run-1", "--pivot", "placement"], "there is one value of it"),
        (["show", "run-1", "--pivot", "mpi"], "there is one value of it"),
        (["show", "run-1", "--pivot", "placement", "--format", "imb"], "shows no pivot"),
        (["show", "run-1", "--to", "A"], "add --pivot COLUMN"),
    ],
)
def test_wrong_words(
    words: list[str], message: str, stored: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stored
    assert cli(words) == 2
    assert message in capsys.readouterr().err
