# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run whose every name is an order to somebody: in each format, plot and page it is text."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as main
from mpigauge.draw.terminal.picture import lines as picture_lines
from mpigauge.model.errors import UserError
from mpigauge.model.screen import Screen, without_orders
from mpigauge.model.typed import as_word
from mpigauge.products.browse.access import PageRequest
from mpigauge.products.browse.addresses import Pages
from mpigauge.products.browse.runs_folder import RunsFolder
from mpigauge.products.profile.kind import page_of
from mpigauge.products.profile.read.symbols import Place
from mpigauge.products.profile.show.text import lines_of
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.result.document import document
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.runs.store.pack import pack, unpack
from mpigauge.session.run_names import open_run
from mpigauge.show.formats import FORMATS, for_any_run, render
from mpigauge.show.kinds import ALL, PLOTS
from mpigauge.show.web.notebook import in_notebook
from mpigauge.show.web.page import own, plot_page
from mpigauge.site.batch import SYSTEMS, Wish, script
from tests import pages, profiles
from tests.replay.test_report_page import OURS, Page

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = "FORGED 1 2 3"
"""What would be a line of its own if an end of line were obeyed."""
POISONS = {
    "markup": "=cmd|' /C calc'!A0 "
    "\\input{/etc/passwd}$x_1^2&%#~[2]* ![x](http://b.c) `c` **d** &lt; "
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>",
    "lines": f"a\n{LINE}\n{LINE}\r{LINE}\r\n{LINE}\u2028{LINE}\x0b{LINE}\x85{LINE}"
    "\x1b[2J\x1b]0;t\x07\x1b[30m\x9b2J\x08\x7f\u202e",
    "words": '-rf $(touch pwned);`touch pwned`;\'"\\ & touch pwned"} 1\nmpigauge_runs 7\n# HELP x\\'
    '"},{"a":"\\',
}
FREE = ("placement", "settings", "variant", "transport")
"""Columns of cells that may hold any text."""
_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")


@pytest.fixture(scope="module", params=POISONS.values(), ids=list(POISONS))
def evil(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


@pytest.fixture(scope="module")
def poisoned(evil: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run, whose folder is called as nearly so as a folder can be."""
    folder = tmp_path_factory.mktemp("poisoned")
    path = pages.hostile(folder, evil=evil, name="run" + evil.replace("/", "_"))
    records = path / "records.jsonl"
    lines = [_poisoned(line, evil) for line in records.read_text().splitlines()]
    records.write_text("".join(f"{line}\n" for line in lines))
    return path


def _poisoned(line: str, evil: str) -> str:
    record = json.loads(line)
    record.update({name: evil for name in FREE if name in record})
    return json.dumps(record)


@pytest.fixture(scope="module")
def shown(poisoned: Path) -> RunResult:
    return RunResult.of("one", open_run(str(poisoned)))


# --- formats --------------------------------------------------------------------------------
def check_lines(text: str) -> None:
    """No name begins a line of its own, nor gives a terminal an order."""
    for line in text.splitlines():
        assert not line.strip("#%|- ").startswith("FORGED")
    assert not _ORDERS.search(without_orders(text, coloured=True))


def check_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert not re.match(r"[=+@\t\r]|-(?![\d.]+(e[-+]?\d+)?$)", cell), cell


def check_latex(text: str) -> None:
    """Only our own commands; nothing of a name is one, nor begins a comment or a cell."""
    check_lines(text)
    body = [line for line in text.splitlines() if not line.startswith("%")]
    known = {
        *("begin", "end", "toprule", "midrule", "bottomrule", "textbackslash", "textasciitilde"),
        *("textasciicircum", "pm", "mu", "times", "ldots", "cdot", "alpha", "beta", "frac"),
        *("textless", "textgreater", "textbar", "textasteriskcentered", "textbf", "textcolor"),
    }
    for line in body:
        assert set(re.findall(r"\\([A-Za-z]+)", line)) <= known, line
        plain = re.sub(r"\\(?:[A-Za-z]+|.)|\{\[\}|\$\\[a-z]+(\{1\}\{2\})?\$", "", line)
        assert not re.search(r"[#$%~^_]", plain), line
        assert not plain.lstrip().startswith("[")
        assert "/etc/passwd" not in re.sub(r"\\\{.*?\\\}", "", line)


def check_markdown(text: str) -> None:
    check_lines(text)
    assert not re.search(r"(?<!\\)[<`\[]|(?<!\\)&|(?<!\\):(?=//)", text)
    for line in text.splitlines():
        assert not re.match(r"\s*(#|\d+[.)]\s|[+=]\s|={2,}|-{2,})", line), line
    tables = [line for line in text.splitlines() if line.startswith("|")]
    for line in tables:
        assert "|" not in re.sub(r"\\\||\\\\", "", line.strip("|")).replace(" | ", "  ")


def check_json(text: str) -> None:
    assert isinstance(json.loads(text), dict)
    assert not _ORDERS.search(without_orders(text, coloured=True))
    assert not any(line.startswith("FORGED") for line in text.split("\n"))


def check_svg(text: str) -> None:
    tags = {each.tag.rpartition("}")[2] for each in ET.fromstring(text).iter()}
    assert tags <= OURS
    assert not any(
        name.startswith("on") for each in ET.fromstring(text).iter() for name in each.attrib
    )


CHECKS: dict[str, Callable[[str], None]] = {
    "csv": check_csv,
    "imb": check_lines,
    "json": check_json,
    "latex": check_latex,
    "map": check_lines,
    "markdown": check_markdown,
    "svg": check_svg,
    "table": check_lines,
}


def test_each_format_is_checked() -> None:
    assert CHECKS.keys() == FORMATS.keys()


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_text_in_each_format(
    poisoned: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(poisoned), "--format", form]) == 0
    CHECKS[form](capsys.readouterr().out)


@pytest.mark.parametrize("form", for_any_run())
@pytest.mark.parametrize(
    "words",
    [["compare", "{0}", "{0}"], ["show", "{0}", "--pivot", "arm"]],
    ids=lambda words: words[0],
)
def test_names_are_text_in_a_comparison(
    poisoned: Path, words: list[str], form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*(word.format(poisoned) for word in words), "--format", form])
    if status == 2:  # this format has no comparisons
        return
    CHECKS[form](capsys.readouterr().out)


@pytest.mark.parametrize("colours", [0, 256])
def test_a_coloured_terminal_gets_our_colours_only(poisoned: Path, colours: int) -> None:
    text = render("table", document(open_run(str(poisoned))), Screen(colours=colours))
    codes = set(re.findall(r"\x1b\[[\d;]*m", without_orders(text, coloured=True)))
    assert codes <= ({"\x1b[0m", "\x1b[1m", "\x1b[33m"} if colours else set())
    assert "\x1b" not in re.sub(r"\x1b\[[\d;]*m", "", text)


# --- plots and pages ------------------------------------------------------------------------
@pytest.mark.parametrize("kind", PLOTS)
def test_names_are_text_in_each_plot(shown: RunResult, kind: str) -> None:
    picture = PLOTS[kind].draw(RunResults([shown] * PLOTS[kind].least_runs), ALL)
    if picture is None:
        pytest.skip("this run holds nothing of the kind")
    check_svg(picture.svg)
    lines = "\n".join(picture_lines(picture, Screen(colours=256)) or ())
    check_lines(re.sub(r"\x1b\[(0|1|2|3\d|9\d|[34]8;5;\d+|;)+m", "", lines))


def check_page(text: str) -> None:
    page = Page(text.replace("<br>", ""))
    assert {tag for tag, _ in page.tags} <= OURS | {"form", "button", "link"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    links = [value for kind in ("a", "form") for value in page.all(kind, "href")]
    assert all(link.startswith(("#", "data:", "/right/")) for link in links)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert set(scripts) <= {own("script.js")}


def test_names_are_text_on_the_report(shown: RunResult) -> None:
    check_page(pages.report_of(shown))
    check_page(pages.report_of(shown, shown))


def test_names_are_text_on_pages_of_one_plot_and_in_notebooks(shown: RunResult) -> None:
    picture = PLOTS["latency"].draw(RunResults([shown]), ALL)
    assert picture is not None
    check_page(plot_page(picture))
    check_page(f"<!DOCTYPE html>{in_notebook(shown)}")


def test_names_are_text_on_the_page_of_a_profile(evil: str, tmp_path: Path) -> None:
    job = profiles.job()
    places = {at: (Place(evil, f"/{evil}", 1),) for at in job.places}
    files = tuple(
        replace(file, host=evil, words=(evil,), executable=evil) for file in job.profile.files
    )
    named = replace(job, places=places, profile=replace(job.profile, files=files))
    folder = profiles.stored(tmp_path / "profile", named)
    check_page(page_of(str(folder)))
    for form, check in (("table", check_lines), ("json", check_json), ("csv", check_csv)):
        check("\n".join(lines_of(load_jobs(folder), form)))


def test_names_are_text_on_each_page_of_browse(poisoned: Path) -> None:
    with RunsFolder.open(poisoned.parent) as folder:
        site = Pages(folder, "/right/")
        shutil.copytree(poisoned, poisoned.parent / "b", dirs_exist_ok=True)
        for path, query in (
            ((), {}), (("run", poisoned.name), {}), (("trends",), {}),
            (("beside",), {"run": [poisoned.name, "b"]}), ((poisoned.name,), {}),
            ((), {"find": [poisoned.name], "where": [poisoned.name], "mpi": [poisoned.name]}),
        ):  # fmt: skip
            check_page(site.page(PageRequest(path, query)).text)


# --- others ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "words",
    [["ls", "{folder}"], ["explain", "{run}"], ["model", "{run}"], ["best", "{run}"],
     ["sql", "FROM runs", "{folder}"], ["plot", "{run}", "latency"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_names_are_text_in_what_commands_print(
    poisoned: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([word.format(run=poisoned, folder=poisoned.parent) for word in words])
    printed = capsys.readouterr()
    check_lines(printed.out)
    check_lines(printed.err)


@pytest.mark.parametrize("words", [["sql", "FROM runs"], ["export", "csv"]], ids=lambda w: w[0])
def test_names_are_text_in_tables_of_many_runs(
    poisoned: Path, words: list[str], tmp_path: Path
) -> None:
    target = tmp_path / "table.csv"
    form = ["--format", "csv"] if words[0] == "sql" else []
    assert main([*words, str(poisoned.parent), *form, "-o", str(target)]) == 0
    check_csv(target.read_text())


def test_names_are_text_for_prometheus(poisoned: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs.prom"
    assert main(["ls", str(poisoned.parent), "--prometheus", str(target)]) == 0
    label = r'[a-z]+="(?:[^"\\\n]|\\[\\n"])*"'
    for line in target.read_bytes().decode().removesuffix("\n").split("\n"):
        assert re.fullmatch(
            rf"# (HELP|TYPE) mpigauge_\w+ .*|mpigauge_\w+(\{{{label}(,{label})*\}})? \S+", line
        ), line


@pytest.mark.parametrize("system", SYSTEMS)
def test_names_are_text_in_job_scripts(evil: str, system: str, tmp_path: Path) -> None:
    words = ("printf", "%s", evil)
    wish = Wish("mpigauge", str(tmp_path / "a.log"))
    text = script(SYSTEMS[system], wish, words, str(tmp_path), {"VALUE": evil})
    done = subprocess.run(
        ["sh"], input=text.encode(), cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.decode() == evil
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("field", ["queue", "account", "log"])
def test_no_word_makes_two_lines_of_a_job_script(system: str, field: str) -> None:
    fields: dict[str, Any] = {"name": "a", "log": "b", field: f"c\n{LINE}"}
    with pytest.raises(UserError, match="cannot hold an end of line"):
        script(SYSTEMS[system], Wish(**fields), ("true",), "/", {})


def test_names_are_text_in_commands_that_are_recommended(evil: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f"printf %s {as_word(evil)}"], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.decode().removeprefix("./") == evil
    assert not done.stdout.startswith(b"-")
    assert not list(tmp_path.iterdir())


def test_names_are_text_in_names_of_folders(poisoned: Path, tmp_path: Path) -> None:
    """A pack comes from elsewhere, and the folder that it becomes is named after what is in it."""
    packed = tmp_path / "a.mpigauge"
    pack(poisoned, packed)
    assert unpack(packed, tmp_path / "out").name.isprintable()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(tmp_path / "b.mpigauge", "w") as new:
        for member in old.infolist():
            new.writestr("-rf/" + member.filename.partition("/")[2], old.read(member))
    assert unpack(tmp_path / "b.mpigauge", tmp_path / "out").name == "rf"
