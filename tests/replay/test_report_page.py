# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge report`: what is on the page, in which order, and that names stay names."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
import shlex
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as main
from mpigauge.result.run_result import RunResult
from mpigauge.runs.readers.references import names as reference_names
from mpigauge.session.run_names import open_run
from mpigauge.show.formats.table import text_rows
from mpigauge.show.web import cells as cells_on_page
from mpigauge.show.web import download
from mpigauge.show.web import report as page_of
from tests import pages, planted
from tests.pages import report_of

if TYPE_CHECKING:
    from pathlib import Path

VOID = {"meta", "input", "link"}
OURS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "div", "p",
    "nav", "ul", "ol", "li", "main", "section", "dl", "dt", "dd", "small", "strong", "span",
    "details", "summary", "figure", "figcaption", "fieldset", "legend", "label", "input", "select",
    "option", "table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "footer", "script",
    "code", "svg", "g", "rect", "text", "line", "polyline", "polygon", "path",
}  # fmt: skip
ORDER = ["answer", "machine", "curves", "map", "collectives", "sweep", "figures", "samples",
         "disturbances", "numbers", "run", "data"]  # fmt: skip


class Page(HTMLParser):
    """What a page holds; fails where elements do not end as they should."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def all(self, tag: str, name: str) -> list[str]:
        """The values of this attribute."""
        return [value for t, attrs in self.tags if t == tag and (value := attrs.get(name))]

    def file(self, end: str) -> str:
        """What is to be downloaded under a name with this end."""
        (link,) = [a for t, a in self.tags if t == "a" and (a.get("download") or "").endswith(end)]
        return base64.b64decode((link["href"] or "").partition("base64,")[2]).decode()

    @property
    def headings(self) -> list[str]:
        return [tag for tag, _ in self.tags if tag in ("h1", "h2", "h3")]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    path = pages.hostile(tmp_path_factory.mktemp("report"))
    return RunResult.of(path.name, open_run(str(path)))


@pytest.fixture(scope="module")
def text(hostile: RunResult) -> str:
    return report_of(hostile)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


# --- what is there --------------------------------------------------------------------------
def test_sections_come_in_the_order_in_which_people_ask(page: Page) -> None:
    assert page.all("section", "id") == ORDER
    _to_the_answer, *listed = (href[1:] for href in page.all("a", "href") if href[0] == "#")
    assert listed == [*ORDER, "odd"]  # what stands out is said beside the numbers, too


def test_the_answer_has_its_errors(page: Page) -> None:
    assert "Latency of 0 B1.00 µs ±" in page.text
    assert "PingPong · default settings · 6 launches" in page.text
    assert "What stands out" in page.text


def test_ranks_stand_on_the_machine(page: Page) -> None:
    assert "PU 3 · rank 3" in page.text


def test_every_plot_has_words_and_a_table(page: Page) -> None:
    drawings = [a for tag, a in page.tags if tag == "svg" and a.get("role") == "img"]
    assert (drawings[0]["viewbox"] or "").startswith("0 0 470 ")
    assert len(drawings) == 12
    assert all(each.get("aria-label") for each in drawings)
    captions = page.text
    for title in ("Latency", "Bandwidth", "Collectives", "Over ranks", "Figures"):
        assert f"{title} as a table" in captions


def test_a_page_can_be_walked_by_keyboard_and_ear(page: Page) -> None:
    assert page.all("html", "lang") == ["en"]
    assert page.headings[0] == "h1"
    assert page.headings.count("h1") == 1
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))
    named = [attrs for _, attrs in page.tags if attrs.get("tabindex") == "0"]
    assert named
    assert all(attrs.get("aria-label") and attrs.get("role") for attrs in named)


def test_how_to_repeat_it_is_there(page: Page) -> None:
    assert f"mpigauge run '{pages.EVIL}'" in page.text
    assert "UCX_TLS" in page.text
    assert "i7-8550U" in page.text


# --- names stay names -----------------------------------------------------------------------
def test_names_are_escaped(page: Page) -> None:
    assert {tag for tag, _ in page.tags} <= OURS
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert page.text.count(pages.EVIL) > 5
    assert pages.NAME in page.text


def test_names_are_escaped_in_what_is_unfolded_later(text: str) -> None:
    packed = text.partition('id="cells">')[2].partition("</script>")[0]
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [each["title"] for each in found] == [f"PingPing · {n} B · 2 ranks" for n in (8, 64)]
    assert {tag for tag, _ in Page(found[0]["svg"]).tags} <= OURS


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert [value for _, attrs in page.tags for value in (attrs.get("src"), attrs.get("srcset"))
            if value] == []  # fmt: skip
    links = [a.get("href") or "" for tag, a in page.tags if "href" in a]
    assert all(link.startswith(("#", "data:")) for link in links)
    (policy,) = [a["content"] or "" for t, a in page.tags if t == "meta" and "http-equiv" in a]
    assert policy.startswith("default-src 'none'")


def test_a_page_is_small(text: str) -> None:
    assert len(text.encode()) < 1_000_000


# --- the same numbers everywhere ------------------------------------------------------------
def test_page_csv_and_json_hold_the_same_numbers(hostile: RunResult, page: Page) -> None:
    rows = hostile.document.rows
    from_csv = list(csv.DictReader(io.StringIO(page.file(".csv"))))
    from_json = json.loads(page.file(".json"))["rows"]
    for name in ("latency_s", "latency_low_s", "latency_high_s", "bandwidth_bytes_per_s"):
        told = [float(row[name]) if row[name] else None for row in from_csv]
        assert told == [row[name] for row in from_json]
    assert [row["latency_s"] for row in from_json] == [row.latency.value for row in rows]
    shown = [cells for table in page.tables for cells in table]
    for table in hostile.document.tables():
        heads, *lines = text_rows(table)
        assert heads in shown
        assert all(line in shown for line in lines)
        at = heads.index("µs" if "µs" in heads else "max µs")
        for line, row in zip(lines, table.rows, strict=True):
            assert float(line[at]) == pytest.approx(row.latency.value * 1e6, rel=0.006)


# --- other runs -----------------------------------------------------------------------------
@pytest.mark.parametrize("name", reference_names())
def test_a_reference_has_a_report(name: str, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert main(["report", f"ref:{name}", "-o", str(target)]) == 0
    page = Page(target.read_text(encoding="utf-8"))
    assert page.all("section", "id")[0] == "answer"
    assert json.loads(page.file(".json"))["facts"]["imported"]


def test_runs_beside_each_other_are_judged(tmp_path: Path) -> None:
    for name, alpha in (("one", 1e-6), ("other", 2e-6)):
        planted.store(planted.run(planted.curve(planted.line(alpha))), tmp_path / name)
    target = tmp_path / "page.html"
    runs = [str(tmp_path / name) for name in ("one", "other")]
    assert main(["report", *runs, "-o", str(target)]) == 0
    page = Page(target.read_text(encoding="utf-8"))
    assert "PingPong on 2 ranks, against one" in page.text
    assert "other takes" in page.text
    assert "more time" in page.text


def test_each_run_has_its_cards_map_and_sweep(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        pages.hostile(tmp_path / name)
    target = tmp_path / "page.html"
    runs = [str(tmp_path / name / pages.NAME) for name in ("one", "other")]
    assert main(["report", *runs, "-o", str(target)]) == 0
    page = Page(target.read_text(encoding="utf-8"))
    names = runs  # of one folder's name, so that their paths tell them apart
    assert [tag for tag, _ in page.tags].count("dl") == 2
    assert page.text.count("Latency of 0 B1.00 µs ±") == 2
    for name in names:
        assert [f"{name} · PingPong", "8 B"] in [row[:2] for table in page.tables for row in table]
        assert f"{name}: PingPong on 2 ranks" in page.text
        assert f"{name}: Best of PingPong on 2 ranks" in page.text
    assert f"numbers, settings and data are those of {names[0]};" in page.text


def test_a_run_without_anything_has_a_page() -> None:
    page = Page(report_of(RunResult.of("none", planted.run([]))))
    assert "no latency, bandwidth or message rate" in page.text
    assert page.all("section", "id") == ["answer", "disturbances", "numbers", "run", "data"]


def test_what_is_too_large_is_said(hostile: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST_ROWS", 3)
    page = Page(report_of(hostile))
    assert not page.all("a", "download")
    assert "rows are too much for a page; `mpigauge export csv RUN -o FILE`" in page.text


def test_a_page_holds_so_many_rows_and_says_so(
    hostile: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of, "MANY_ROWS", 13)
    monkeypatch.setattr("mpigauge.show.web.word_tables.MANY_ROWS", 13)
    page = Page(report_of(hostile))
    assert max(map(len, page.tables)) <= 14
    assert "The table holds the first 13 of" in page.text
    assert "more tables of this run: `mpigauge show RUN` prints all rows" in page.text


def test_cells_left_out_are_counted(hostile: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells_on_page, "MOST_CELLS", 0)
    found, said = cells_on_page.cells_of(hostile)
    assert found == []
    assert "draws the other 2." in said[0]


def test_without_samples_there_is_no_section_of_them(tmp_path: Path) -> None:
    path = pages.hostile(tmp_path)
    for file in (path / "samples").iterdir():
        file.unlink()
    page = Page(report_of(RunResult.of("x", open_run(str(path)))))
    assert "samples" not in page.all("section", "id")
    assert page.all("section", "id")[-1] == "data"


def test_samples_that_end_too_early_are_named(tmp_path: Path) -> None:
    path = pages.hostile(tmp_path)
    (file,) = (path / "samples").glob("*000*")
    file.write_bytes(file.read_bytes()[:-4])
    page = Page(report_of(RunResult.of("x", open_run(str(path)))))
    assert "ends before the samples at byte 96 do" in page.text


def test_commands_of_the_page_run_as_written(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mpigauge-runs").mkdir()
    pages.hostile(tmp_path / "mpigauge-runs")
    text = (repository / "docs/howto/report.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    mpigauge (.*)$", text, re.MULTILINE)
    assert len(commands) == 8
    for words in map(shlex.split, commands):
        assert main(words) == 0, words
        assert "-o" not in words or (tmp_path / words[-1]).stat().st_size > 1000


@pytest.mark.parametrize(
    ("target", "said"),
    [("a.txt", "its name ends with .html"), ("no/a.html", "there is no folder")],
)
def test_a_wrong_file_gets_one_line(
    target: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = planted.store(planted.run(planted.curve(planted.line())), tmp_path / "run")
    assert main(["report", str(path), "-o", target]) == 2
    assert said in capsys.readouterr().err
