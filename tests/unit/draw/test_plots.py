# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plots: their axes, what is drawn where, and the command."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.cli.main import run as main
from mpigauge.cli.runs.reporting import write_picture
from mpigauge.draw import axes
from mpigauge.draw.axes import BANDWIDTH, RANKS, SAMPLE, SIZE, TIME, Axis, Scale
from mpigauge.draw.chart import PAPER_LAYOUTS, alone, picture, svg
from mpigauge.draw.plot import MOST_SERIES, Mark, Panel, Plot, Point, Series
from mpigauge.draw.styles import COLOURS, LETTER, PAPER
from mpigauge.draw.terminal.picture import lines
from mpigauge.draw.write import draw
from mpigauge.model.errors import UserError
from mpigauge.model.screen import screen_of
from mpigauge.result.run_result import RunResult
from mpigauge.runs.readers import READERS, Text
from mpigauge.session.run_names import open_run
from mpigauge.show.kinds import PLOTS, Chosen, picture_of, plot
from tests import pages, planted

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(1e-9, 1e9)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.hostile(tmp_path_factory.mktemp("plots"))


@pytest.fixture(scope="module")
def shown(hostile: Path) -> RunResult:
    return RunResult.of("one", open_run(str(hostile)))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return RunResult.of("machine", open_run(str(pages.machine(tmp_path_factory.mktemp("plots")))))


def one(*series: Series, x: Axis = SIZE, y: Axis = TIME, marks: tuple[Mark, ...] = ()) -> Plot:
    return Plot("a title", "what is seen", (Panel("a panel", x, y, series, marks),))


def dots(drawing: str) -> list[tuple[float, float]]:
    """Where points are, in the order of the drawing."""
    paths = [p.get("d", "") for p in series(drawing) for p in p.iter(f"{SVG}path")]
    found = [re.match(r"M([\d.-]+) ([\d.-]+)", path) for path in paths]
    return [(float(each[1]), float(each[2])) for each in found if each]


def series(drawing: str) -> list[ET.Element]:
    return [g for g in ET.fromstring(drawing).iter(f"{SVG}g") if "series" in g.get("class", "")]


def texts(drawing: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(drawing).iter(f"{SVG}text")]


# --- axes -----------------------------------------------------------------------------------
def test_values_have_units_that_people_read() -> None:
    assert SIZE.words(4096) == "4 KiB"
    assert TIME.words(1.6e-6) == "1.6 µs"
    assert TIME.words(1e-3) == "1 ms"
    assert BANDWIDTH.words(12.34e9) == "12.3 GB/s"
    assert BANDWIDTH.words(999.9e6) == "1000 MB/s"
    assert axes.share(0.0) == "0 %"


@given(NUMBERS, NUMBERS, st.sampled_from([SIZE, TIME, RANKS, SAMPLE]), st.integers(3, 12))
def test_ticks_are_few_and_on_the_axis(a: float, b: float, axis: Axis, most: int) -> None:
    scale = Scale.of(axis, [a, b])
    ticks = scale.ticks(most)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= most + 2
    if axis is not SIZE:  # a message is of whole bytes
        assert len({axis.tick(tick) for tick in ticks}) == len(ticks)
    assert all(-1e-6 <= scale.place(tick) <= 1 + 1e-6 for tick in ticks)
    if axis is TIME and b > 100 * a:
        assert len(ticks) > 1


def test_equal_ratios_are_equally_far_apart() -> None:
    scale = Scale.of(TIME, [1e-6, 1e-3])
    places = [scale.place(10**n) for n in (-6.0, -5.0, -4.0, -3.0)]
    assert np.diff(places) == pytest.approx([places[1] - places[0]] * 3)
    assert 0 < places[0] < places[-1] < 1


def test_a_message_of_nothing_stands_before_all_others() -> None:
    scale = Scale.of(SIZE, [0, 1, 1 << 20])
    assert 0 <= scale.place(0) < scale.place(1) < scale.place(1 << 20) <= 1
    assert scale.ticks(8)[0] == 0


# --- drawing --------------------------------------------------------------------------------
def test_points_are_where_their_values_are() -> None:
    drawing = svg(one(Series("a", (Point(1, 1e-6), Point(1024, 1e-5), Point(1 << 20, 1e-4)))))
    (x1, y1), (x2, y2), (x3, y3) = dots(drawing)
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert x1 < x2
    assert y1 > y2


def test_what_is_not_known_is_not_drawn_as_known() -> None:
    known = Point(8, 2e-6, 1.9e-6, 2.1e-6)
    without = Series("a", (Point(1, 1e-6), known, Point(64, math.nan), Point(128, 3e-6)))
    drawing = svg(one(without))
    assert len(dots(drawing)) == 3
    assert drawing.count('class="band"') == 1
    assert 'class="band"' not in svg(one(Series("a", (Point(1, 1e-6), Point(8, 2e-6)))))
    pair = svg(one(Series("a", (known, Point(16, 3e-6, 2.9e-6, 3.1e-6)))))
    assert pair.count('class="band"') == 1


def test_names_with_control_characters_can_be_drawn(tmp_path: Path) -> None:
    points = (Point(1, 1e-6), Point(8, 2e-6))
    many = one(Series("a\x1b[31m\n<b>", points), Series("b", points))
    assert "a\ufffd[31m\ufffd<b>" in texts(svg(many))
    draw(svg(many), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("letters", [10, 60, 90, 200])
def test_titles_of_any_length_stay_within_the_drawing(letters: int) -> None:
    long = "".join("abcdefghij"[n % 10] for n in range(letters))
    plot = one(Series("A", (Point(8, 1e-6, 1e-6, 1e-6),)), y=replace(TIME, title=long))
    plot = replace(plot, title=long, panels=(replace(plot.panels[0], title=long),))
    drawing = ET.fromstring(svg(plot))
    _, _, wide, high = map(float, drawing.attrib["viewBox"].split())
    titles = [each for each in drawing.iter() if "abc" in (each.text or "")]
    drawn = [each for each in titles if each.tag.endswith("text")]
    assert len(drawn) == 3
    for each in drawn:
        room = high if "rotate" in each.attrib.get("transform", "") else wide
        assert len(each.text or "") * LETTER * float(each.attrib["font-size"]) <= room
    cut = [each for each in drawn if each.text != long]
    whole = [each for each in titles if each.tag.endswith("title") and each.text == long]
    assert len(whole) == len(cut)


@pytest.mark.parametrize("columns", [1, 2])
def test_legends_and_notes_stay_within_a_paper(columns: int) -> None:
    """Names that differ in their middle alone remain distinct."""
    names = [f"oci-{mpi}-pingpong-on-two-nodes-of-the-second-partition" for mpi in ("a", "b")]
    plot = one(*(Series(name, (Point(8, 1e-6), Point(16, 2e-6))) for name in names))
    note = "The quick brown fox jumps over the lazy dog. " * 5
    drawing = ET.fromstring(svg(plot, [note], PAPER_LAYOUTS[columns]))
    wide = float(drawing.attrib["viewBox"].split()[2])
    drawn = [each for each in drawing.iter(f"{SVG}text") if each.get("text-anchor") == "start"]
    for each in drawn:
        right = len(each.text or "") * LETTER * float(each.attrib["font-size"])
        assert float(each.attrib["x"]) + right <= wide
    entries = [each.find(f"{SVG}text") for each in drawing.iter(f"{SVG}g")
               if str(each.get("class")).startswith("legend")]  # fmt: skip
    assert len({each.text for each in entries if each is not None}) == len(names)


def test_a_wild_interval_does_not_squeeze_the_curve() -> None:
    wild = Series("a", (Point(1, 1e-6, 1e-12, 1.0), Point(2, 2e-6, 1e-12, 1.0)))
    (_, y1), (_, y2) = dots(svg(one(wild)))
    assert y1 - y2 > 30


def test_curves_differ_without_their_colours() -> None:
    many = [Series(f"s{i}", (Point(1, i + 1.0), Point(2, i + 2.0))) for i in range(MOST_SERIES)]
    groups = [g for g in series(svg(one(*many))) if g.find(f"{SVG}polyline") is not None]
    looks = set()
    for group in groups:
        line, dot = group.find(f"{SVG}polyline"), group.find(f"{SVG}path")
        assert line is not None
        assert dot is not None
        shape = re.sub(r"^M[\d.]+ [\d.]+", "", dot.get("d", ""))
        looks.add((line.get("stroke-dasharray"), shape))
    assert len(looks) == len(groups) == MOST_SERIES
    assert len(set(COLOURS)) == len(COLOURS)


def test_predicted_points_are_hollow_and_measured_ones_are_not() -> None:
    measured = Series("measured", (Point(8, 1e-6), Point(64, 2e-6)))
    predicted = Series("predicted", (Point(8, 1e-6, is_hollow=True), Point(64, 3e-6)))
    drawing = svg(one(measured, predicted))
    hollow = [each for each in ET.fromstring(drawing).iter() if "hollow" in each.get("class", "")]
    assert [each.get("fill") for each in hollow] == [PAPER]
    assert [each.get("stroke") for each in hollow] == [COLOURS[1]]


def test_a_curve_that_is_all_predicted_is_hollow_in_the_legend_and_in_characters() -> None:
    measured = Series("measured", (Point(8, 1e-6), Point(64, 2e-6)))
    predicted = Series("model", (Point(8, 4e-6, is_hollow=True), Point(64, 8e-6, is_hollow=True)))
    plot = one(measured, predicted)
    assert plot.hollow == {"model"}
    assert svg(plot).count('class="dot hollow"') == 3
    screen = screen_of({}, True, "utf-8", (80, 24))
    text = "\n".join(lines(picture(plot), screen) or ())
    assert "□ model" in text
    assert "● measured" in text
    assert "■" not in text


def test_too_many_curves_are_said_and_in_the_table() -> None:
    many = [Series(f"s{i}", (Point(1, i + 1.0),)) for i in range(MOST_SERIES + 3)]
    found = picture(one(*many))
    assert len(found.names) == MOST_SERIES
    assert len(found.rows) == MOST_SERIES + 3
    assert any(f"the first {MOST_SERIES} curves" in note for note in found.notes)


def test_marks_are_explained() -> None:
    found = picture(
        one(Series("a", (Point(1, 1.0), Point(9, 2.0))), marks=(Mark(3, "1", ("why",)),))
    )
    assert "why" in found.notes
    assert "1" in texts(found.svg)
    assert "why" not in texts(found.svg)
    assert "why" in texts(alone(found))


# --- kinds ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PLOTS)
def test_every_kind_draws_what_is_there(name: str, shown: RunResult, machine: RunResult) -> None:
    found = picture_of(PLOTS.find(name), pages.holding(name, shown, machine))
    root = ET.fromstring(found.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert found.about
    assert found.rows
    assert {len(row) for row in found.rows} == {len(found.heads)}
    assert "<img" not in found.svg


@pytest.mark.parametrize("name", PLOTS)
def test_no_kind_draws_what_is_not_there(name: str) -> None:
    nothing = RunResult.of("none", planted.run([]))
    with pytest.raises(UserError, match=r"there is no plot .* it has none at all"):
        picture_of(PLOTS.find(name), [nothing] * PLOTS.find(name).least_runs)


def test_one_run_has_no_ratio(shown: RunResult) -> None:
    with pytest.raises(UserError, match="ratio is of 2 runs or more"):
        picture_of(PLOTS.find("ratio"), [shown])


def test_the_break_of_a_curve_is_marked_with_its_cause(shown: RunResult) -> None:
    found = picture_of(PLOTS.find("latency"), [shown])
    (note,) = [note for note in found.notes if "between 4 KiB and 8 KiB" in note]
    assert "the time jumps to 4 ×" in note


def test_a_break_of_any_of_a_few_curves_is_marked() -> None:
    """The collapse that one user saw, between nodes only: the third of three placements."""

    def collapsing(n: int) -> float:
        return planted.line(2e-6)(n) * (20 if n > 2048 else 1)

    measured = [
        cell
        for place, time in (("core", planted.line()), ("l3", collapsing), ("node", collapsing))
        for cell in planted.curve(time, placement=place)
    ]
    found = picture_of(PLOTS.find("bandwidth"), [RunResult.of("one", planted.run(measured))])
    between = [note for note in found.notes if "between 2 KiB and 4 KiB" in note]
    assert [note.partition(" between")[0] for note in between] == [
        "(1) PingPong at l3, PingPong at node,",
    ]  # fmt: skip
    assert "1" in texts(found.svg)


def test_other_runs_are_curves_of_their_own() -> None:
    first, second = (
        RunResult.of(name, planted.run(planted.curve(planted.line(alpha))))
        for name, alpha in (("one", 1e-6), ("other", 2e-6))
    )
    found = picture_of(PLOTS.find("latency"), [first, second])
    assert found.names == ("one", "other")
    of_zero = {row[1]: row[3] for row in found.rows if row[2] == "0 B"}
    assert of_zero == {"one": "1 µs", "other": "2 µs"}


def test_bandwidth_has_the_ends_of_its_own_interval(shown: RunResult) -> None:
    found = picture_of(PLOTS.find("bandwidth"), [shown])
    rows = [row for row in shown.document.rows if row.bandwidth and not row.cell.members]
    known = {BANDWIDTH.words(each.value) for row in rows if (each := row.bandwidth)}
    assert {row[3] for row in found.rows} <= known


def test_ratios_are_those_of_the_comparison(shown: RunResult) -> None:
    found = picture_of(PLOTS.find("best"), [shown])
    assert found.title == f"A={pages.EVIL} against default"
    (zero,) = [row for row in found.rows if row[2] == "0 B"]
    assert float(zero[3]) == pytest.approx(2.0, rel=0.01)
    assert float(zero[4]) < float(zero[3]) < float(zero[5])


def test_samples_are_those_that_are_stored(shown: RunResult) -> None:
    found = picture_of(PLOTS.find("samples"), [shown], Chosen("pingping", 8))
    assert found.title == "PingPing · 8 B · 2 ranks"
    assert "has 48 samples" in found.about
    line = [row for row in found.rows if row[0] == "as they came"]
    ticks = [tick for chunk in pages.TICKS for tick in chunk] * planted.LAUNCHES
    assert [row[3] for row in line] == [TIME.words(tick * 1e-9) for tick in ticks]


def test_samples_that_are_not_there_are_not_drawn(shown: RunResult) -> None:
    with pytest.raises(UserError, match=r"no plot 'samples' of PingPong in this run; it has arms"):
        picture_of(PLOTS.find("samples"), [shown], Chosen("PingPong"))


def test_two_kinds_of_one_name_stop_the_program() -> None:
    assert PLOTS
    with pytest.raises(RuntimeError, match="two plots are named 'latency'"):
        plot("latency", "again")(lambda _, __: None)


# --- what users drew by hand ----------------------------------------------------------------
def test_three_placements_with_the_collapse_marked() -> None:
    """ORFEO's EPYC nodes: one L3 cache, two sockets, two hosts; L2 is left at 256 KiB."""
    found = picture_of(
        PLOTS.find("bandwidth"), [RunResult.of("orfeo", open_run("ref:orfeo-epyc-rome"))]
    )
    assert [name.split(" placement")[0] for name in found.names] == [
        "l3", "sockets", "cores:0,4", "hosts", "hosts",
    ]  # fmt: skip
    (note,) = [note for note in found.notes if "PingPong at l3" in note]
    assert "between 128 KiB and 256 KiB: the time jumps to 2 ×" in note
    peak = next(row for row in found.rows if row[2] == "128 KiB")
    assert peak[3] == "25.2 GB/s"


def test_nine_sweeps_stand_three_by_three() -> None:
    """As ember's users laid out their pictures: a benchmark each, a curve for each buffer size."""
    words = "PingPong Sendrecv Exchange Bcast Reduce Scatter Gather Allreduce Alltoall"
    measured = [
        cell
        for benchmark in words.split()
        for number, arm in enumerate(["", "MPI_BUFFER_MAX=4096", "MPI_BUFFER_MAX=16384"])
        for cell in planted.curve(
            planted.line(1e-6 * (1 + number)), benchmark, [4096, 65536], launches=1, arm=arm
        )
    ]
    found = picture_of(PLOTS.find("arms"), [RunResult.of("ember", planted.run(measured))])
    assert found.names == ("default", "MPI_BUFFER_MAX=4096", "MPI_BUFFER_MAX=16384")
    titles = {
        text.text: (text.get("x"), text.get("y"))
        for text in ET.fromstring(found.svg).iter(f"{SVG}text")
        if text.text in words.split()
    }
    assert list(titles) == words.split()
    assert len({x for x, _ in titles.values()}) == len({y for _, y in titles.values()}) == 3


def test_stream_over_threads() -> None:
    text = "".join(
        f"Number of Threads requested = {threads}\nCopy:  {rate}  0.1 0.1 0.1\n"
        for threads, rate in ((1, 9000.0), (2, 17000.0), (6, 24000.0))
    )
    figures = READERS.find("stream").read(Text(text.encode())).figures
    found = picture_of(PLOTS.find("figures"), [RunResult.of("one", planted.run([], figures))])
    assert [row[2:4] for row in found.rows] == [
        ("1", "9 GB/s"), ("2", "17 GB/s"), ("6", "24 GB/s"),
    ]  # fmt: skip
    assert found.heads[2] == "threads"


# --- the command ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("end", "begins"),
    [("svg", b"<svg "), ("png", b"\x89PNG"), ("pdf", b"%PDF-"), ("html", b"<!DOCTYPE html>")],
)
def test_a_plot_in_every_form(hostile: Path, tmp_path: Path, end: str, begins: bytes) -> None:
    target = tmp_path / f"plot.{end}"
    assert main(["plot", str(hostile), "latency", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(begins)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["latancy", "-o", "a.svg"], "there is no plot 'latancy'; did you mean 'latency'?"),
        (["latency", "-o", "a.gif"], "the name of a picture ends with .svg, .png, .pdf or .html"),
        (["latency", "-o", "no/a.svg"], "there is no folder"),
        (["samples", "-o", "a.svg", "--size", "4 apples"], "4 apples"),
        (["samples", "-o", "a.svg", "--benchmark", "x"], "there is no plot 'samples' of x"),
    ],
)
def test_wrong_words_get_one_line(
    hostile: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(hostile), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_run_without_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "last"]) == 2
    assert "name a run and a kind of plot" in capsys.readouterr().err


def test_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(kind.name in text and kind.about in text for kind in PLOTS.values())


def test_breaks_of_one_reason_at_one_place_are_said_once() -> None:
    arms = [each for arm in ("", "A=1", "A=2") for each in planted.stepping(4096, 3.0, arm=arm)]
    found = picture_of(PLOTS.find("latency"), [RunResult.of("one", planted.run(arms))])
    (said,) = [note for note in found.notes if note.startswith("(1)")]
    assert "PingPong, PingPong with A=1, PingPong with A=2, between 4 KiB and 8 KiB" in said
    assert not [note for note in found.notes if note.startswith("(2)")]


# --- pictures for a file --------------------------------------------------------------------
@pytest.mark.parametrize("name", PLOTS)
def test_a_saved_picture_says_what_it_is_of(
    name: str, shown: RunResult, machine: RunResult, tmp_path: Path
) -> None:
    file = tmp_path / "a.svg"
    several = pages.holding(name, shown, machine)
    write_picture(picture_of(PLOTS.find(name), several), file, several)
    words = " ".join(texts(file.read_text()))
    facts = several[0].document.facts
    for known in (facts.mpi, facts.created, facts.version):
        assert known
        assert known in words


@pytest.mark.parametrize("columns", PAPER_LAYOUTS)
def test_a_picture_is_as_wide_as_columns_of_a_paper(
    columns: int, shown: RunResult, tmp_path: Path
) -> None:
    layout = PAPER_LAYOUTS[columns]
    for name in ("latency", "collectives", "map"):
        file, picture = tmp_path / f"{name}.svg", picture_of(PLOTS.find(name), [shown])
        write_picture(picture, file, [shown], columns)
        root = ET.fromstring(file.read_text())
        assert root.get("width") == f"{layout.paper_mm:g}mm"
        if picture.plot:
            assert float(root.get("viewBox", "").split()[2]) == layout.columns * layout.wide


def test_only_a_picture_has_columns_of_a_paper(
    hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(hostile), "latency", "--columns", "1"]) == 2
    assert "--columns is of a picture for a paper" in capsys.readouterr().err
