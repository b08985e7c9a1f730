# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page of a profile, from `mpigauge report` and `mpigauge browse`."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.browse.access import PageRequest
from mpigauge.products.browse.addresses import Pages
from mpigauge.products.browse.runs_folder import RunsFolder
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.efficiencies import efficiencies_of
from mpigauge.products.profile.kind import page_of
from mpigauge.products.profile.launch.profiling import jobs_of
from mpigauge.products.profile.read.symbols import Place
from mpigauge.products.profile.show.page import LONGEST_NAME
from mpigauge.products.profile.show.pictures import peers_scale
from tests.profiles import MAIN, NORM, after_an_edit, job, rank_file, stored
from tests.replay.test_report_page import Page
from tests.unit.products.profile.test_profile_waited import waits


def text_of(page: str) -> str:
    """What a reader sees."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture
def page(tmp_path: Path) -> str:
    stored(tmp_path / "run", job())
    target = tmp_path / "profile.html"
    assert mpigauge(["report", str(tmp_path / "run"), "-o", str(target)]) == 0
    return target.read_text(encoding="utf-8")


def test_the_page_begins_with_the_answer(page: str) -> None:
    text = text_of(page)
    assert "Share of MPI 18 %" in text
    assert "86 % of the time in MPI is MPI_Allreduce in norm at norm.cpp:88" in text
    assert text.index("Share of MPI") < text.index("Call sites by function")


def test_the_page_is_whole_and_asks_nobody(page: str) -> None:
    assert len(Page(page).tables) >= 4
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_call_sites_can_be_sorted_and_are_folded(page: str) -> None:
    tables = re.findall(r'<table class="sortable">.*?</table>', page, re.DOTALL)
    titles = [re.search(r"<caption>(.*?)</caption>", table)[1] for table in tables]  # type: ignore[index]
    assert titles[0] == "Call sites"
    assert "Call sites by function" in titles
    rows = re.findall(r"<tr>(.*?)</tr>", tables[0], re.DOTALL)[1:]
    assert len(rows) == 4
    values = re.findall(r'data-value="([^"]*)"', rows[0])
    assert values[1] == "MPI_Allreduce"
    assert float(values[4]) == pytest.approx(0.15)


@pytest.mark.parametrize("is_split", [True, False])
def test_regions_have_their_efficiencies(is_split: bool, tmp_path: Path) -> None:
    """Without a split of nearly all time in MPI the last two are left out."""
    of = waits(0.0, 0.0, resolved=True)
    seconds = [0.1, 0.2]  # the calls of the region, on two ranks
    rows = of.profile.waits
    rows["waiting_s"] = rows["waiting_low_s"] = rows["waiting_high_s"] = np.divide(seconds, 4)
    rows["moving_s"] = rows["moving_low_s"] = rows["moving_high_s"] = np.divide(seconds, 2)
    rows["disturbed_s"] = np.divide(seconds, 4 if is_split else 100)
    own = efficiencies_of(Account(of), "secret step")
    assert own.is_split is is_split
    page = page_of(str(stored(tmp_path / "run", of)))
    table = page.partition("<caption>Efficiencies by region</caption>")[2].partition("</table>")[0]
    values = re.findall(r'data-value="([^"]*)"', table)
    assert values[:2] == ["secret step", str(own.entered)]
    ratios = own.parallel, own.load_balance, own.communication
    assert list(map(float, values[3:6])) == pytest.approx(ratios, rel=1e-3)
    if is_split:
        parts = own.serialisation.value, own.transfer.value
        assert list(map(float, values[6:8])) == pytest.approx(parts, rel=1e-3)
    else:
        assert values[6:8] == ["", ""]


def test_times_over_several_launches_have_an_error(tmp_path: Path) -> None:
    several = stored(tmp_path / "run", *(job(number, 2 + number / 10) for number in range(3)))
    page = page_of(str(several))
    assert '<th scope="col">±</th>' in page
    assert "3 launches" in page
    top = re.search(r'<td data-value="MPI_Allreduce">.*?</tr>', page)
    assert top is not None
    assert "155 ms" in top[0]
    assert "-3.2…+3.2 %" in top[0]


def test_waiting_is_a_part_of_the_bars(tmp_path: Path) -> None:
    page = page_of(str(stored(tmp_path / "run", waits(8e-3, 1e-4, resolved=True))))
    drawn = re.findall(r"<title>rank (\d): ([^<]*) waiting in MPI</title>", page)
    assert [rank for rank, _ in drawn] == ["0", "1"]
    assert any(time.startswith("8.00 ms") for _, time in drawn)
    assert "moving in MPI" in page


def test_numbers_can_be_taken_along(page: str) -> None:
    (data,) = re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    lines = base64.b64decode(data).decode().splitlines()
    assert lines[0].startswith("launch,job,site,call,group,region,place,rank,calls,seconds")
    assert any(line.startswith("0,0,1,MPI_Allreduce,collective,secret step") for line in lines)


def test_peers_and_ranks_are_drawn(page: str) -> None:
    assert "<title>rank 0 to rank 1: 8.0 KiB</title>" in page
    assert "rank 1: 225 ms in MPI" in page
    assert "Sizes of messages" in page
    assert "MPI over the run" in page


def test_very_many_ranks_share_bars_and_squares() -> None:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.show import pictures

    files = [replace(rank_file(0), rank=n, ranks=200, host="node0") for n in range(200)]
    (many,) = jobs_of(0, files)
    account = Account(many)
    assert pictures.ranks(account).svg.count("ranks ") == 3 * 29
    squares = pictures.peers(account)
    assert squares is not None
    assert "A square stands for 3 × 3 ranks" in squares.about


def test_a_profile_of_nothing_says_so(tmp_path: Path) -> None:
    stored(tmp_path / "run")
    assert "Nothing was profiled" in (page_of(str(tmp_path / "run")))


def test_a_page_is_of_one_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(stored(tmp_path / name, job())) for name in ("a", "b")]
    target = tmp_path / "x.html"
    assert mpigauge(["report", *runs, "-o", str(target)]) == 2
    assert "`mpigauge compare`" in capsys.readouterr().err
    assert not target.exists()


def test_browse_has_the_same_page(tmp_path: Path) -> None:
    stored(tmp_path / "runs" / "one", job())
    with RunsFolder.open(tmp_path / "runs") as folder:
        site = Pages(folder, "/token/")
        found = site.page(PageRequest(("run", "one"), {}))
    assert found.status == 200
    assert "Call sites by function" in found.text
    assert 'href="/token/"' in found.text


def test_browse_puts_call_sites_side_by_side(tmp_path: Path) -> None:
    stored(tmp_path / "runs" / "before", job())
    stored(tmp_path / "runs" / "after", after_an_edit())
    with RunsFolder.open(tmp_path / "runs") as folder:
        site = Pages(folder, "/token/")
        found = site.page(PageRequest(("beside",), {"run": ["before", "after"]}))
    assert found.status == 200
    assert "Allreduce in norm [secret step]" in found.text
    assert "Send in main" in found.text


def test_profiles_of_other_ranks_are_side_by_side_by_their_figures(tmp_path: Path) -> None:
    (alone,) = jobs_of(0, [replace(rank_file(0), ranks=1)])
    stored(tmp_path / "runs" / "two", job())
    stored(tmp_path / "runs" / "one", alone)
    with RunsFolder.open(tmp_path / "runs") as folder:
        site = Pages(folder, "/token/")
        found = site.page(PageRequest(("beside",), {"run": ["two", "one"]}))
    assert found.status == 200
    assert "time in MPI_Allreduce" in found.text


def test_the_title_names_the_program_and_its_machine(page: str) -> None:
    assert "<h1>Profile of solver on node[0-1]</h1>" in page
    assert "<p>run</p>" in page


def test_long_names_of_call_sites_leave_the_other_columns_in_view(tmp_path: Path) -> None:
    """They lack their middle, remain distinct, and are found by their whole names."""
    names = [f"{'a_very_long_name_' * 9}{end}_{'and_more_' * 9}" for end in ("one", "two")]
    places = {
        frame: (Place(name, "main.cpp", 640),)
        for frame, name in zip((NORM, MAIN), names, strict=True)
    }
    text = page_of(str(stored(tmp_path / "x", replace(job(), places=places))))
    cells = re.findall(r'<td data-value="[^"]*" class="name" title="([^"]*)">([^<]*)</td>', text)
    assert {name for name in names for whole, _ in cells if name in whole} == set(names)
    assert len({short for _, short in cells}) == len(set(cells)), "one name for each part"
    assert max(len(short) for _, short in cells) <= LONGEST_NAME


def test_pictures_come_before_tables(page: str) -> None:
    """The tree of efficiencies, the call sites and the ranks are seen first, then the timeline."""
    places = [page.index(f'aria-label="{title}') for title in PICTURES_FIRST]
    assert places == sorted(places)
    assert places[-1] < page.index('<table class="sortable">')
    assert "parallel efficiency: 82 %" in page


PICTURES_FIRST = (
    "Efficiencies",
    "Call sites with most time in MPI",
    "Time of each rank",
    "Timeline",
)


def test_peers_have_messages_and_time_too(page: str) -> None:
    assert "<title>rank 0 to rank 1: 10</title>" in page
    assert "<title>rank 0 to rank 1: 20.0 ms</title>" in page


def test_nearly_equal_values_look_alike() -> None:
    scale = peers_scale([1000.0, 1001.0, 999.0])
    places = [scale.place(value) for value in (999.0, 1001.0)]
    assert places[1] - places[0] < 0.01
    assert peers_scale([1.0, 1000.0]).place(1.0) == 0


def test_communicators_have_a_table(page: str) -> None:
    (table,) = re.findall(r"<caption>Communicators</caption>.*?</table>", page, re.DOTALL)
    rows = [re.findall(r'data-value="([^"]*)"', row) for row in re.findall(r"<tr>.*?</tr>", table)]
    by_name = {row[0]: row[1:] for row in rows if row}
    assert by_name["secret grid"][:4] == ["2", "MPI_Comm_split", "200", "1600"]
    assert float(by_name["secret grid"][4]) == pytest.approx(0.15)
    assert float(by_name["MPI_COMM_WORLD"][4]) == pytest.approx(0.02)
