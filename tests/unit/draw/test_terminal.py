# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plots and tables as characters: in colours, without, in ASCII; on narrow and wide screens."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest

from mpigauge.cli.main import run as main
from mpigauge.cli.output import screen
from mpigauge.draw.axes import SIZE, TIME
from mpigauge.draw.level_lines import REACH
from mpigauge.draw.plot import Level, Mark, Panel, Picture, Plot, Point, Series
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.terminal import lines
from mpigauge.draw.terminal.heat import legend, squares
from mpigauge.model.limits import MOST_COLUMNS
from mpigauge.model.screen import PLAIN, TRUE_COLOURS, Screen, in_ascii, screen_of
from mpigauge.model.spark import sparkline
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.session.run_names import open_run
from mpigauge.show.kinds import ALL, PLOTS, picture_of
from tests import pages

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
UNITS = re.compile(r"\d (KiB|B|MiB|ns|µs|ms|GB/s|MB/s|%|us)\b|\d %")
SCREENS = {
    "colours": Screen(colours=TRUE_COLOURS, live=True),
    "256": Screen(colours=256),
    "plain": PLAIN,
    "ascii": Screen(unicode=False),
}
RISING = Series("rising", tuple(Point(2.0**n, 1e-6 * 1.5**n) for n in range(12)))


def on(name: str, width: int, height: int = 24) -> Screen:
    known = SCREENS[name]
    return Screen(width, height, known.colours, known.unicode, known.live)


def text_of(plot: Plot, screen: Screen = PLAIN, notes: tuple[str, ...] = ()) -> list[str]:
    found = lines(Picture(plot.title, "", "", notes=notes, plot=plot), screen)
    assert found is not None
    return [seen(line, screen) for line in found]


def seen(line: str, screen: Screen) -> str:
    """As it is on the screen: escapes are gone, and signs that it has not are words."""
    bare = ESCAPES.sub("", line)
    return bare if screen.unicode else in_ascii(bare)


def one(*series: Series, marks: tuple[Mark, ...] = (), levels: tuple[Level, ...] = ()) -> Plot:
    return Plot("a title", "", (Panel("a panel", SIZE, TIME, series, marks, levels=levels),))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return RunResult.of("one", open_run(str(pages.hostile(tmp_path_factory.mktemp("terminal")))))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return RunResult.of(
        "machine", open_run(str(pages.machine(tmp_path_factory.mktemp("terminal"))))
    )


# --- plots ----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", PLOTS)
def test_every_kind_fits_every_screen(kind: str, shown: RunResult, machine: RunResult) -> None:
    picture = picture_of(PLOTS[kind], pages.holding(kind, shown, machine))
    for name, width in product(SCREENS, (40, 60, 80, 132)):
        screen = on(name, width)
        found = lines(picture, screen)
        assert found is not None, f"{kind} has no form in a terminal"
        shown_lines = [seen(line, screen) for line in found]
        assert max(map(len, shown_lines)) <= width, f"{kind} on {width} columns, {name}"
        assert any(UNITS.search(line) for line in shown_lines) or kind in ("best", "figures")
        assert not any("\x1b" in line or "\t" in line for line in shown_lines)


@pytest.mark.parametrize("kind", PLOTS)
def test_a_pipe_gets_no_escapes_and_ascii_no_signs(
    kind: str, shown: RunResult, machine: RunResult
) -> None:
    picture = picture_of(PLOTS[kind], pages.holding(kind, shown, machine))
    assert "\x1b" not in "".join(lines(picture, PLAIN) or ())
    in_ascii = "".join(lines(picture, on("ascii", 80)) or ())
    assert not {letter for letter in in_ascii if "\u2500" <= letter <= "\u28ff"}


def test_samples_in_a_file_are_not_those_of_the_terminal(shown: RunResult) -> None:
    picture = PLOTS["samples"].draw(RunResults([shown]), ALL)
    assert picture is not None
    assert picture.plot is not None
    assert picture.characters is not None
    assert {panel.style for panel in picture.plot.panels} == {"curves"}
    assert [panel.style for panel in picture.characters.panels] == ["dots", "bars"]


def test_what_is_cut_says_so() -> None:
    plot = Plot("t" * 90, "", (Panel("p" * 90, SIZE, TIME, (RISING,)),))
    title, _, panel, *_ = text_of(plot, on("plain", 40))
    assert (len(title), title[-1], len(panel), panel[-1]) == (40, "…", 40, "…")
    assert text_of(plot, on("ascii", 40))[0].endswith("...")


def test_points_are_where_their_values_are() -> None:
    rows = [line.partition("│")[2] or line.partition("┤")[2] for line in text_of(one(RISING))]
    marks = [(row.index("●"), number) for number, row in enumerate(rows) if "●" in row]
    assert marks == sorted(marks, reverse=True), "upwards to the right"
    assert sum(row.count("●") for row in rows) == len(RISING.points)


def test_labels_stand_at_their_ticks() -> None:
    exact = Series("exact", (Point(1, 1e-6), Point(64, 1e-5), Point(4096, 1e-4)))
    found = text_of(one(exact))
    (row,) = (line for line in found if line.lstrip().startswith("10 µs┤"))
    ruler, labels = found[-2:]
    at = labels.index("64 B") + 2
    assert row[at] == "●"
    assert ruler[at] == "┬"


def test_curves_differ_without_colours() -> None:
    other = Series("other", tuple(Point(p.x, 3 * p.y) for p in RISING.points))
    text = "\n".join(text_of(one(RISING, other), PLAIN))
    assert "● rising   ■ other" in text
    assert text.count("●") == text.count("■") == len(RISING.points) + 1
    assert "o rising   x other" in "\n".join(text_of(one(RISING, other), on("ascii", 80)))


def test_intervals_are_bars_where_they_are_seen() -> None:
    wide = Series("a", (Point(1, 1e-6, 3e-7, 3e-6), Point(64, 2e-6, 1.99e-6, 2.01e-6)))
    text = text_of(one(wide), on("ascii", 60))
    edge = next(line.index("|") for line in text if "|" in line)
    assert sum("|" in line[edge + 1 :] for line in text) >= 3
    assert text[-1] == "Upright bars: the interval, where it is larger than a mark."
    narrow = Series("a", (Point(1, 1e-6, 1e-6, 1e-6), Point(64, 2e-6)))
    assert "Upright" not in "\n".join(text_of(one(narrow)))


def test_breaks_and_levels_have_words() -> None:
    near, far = Level(1e-6 / REACH, "mailbox floor 5 µs"), Level(1e-8, "far away")
    found = text_of(one(RISING, marks=(Mark(64, "1"),), levels=(near, far)), notes=("(1) here",))
    assert any("mailbox floor 5 µs" in line and "╌╌╌" in line for line in found)
    assert "far away" not in "\n".join(found)
    assert "1" in found[3]
    assert found[-1] == "(1) here"


def test_names_give_no_orders_to_the_terminal() -> None:
    many = one(Series("a\x1b[2J", RISING.points), Series("b\n", RISING.points))
    found = lines(Picture("", "", "", plot=replace(many, title="\x1b[31m")), PLAIN)
    assert found is not None
    assert not {"\x1b", "\n"} & set("".join(found))


def test_nothing_is_drawn_of_nothing() -> None:
    assert lines(Picture("", "", ""), PLAIN) is None
    unknown = Series("a", (Point(1, math.nan), Point(2, -1.0)))
    assert text_of(one(unknown))


# --- heat maps ------------------------------------------------------------------------------
def test_squares_of_many_ranks() -> None:
    scale = ColourScale.of([1.0, 4.0])

    values = {(a, b): 4.0 if (a < 50) == (b < 50) else 1.0 for a, b in combinations(range(100), 2)}
    plain = list(squares(100, values, scale, on("plain", 80)))
    assert plain[0] == "(each square stands for 2 × 2 and shows the slowest)"
    assert plain[1].startswith("     0  ██")
    halves = list(squares(100, values, scale, on("colours", 120)))
    assert len(halves) == 50
    assert halves[0].count("▀") == 100
    ascii_ = list(squares(30, values, scale, on("ascii", 80)))
    assert ascii_[1] == "     1  ##··" + "##" * 28
    assert set("".join(squares(4, {}, scale, PLAIN))) <= set(" 0123·?")


def test_legend_of_squares() -> None:
    scale = ColourScale.of([1.0, 4.0])
    assert legend(scale, str, on("ascii", 80)) == "        1.0 ' .:*#' 4.0, on a log scale"
    assert ESCAPES.sub("", legend(scale, str, on("256", 80))).split() == ["1.0", "4.0"]


# --- sparklines -----------------------------------------------------------------------------
def test_sparklines() -> None:
    assert sparkline([1, 2, 4, 8, 16, 32, 64, 128]) == "▁▂▃▄▅▆▇█"
    assert sparkline([1, 10, 100], unicode=False) == "_+#"
    assert sparkline([1, math.nan, 100, 0]) == "▁ █ "
    assert sparkline([3, 3]) == "▁▁"
    assert sparkline([]) == sparkline([math.nan]) == ""
    assert sparkline([2.0**n for n in range(100)], most=8) == "▁▂▃▄▅▆▇█"


# --- the screen -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("environment", "terminal", "colours"),
    [
        ({"TERM": "xterm"}, True, 16),
        ({"TERM": "xterm-256color"}, True, 256),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True, TRUE_COLOURS),
        ({"TERM": "xterm"}, False, 0),
        ({"TERM": "dumb"}, True, 0),
        ({}, True, 0),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, 0),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, 16),
        ({"TERM": "xterm", "CLICOLOR": "0"}, True, 0),
        ({"CLICOLOR_FORCE": "1"}, False, 16),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, False, 256),
        ({"FORCE_COLOR": "0"}, False, 0),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, 0),
    ],
)
def test_colours_only_where_they_can_be_shown(
    environment: dict[str, str], terminal: bool, colours: int
) -> None:
    assert screen_of(environment, terminal, "utf-8", (80, 24)).colours == colours


@pytest.mark.parametrize(
    ("environment", "encoding", "shows"),
    [
        ({}, "utf-8", True),
        ({"LANG": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "de_DE.UTF-8@euro"}, "UTF-8", True),
        ({"LC_ALL": "C", "LANG": "C.UTF-8"}, "utf-8", False),
        ({"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, "utf-8", True),
        ({"LANG": "en_US.ISO-8859-1"}, "iso-8859-1", False),
        ({}, "ascii", False),
    ],
)
def test_signs_only_where_they_can_be_read(
    environment: dict[str, str], encoding: str, shows: bool
) -> None:
    assert screen_of(environment, True, encoding, (80, 24)).unicode == shows


def test_live_only_where_lines_can_be_written_anew() -> None:
    assert screen_of({"TERM": "xterm"}, True, "utf-8", (80, 24)).live
    assert not screen_of({"TERM": "dumb"}, True, "utf-8", (80, 24)).live
    assert not screen_of({"TERM": "xterm", "FORCE_COLOR": "1"}, False, "utf-8", (80, 24)).live


def test_plain_ascii_of_a_whole_command(shown: RunResult) -> None:
    program = "from mpigauge.cli import main; main()"
    words = [sys.executable, "-c", program, "show", str(shown.run.path)]
    environment = {"LC_ALL": "C", "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"us " in done.stdout
    done.stdout.decode("ascii")


def test_the_command_draws_without_a_file(
    shown: RunResult, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    assert main(["plot", str(shown.run.path), "latency"]) == 0
    plain = capsys.readouterr().out
    assert plain.startswith("Latency\n")
    assert "\x1b" not in plain
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert main(["plot", str(shown.run.path), "latency"]) == 0
    assert "\x1b[" in capsys.readouterr().out


def test_a_kind_without_a_form_says_which_it_has(
    shown: RunResult, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mpigauge.model.registry import Registry
    from mpigauge.show import kinds

    bare = kinds.PlotKind("bare", "", lambda _, __: Picture("", "", ""))
    monkeypatch.setattr(Registry, "find", lambda *_: bare)
    assert main(["plot", str(shown.run.path), "bare"]) == 2
    assert capsys.readouterr().err == (
        "mpigauge: bare cannot be shown in a terminal; write it with -o FILE.svg\n"
    )


def test_the_page_of_the_terminal_works_as_written(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mpigauge-runs").mkdir()
    pages.hostile(tmp_path / "mpigauge-runs")
    text = (repository / "docs/howto/terminal.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    mpigauge (.*)$", text, re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        words = command.replace("samples --benchmark PingPong --size 1Ki", "samples")
        assert main(shlex.split(words)) == 0, command


def test_a_terminal_is_no_wider_than_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "99999999999")
    monkeypatch.setenv("LINES", "9" * 5000)
    assert screen().width == MOST_COLUMNS
    assert screen().height <= MOST_COLUMNS
