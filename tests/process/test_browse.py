# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge browse`: who is let in, what the pages say, and that no request leads astray."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from mpigauge.cli.main import run as main
from mpigauge.products.browse import addresses, runs_folder
from mpigauge.products.browse import pages as browse_pages
from mpigauge.products.browse.access import Access, PageRequest, Refused, headers, new_token
from mpigauge.products.browse.addresses import MOST_BESIDE, Pages
from mpigauge.products.browse.choice import SORTS
from mpigauge.products.browse.runs_folder import RunsFolder
from mpigauge.products.browse.serve import Server, ServerAddress
from mpigauge.result.library import large
from mpigauge.runs.store.tunings import RUNS
from mpigauge.site.mpi import find
from tests import cells, nights, pages, patience, runs, tunings
from tests.replay.test_report_page import OURS, Page

TOKEN = "right"
ENDLESS = "(SELECT count(*) FROM range(1000000000000) AS a(x) WHERE x % 7 = 3) > 0"
BROWSE = OURS | {"form", "button", "link"}


def queries() -> list[int]:
    """The processes of queries that this one has started; other children are not counted."""
    started = []
    for task in Path("/proc/self/task").iterdir():
        started += [int(word) for word in (task / "children").read_text().split()]
    return [process for process in started if _is_query(process)]


def _is_query(process: int) -> bool:
    return b"browse.apart" in Path(f"/proc/{process}/cmdline").read_bytes()


class Rows(Page):
    """With the words of links in its tables, too."""

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        if self.open and self.open[-1] == "a" and {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


class Said(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]

    @property
    def page(self) -> Rows:
        return Rows(self.text)

    @property
    def names(self) -> list[str]:
        """The runs that a list shows."""
        named = [attrs for tag, attrs in self.page.tags if tag == "input"]
        return [attrs["value"] or "" for attrs in named if attrs.get("name") == "run"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nights.folder(tmp_path_factory.mktemp("browse") / "runs")


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Server]:
    with RunsFolder.open(store) as folder:
        site = Pages(folder, f"/{TOKEN}/")
        with Server("127.0.0.1", 0, Access(TOKEN), site) as server:
            thread = Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            yield server
            server.shutdown()
            thread.join()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> Said:
    """Behind the token, unless the path begins with a stroke."""
    target = path if path.startswith("/") else f"/{TOKEN}/{path}"
    line = HTTPConnection("127.0.0.1", server.server_port)
    line.putrequest(method, target, skip_host="Host" in headers)
    for name, value in headers.items():
        line.putheader(name, value)
    line.endheaders()
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    return Said(answer.status, text, dict(answer.getheaders()))


# --- who has access -----------------------------------------------------------------------
def asked(target: str, *hosts: str, **access: Any) -> PageRequest | Refused:
    return Access(TOKEN, **access).asked(target, hosts or ("127.0.0.1:80",))


@pytest.mark.parametrize(
    "target",
    ["/", "/righ/", "/rightt/", "/wrong/run/x", "//right/", "right/", "*", "", "/?right",
     "http://127.0.0.1/right/", "/x/../right/", "/%72ight/", "/\udcff/"],
)  # fmt: skip
def test_without_the_token_nobody_is_let_in(target: str) -> None:
    found = asked(target)
    assert isinstance(found, Refused)
    assert found.status == 403


@pytest.mark.parametrize(
    ("host", "ours"),
    [("127.0.0.1", True), ("127.0.0.1:8000", True), ("localhost:1", True), ("LocalHost", True),
     ("[::1]:8000", True), ("127.0.0.2", True), ("evil.com", False), ("evil.com:8000", False),
     ("localhost.evil.com", False), ("127.0.0.1.evil.com", False), ("10.0.0.7", False),
     ("", False), ("127.0.0.1@evil.com", False), ("[::1", False), ("a/b", False)],
)  # fmt: skip
def test_only_names_of_this_machine_are_answered_to(host: str, ours: bool) -> None:
    assert isinstance(asked("/right/", host), PageRequest) is ours


def test_one_name_is_needed() -> None:
    assert isinstance(Access(TOKEN).asked("/right/", ()), Refused)
    assert isinstance(asked("/right/", "localhost", "localhost"), Refused)


def test_others_come_under_names_that_are_ours_or_addresses() -> None:
    known = {"names": ("localhost", "node7"), "any_address": True}
    for host, ours in (("node7:80", True), ("10.0.0.7:80", True), ("evil.com", False)):
        assert isinstance(asked("/right/", host, **known), PageRequest) is ours


def test_the_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr("hmac.compare_digest", compare)
    assert isinstance(asked("/right/"), Refused)
    assert compared == [(b"right", b"right")]


def test_a_token_cannot_be_guessed() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert len(new_token()) >= 32


def test_what_is_asked_for_is_read_as_it_was_written() -> None:
    found = asked("/right/run/a%2F..%2F%3Cb%3E%ff?run=x%20y&run=z&empty=")
    assert isinstance(found, PageRequest)
    assert found.path == ("run", "a/../<b>\udcff")
    assert found.query == {"run": ["x y", "z"]}


def test_too_much_is_refused() -> None:
    long, many = asked(f"/right/?{'x' * 20_000}"), asked(f"/right/?{'a=1&' * 1001}")
    assert isinstance(long, Refused)
    assert isinstance(many, Refused)
    assert (long.status, many.status) == (414, 400)


# --- the server -----------------------------------------------------------------------------
def test_every_answer_is_guarded(server: Server) -> None:
    for path in ("", "/", "nothing", "run/night00"):
        said = ask(server, path).headers
        assert said.items() >= headers().items()
        assert "Set-Cookie" not in said
        assert "Python" not in said["Server"]
    policy = headers()["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["", "run/night00", "trends"])
def test_the_script_and_the_style_of_pages_are_those_that_the_policy_allows(
    server: Server, path: str
) -> None:
    text = ask(server, path).text
    for kind in ("style", "script"):
        own = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in headers()["Content-Security-Policy"]
    assert " style=" not in text


def test_others_are_refused_in_a_word(server: Server) -> None:
    assert ask(server, "/wrong/").status == 403
    assert ask(server, "", Host="evil.com").status == 403
    assert "<" not in ask(server, "/<script>/").text


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "FOO"])
def test_pages_can_only_be_got(server: Server, method: str) -> None:
    said = ask(server, "", method)
    assert (said.status, said.headers["Allow"]) == (405, "GET")


def test_no_name_leads_out_of_the_folder(server: Server, store: Path) -> None:
    (store.parent / "outside").mkdir(exist_ok=True)
    shutil.copy(store / "night00/run.json", store.parent / "outside")
    for name in ("../outside", "..", ".", ".tables", "night00/../../outside", "night00/logs",
                 str(store / "night00"), "ref:juno", "last", "night0"):  # fmt: skip
        said = ask(server, f"run/{quote(name, safe='')}")
        assert said.status == 404, name
        assert "there is no run" in said.text
        assert ask(server, f"beside?run=night00&run={quote(name, safe='')}").status == 404
    assert ask(server, "run/../../etc/passwd").status == 404


def test_a_fault_of_ours_is_a_page_and_is_written_down(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(RunsFolder, "ask", fail)
    said = ask(server, "")
    assert said.status == 500
    assert "the list: internal error (ZeroDivisionError)" in said.text
    assert "a secret" not in said.text
    assert "a secret" in capsys.readouterr().err


# --- the list -------------------------------------------------------------------------------
def test_a_machine_has_the_numbers_of_a_run_with_an_interval(tmp_path: Path) -> None:
    """A later run of one launch says less."""
    for name, launches, created in (("sure", 6, "2026-10-01"), ("short", 1, "2026-10-02")):
        lines: list[str] = []
        for number in range(launches):
            value = 1e-6 if launches > 1 else 9e-6
            lines += [runs.launch(number), runs.cell(number, time_p50_s=value)]
            lines.append(cells.end(number))
        runs.write(tmp_path / name, lines, header={"created": f"{created}T00:00:00Z"})
    with RunsFolder.open(tmp_path) as folder:
        text = Pages(folder, "/t/").page(PageRequest((), {})).text
    machines = text.partition('<form class="filter"')[0]
    assert re.findall(r"<strong>(.*?)</strong>", machines) == ["500 ns"]
    assert "the last 2026-10-02" in machines


def test_machines_come_first_with_their_newest_numbers(server: Server) -> None:
    text = ask(server, "").text
    hosts = re.findall(rf'<h2><a href="/{TOKEN}/\?host=[^"]*">(.*?)</a></h2>', text)
    assert "n1" in hosts
    assert len(hosts) == len(set(hosts))
    (machine,) = (part for part in text.split("<li>") if ">n1</a></h2>" in part)
    report = ask(server, f"run/night{nights.NIGHTS - 1}").page.text
    latency = re.findall(r"<strong>(.*?)</strong> <small>(.*?) · 8 B</small>", machine)[0]
    assert " ".join(latency) in " ".join(report.split("Latency of 8 B")[1][:40].split())
    assert "16 runs" in machine
    assert 'class="spark"' in machine
    assert ask(server, "?host=n1").text.count("over time</a>") == 1


@pytest.mark.parametrize(
    ("sort", "first", "last"),
    [("run", "<script>", "other"), ("-run", "other", "<script>"),
     ("begun", "night00", "night15"), ("latency", "night", "other")],
)  # fmt: skip
def test_a_list_is_sorted_by_any_column(server: Server, sort: str, first: str, last: str) -> None:
    names = ask(server, f"?sort={sort}").names
    if sort == "begun":
        names = [name for name in names if name.startswith("night")]
    assert names[0].startswith(first)
    assert last in names[-2:]


def test_every_head_sorts_and_turns_the_order_around(server: Server) -> None:
    hrefs = [href for href in ask(server, "?host=n1").page.all("a", "href") if "sort=" in href]
    assert len(hrefs) == len(SORTS)
    for href in hrefs:
        said = ask(server, href)
        assert said.status == 200
        assert len(said.names) == nights.NIGHTS
        (again,) = [
            other for other in said.page.all("a", "href")
            if re.sub("=-?", "=", other) == re.sub("=-?", "=", href) and other != href
        ]  # fmt: skip
        assert "host=n1" in again


def test_what_cannot_be_sorted_by_is_named(server: Server) -> None:
    said = ask(server, "?sort=latencie")
    assert said.status == 400
    assert "runs cannot be sorted by 'latencie'; did you mean 'latency'?" in said.page.text


def test_all_runs_are_there_the_newest_first(server: Server) -> None:
    said = ask(server, "")
    names = said.names
    assert said.status == 200
    assert len(names) == nights.NIGHTS + 2
    assert [name for name in names if name.startswith("night")] == [
        f"night{number:02}" for number in reversed(range(nights.NIGHTS))
    ]
    assert "18 of 18 runs" in said.page.text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("find=NIGHT0", 10), ("find=4kib", nights.NIGHTS), ("find=%25", 0),
        ("mpi=openmpi", 1), ("mpi=mpich", nights.NIGHTS), ("mpi=mpich+5.0.1", nights.NIGHTS),
        ("host=n1", nights.NIGHTS), ("benchmark=STREAM", nights.NIGHTS + 1),
        ("benchmark=Allreduce", 1), ("benchmark=nothing", 0),
        ("since=2026-10-03&until=2026-10-04", 2), ("until=2026-10-01", 1),
        ("where=kernel+%3D+%276.1.0-18%27", nights.NIGHTS - nights.STEP),
        ("where=run+IN+(SELECT+run+FROM+rows+WHERE+message_bytes+%3D+4096)+--+x", 18),
        ("host=n1&find=night1&where=cells+%3E+3", 6), ("find=&mpi=&where=+", 18),
        ("find=%ff", 0), ("find=%00", 0), ("mpi=%F0%9F%98%80&page=%ff", 0),
    ],
)  # fmt: skip
def test_runs_are_found(server: Server, query: str, count: int) -> None:
    said = ask(server, f"?{query}")
    assert said.status == 200
    assert len(said.names) == count
    assert f"{count} of 18 runs" in said.page.text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("where=kernl+%3D+%27x%27", "there is no column 'kernl'; did you mean 'kernel'?"),
        ("where=%28", "this is not a query"),
        ("where=%ff", "this is not a query"),
        ("where=1+%00", "this is not a query"),
        ("where=1%3D1%29%3B+DROP+VIEW+runs%3B+SELECT+%28run", "write one"),
        ("since=yesterday", "'yesterday' is not a day; write one as 2026-11-21"),
    ],
)
def test_wrong_words_are_named_where_they_were_written(
    server: Server, query: str, why: str
) -> None:
    said = ask(server, f"?{query}")
    assert said.status == 400
    assert why in said.page.text
    assert said.names == []
    assert 'role="search"' in said.text


@pytest.mark.parametrize(
    "expression",
    ["(SELECT count(*) FROM read_text('{0}')) > 0", "error((SELECT content FROM read_text('{0}')))",
     "EXISTS (FROM read_csv('{0}'))", "EXISTS (FROM '{0}')", "EXISTS (FROM glob('{0}'))"],
)  # fmt: skip
def test_an_expression_reads_nothing_but_the_runs(
    server: Server, tmp_path: Path, expression: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("private\nunheard\n")
    said = ask(server, f"?where={quote(expression.format(secret))}")
    assert said.status == 400
    assert "unheard" not in said.text
    assert "disabled by configuration" in said.text


def test_a_page_that_takes_too_long_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queries of the page itself have the limit, too."""
    monkeypatch.setattr(runs_folder, "PATIENCE_S", 0.2)
    monkeypatch.setattr(addresses, "curves", lambda con, _: con.execute(f"SELECT {ENDLESS}"))
    said = ask(server, "?")
    assert said.status == 400
    assert "the query was given up after 0.2 s" in said.text


def test_a_question_without_end_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_folder, "PATIENCE_S", 0.2)
    said = ask(server, f"?where={quote(ENDLESS)}")
    assert said.status == 400
    assert "the query was given up after 0.2 s" in said.text
    patience.wait_for(lambda: not queries())


@pytest.mark.parametrize("page", ["?", "trends?"])
@pytest.mark.parametrize(
    "greedy",
    [
        "length(repeat('x', 3000000000)) > 0",
        "(SELECT len(list(x)) FROM range(1000000000) AS a(x)) > 0",
    ],
)
def test_a_question_for_too_much_memory_is_refused(server: Server, page: str, greedy: str) -> None:
    said = ask(server, f"{page}where={quote(greedy)}")
    assert said.status == 400
    assert "the query needs more memory than it may take" in said.text


def test_others_are_served_while_a_question_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_folder, "PATIENCE_S", 600.0)
    answers: list[Said] = []
    asking = [
        Thread(target=lambda: answers.append(ask(server, f"?where={quote(ENDLESS)}")), daemon=True)
        for _ in range(runs_folder.MOST_QUERIES)
    ]
    for each in asking:
        each.start()
    try:
        patience.wait_for(lambda: len(queries()) == len(asking))
        assert [ask(server, page).status for page in ("", "trends")] == [200, 200]
        monkeypatch.setattr(runs_folder, "WAIT_S", 0.1)
        refused = ask(server, "?where=true").text
        assert f"{len(asking)} other queries are running; try again" in refused
        assert answers == []
    finally:
        for process in queries():
            os.kill(process, signal.SIGKILL)
    for each in asking:
        each.join()
    assert [said.status for said in answers] == [400] * len(asking)
    assert ask(server, "?where=true").status == 200


def test_what_is_damaged_is_named(server: Server) -> None:
    text = ask(server, "").page.text
    assert "2 things are not as they should be with these runs" in text
    assert f"{nights.DAMAGED}/run.json is damaged" in text
    said = ask(server, f"run/{nights.DAMAGED}")
    assert said.status == 400
    assert "is damaged" in said.page.text


@pytest.mark.parametrize(
    "path",
    ["", "trends", f"beside?run={quote(pages.NAME)}&run=night00",
     f"?find={quote(pages.EVIL)}&where={quote(pages.EVIL)}&mpi={quote(pages.EVIL)}",
     f"run/{quote(pages.EVIL, safe='')}", f"trend/{quote(pages.EVIL, safe='')}"],
)  # fmt: skip
def test_names_are_escaped(server: Server, path: str) -> None:
    page = ask(server, path).page
    assert {tag for tag, _ in page.tags} <= BROWSE
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    links = [value for kind in ("a", "form") for value in page.all(kind, "href")]
    assert all(link.startswith(("#", "data:", f"/{TOKEN}/")) for link in links)


def test_a_run_called_script_is_there_under_its_name(server: Server) -> None:
    assert pages.NAME in ask(server, "").names
    assert f"/{TOKEN}/run/%3Cscript%3E" in ask(server, "").page.all("a", "href")


def test_many_runs_are_on_several_pages(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse_pages, "PER_PAGE", 5)
    first, last = ask(server, "?find=night"), ask(server, "?find=night&page=99")
    assert first.names[0] == "night15"
    assert last.names == ["night00"]
    assert "page 4 of 4" in last.page.text
    (on,) = [href for href in first.page.all("a", "href") if "page=" in href]
    assert ask(server, on).names == [f"night{number:02}" for number in (10, 9, 8, 7, 6)]
    assert ask(server, "?page=-1").names[0] == ask(server, "?page=x").names[0]


def test_new_runs_are_there_when_the_page_is_loaded_again(server: Server, store: Path) -> None:
    assert "late" not in ask(server, "").names
    shutil.copytree(store / "night03", store / "late")
    (store / "late/run.json").write_text((store / "other/run.json").read_text())
    try:
        assert "late" in ask(server, "").names
    finally:
        shutil.rmtree(store / "late")
    assert "late" not in ask(server, "").names


def test_several_can_ask_at_once(server: Server) -> None:
    said: list[int] = []
    paths = ["", "trends", "?find=night", "run/night01"]
    threads = [Thread(target=lambda p=p: said.append(ask(server, p).status)) for p in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [200] * len(paths)


# --- reports and comparisons ----------------------------------------------------------------
def test_a_run_has_its_report_and_a_way_back(server: Server) -> None:
    said = ask(server, "run/night00")
    assert said.status == 200
    assert said.page.all("section", "id")[0] == "answer"
    assert f"/{TOKEN}/" in said.page.all("a", "href")


def test_tunings_are_listed_and_have_their_pages(server: Server, store: Path) -> None:
    tunings.make(store / "tuned", find("mpich"))
    shutil.copytree(store / "night00", store / "tuned" / RUNS / "confirm")
    (store / "cut").mkdir()
    (store / "cut" / "rules.json").write_text("{", encoding="utf-8")
    try:
        listed = ask(server, "")
        assert ["tuned", find("mpich").label, "here", "1 rule: Alltoall"] in listed.page.tables[-1]
        assert "cut/rules.json is damaged" in listed.text
        said = ask(server, "tuning/tuned")
        assert (said.status, "<p>tuned</p>" in said.text) == (200, True)
        assert ask(server, "tuning/night00").status == 404
        assert "Tunings" not in ask(server, "?mpi=mpich+5.0.2").text
    finally:
        shutil.rmtree(store / "tuned")
        shutil.rmtree(store / "cut")


def test_runs_side_by_side_are_judged(server: Server) -> None:
    page = ask(server, "beside?run=night00&run=night12").page
    kinds = ["ratios", "curves", "figures"]
    assert page.all("section", "id") == ["runs", "verdicts", *kinds, "numbers"]
    assert "night12 takes 20 % more time" in page.text
    assert "Over all 2 sizes night12 takes 1.20" in page.text
    assert "their intervals hold what earlier runs of this machine differed by" in page.text
    assert ["kernel", "6.1.0-17", "6.1.0-18"] in [row for table in page.tables for row in table]
    rows = [row for table in page.tables for row in table if row[-1] == "SLOWER"]
    assert [row[:2] for row in rows] == [["", "night12"], ["", "night12"], ["all", "night12"]]
    assert {"night00", "night12"} <= {row[1] for table in page.tables for row in table if row[1:]}


def test_another_run_can_be_the_first(server: Server) -> None:
    page = ask(server, "beside?run=night00&run=night12").page
    (turned,) = [href for href in page.all("a", "href") if "beside?" in href]
    assert turned.endswith("beside?run=night12&run=night00")
    assert "night00 takes 16 % less time" in ask(server, turned).page.text


def test_of_those_chosen_in_the_list_the_oldest_is_the_first(server: Server) -> None:
    page = ask(server, "beside?by=time&run=night12&run=other&run=night00").page
    assert [row[0] for row in page.tables[0][1:]] == ["night00", "night12", "other"]


def test_what_runs_have_not_in_common_is_said(server: Server) -> None:
    page = ask(server, f"beside?run={quote(pages.NAME)}&run=night00").page
    assert "only in" in page.text


def test_nothing_is_concluded_from_a_part_of_a_large_run(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE_BYTES", 1000)
    page = ask(server, "beside?run=night00&run=night12").page
    assert "The runs are not compared: night00, night12 is too large" in page.text
    assert "SLOWER" not in page.text
    assert "share no number" not in page.text


@pytest.mark.parametrize(
    ("names", "why"),
    [([], "choose two runs or more"), (["night00"], "choose two runs or more"),
     (["night00", "night00"], "choose two runs or more"),
     ([f"night{n:02}" for n in range(MOST_BESIDE + 1)], "9 runs are chosen; 8 is the most")],
)  # fmt: skip
def test_too_few_and_too_many_runs_are_said(server: Server, names: list[str], why: str) -> None:
    said = ask(server, "beside?" + "&".join(f"run={name}" for name in names))
    assert said.status == 400
    assert why in said.page.text


# --- trends ---------------------------------------------------------------------------------
def trend_of(server: Server, name: str, query: str = "") -> Said:
    text = ask(server, f"trends{query}").text
    (href,) = re.findall(rf'<a href="([^"]*/trend/[^"]*)">{re.escape(name)}</a>', text)
    return ask(server, href.replace("&amp;", "&"))


def test_numbers_that_several_runs_have_are_listed(server: Server) -> None:
    text = ask(server, "trends").text
    names = re.findall(r'<h2><a href="[^"]*/trend/[^"]*">(.*?)</a>', text)
    assert names == ["PingPong 8 B on 2 ranks", "PingPong 4 KiB on 2 ranks", "STREAM Triad"]
    assert "mpich · n1 · 16 runs, 2026-10-01 to 2026-10-16" in text


def test_the_board_shows_the_step_of_each_number(server: Server) -> None:
    """The times step up by a fifth, and the figure down."""
    text = ask(server, "trends").text
    verdicts = re.findall(r"<p>((?:SLOWER|LOWER|WORSE|LESS).*?)</p>", text)
    assert len(verdicts) == 3
    assert all("since 2026-10-09, " in verdict for verdict in verdicts)
    boards = text.split('<svg class="spark"')[1:]
    assert len(boards) == 3
    assert all(board.partition("</svg>")[0].count("<line ") == 1 for board in boards)


def test_numbers_of_one_name_are_told_apart(server: Server, store: Path) -> None:
    added = [shutil.copytree(store / f"night0{n}", store / f"sum{n}") for n in (1, 2)]
    for run in added:
        text = (run / "records.jsonl").read_text()
        (run / "records.jsonl").write_text(text.replace('"op": ""', '"op": "sum"'))
    try:
        text = ask(server, "trends").text
    finally:
        for run in added:
            shutil.rmtree(run)
    told = re.findall(r">PingPong 8 B on 2 ranks</a><small>(.*?)</small>", text)
    assert told == ["op: ", "op: sum"]


def test_a_step_is_named_with_what_changed(server: Server) -> None:
    page = trend_of(server, "PingPong 8 B on 2 ranks").page
    assert "SLOWER since 2026-10-09 (night08): 1.199 times (1.19" in page.text
    assert "Near the step of 2026-10-09 changed (1)" in page.text
    (row,) = [row for table in page.tables for row in table if row[0] == "(1)"]
    assert row[1:6] == ["2026-10-09", "night08", "kernel: 6.1.0-17 → 6.1.0-18", "8", "8"]
    assert row[-1] == "SLOWER"
    values = [row for row in page.tables[-1] if row[0].startswith("night")]
    assert [row[0] for row in values] == [f"night{n:02}" for n in reversed(range(nights.NIGHTS))]
    assert values[-1][1:5] == ["2026-10-01 03:00", "1.01 µs", "±1.0 %", "6"]


def test_a_figure_has_a_trend_in_its_unit(server: Server) -> None:
    page = trend_of(server, "STREAM Triad").page
    assert "WORSE since 2026-10-09" in page.text
    assert "MB/s" in page.tables[-1][1][2]


def test_a_trend_of_few_runs_is_undecided(server: Server) -> None:
    said = trend_of(server, "PingPong 8 B on 2 ranks", "?until=2026-10-05")
    assert "UNDECIDED: 5 runs, and at least 12 are needed" in said.page.text


def test_values_that_are_none_are_left_out_and_it_is_said(server: Server, store: Path) -> None:
    lines = (store / "night03/records.jsonl").read_text()
    run = shutil.copytree(store / "night03", store / "zero")
    head = (run / "run.json").read_text()
    (run / "run.json").write_text(head.replace("2026-10-04", "2026-12-24"))
    (run / "records.jsonl").write_text(re.sub(r'"value": [\d.]+', '"value": 0.0', lines))
    try:
        page = trend_of(server, "STREAM Triad").page
    finally:
        shutil.rmtree(run)
    assert (
        "1 run left out: the newest 400 with a value above 0 and right data are shown." in page.text
    )
    assert "zero" not in [row[0] for row in page.tables[-1]]


def test_a_number_that_is_not_there_is_said_to_be_so(server: Server) -> None:
    said = ask(server, "trend/0123456789abcdef")
    assert said.status == 404
    assert "no two of the runs have this number" in said.page.text


# --- the folder -----------------------------------------------------------------------------
def test_where_nothing_can_be_kept_nothing_is_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(store / "night00", tmp_path / "runs/night00")
    before = sorted((tmp_path / "runs").rglob("*"))
    monkeypatch.setattr("os.access", lambda *_: False)
    with RunsFolder.open(tmp_path / "runs") as folder:
        assert Pages(folder, "/x/").page(PageRequest((), {})).status == 200
        told: list[int] = []
        folder.ask(lambda _: None, lambda _, count: told.append(count))
        assert told == []  # what was read is kept elsewhere while it is open
    assert sorted((tmp_path / "runs").rglob("*")) == before


def test_a_folder_that_has_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    with RunsFolder.open(tmp_path / "gone") as folder:
        page = Pages(folder, "/x/").page(PageRequest((), {}))
    assert page.status == 400
    assert "there is no folder" in page.text


# --- the command ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere"], "there is no folder"),
        (["RUNS/night00"], "is one run; name the folder that holds it"),
        (["RUNS", "--host", "0.0.0.0"], "if that is intended, add --let-others-in"),
        (["RUNS", "--let-others-in"], "--let-others-in needs --host"),
        (["RUNS", "--host", "127.0.0.1", "--port", "BUSY"], "leave --port out"),
        (["RUNS", "--host", "192.0.2.1", "--let-others-in"], "cannot listen at 192.0.2.1"),
        (["RUNS", "--port", "70000"], "70000 is not in the range"),
    ],
)
def test_wrong_input_gets_one_line(
    words: list[str], why: str, server: Server, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"RUNS": str(store), "BUSY": str(server.server_port)}
    said = [word.replace("RUNS", known["RUNS"]).replace("BUSY", known["BUSY"]) for word in words]
    assert main(["browse", *said]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") <= 3  # and what is not right with the runs


def test_it_ends_cleanly_with_ctrl_c(store: Path) -> None:
    words = [sys.executable, "-c", "from mpigauge.cli import main; main()", "browse", str(store)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(5)]
    assert said[0].startswith(f"mpigauge: 19 runs of {store} can be seen at")
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/\S{32}/)", said[1])
    assert found
    assert re.fullmatch(rf"ssh -L {found[1]}:127\.0\.0\.1:{found[1]} \S+@\S+", said[3])
    line = HTTPConnection("127.0.0.1", int(found[1]))
    line.request("GET", found[2])
    assert b"night00" in line.getresponse().read()
    process.send_signal(signal.SIGINT)
    rest, errors = patience.communicate(process, 30)
    assert (process.returncode, rest) == (0, "")
    assert errors.endswith("mpigauge: ended\n")
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("place", "address"),
    [
        (ServerAddress("127.0.0.1"), "http://127.0.0.1:80/x/"),
        (ServerAddress("::1"), "http://[::1]:80/x/"),
        (ServerAddress("0.0.0.0", others=True), f"http://{os.uname().nodename}:80/x/"),
        (ServerAddress("node7", others=True), "http://node7:80/x/"),
    ],
)
def test_the_address_can_be_opened(place: ServerAddress, address: str) -> None:
    words = "\n".join(place.words(80, "/x/"))
    assert address in words
    assert ("ssh -L 80:" in words) is not place.others
    assert ("not encrypted" in words) is place.others


def test_commands_of_the_page_run_as_written(
    repository: Path,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(store / "night00", tmp_path / "mpigauge-runs/night00")
    shutil.copytree(store / "night00", tmp_path / "nightly/night00")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Server, "serve_forever", lambda _: None)
    text = (repository / "docs/howto/browse.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    mpigauge (.*)$", text, re.MULTILINE)
    assert len(commands) >= 3
    for words in map(shlex.split, commands):
        free = ["0" if word == "8931" else word for word in words]  # of the ports
        assert main(free) == 0, words
        assert "1 run of" in capsys.readouterr().out


def test_a_long_name_of_a_run_lacks_its_middle(tmp_path: Path) -> None:
    """The whole name is in its title, and names that differ remain distinct."""
    names = [f"20261126-065731-PingPong-of-many-words-{end}-and-more-of-them" for end in "ab"]
    for day, name in enumerate(names, 1):
        runs.write(tmp_path / name, header={"created": f"2026-11-0{day}T00:00:00Z"})
    with RunsFolder.open(tmp_path) as folder:
        text = Pages(folder, "/t/").page(PageRequest((), {})).text
    shown = re.findall(r'<th scope="row"><a href="[^"]*" title="([^"]*)">([^<]*)</a>', text)
    assert {whole for whole, _ in shown} == set(names)
    assert len({short for _, short in shown}) == len(names)
    assert all("…" in short and len(short) <= browse_pages.LONGEST_NAME for _, short in shown)
