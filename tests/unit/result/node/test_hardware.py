# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of the node beside what messages take: whose they are, and what is compared."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as main
from mpigauge.draw.axes import BANDWIDTH, SIZE, TIME
from mpigauge.result.document import Document, document
from mpigauge.result.node.against import Limits
from mpigauge.result.node.hardware import hardware
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.result.run_view import RunView
from mpigauge.runs.store import Run
from mpigauge.session.limiting import near_in, with_limits
from mpigauge.session.run_names import open_run
from mpigauge.show.kinds import ALL, PLOTS
from mpigauge.show.limits import levels, lines
from tests import cells, planted

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell

PLAN = {"plan": {"benchmarks": ["NODE:Mailbox"]}}


def of_node(name: str, ranks: int, **changed: Any) -> Cell:
    return cells.cell(name, suite="NODE", ranks=ranks, message_bytes=-1, **changed)


NODE = [
    of_node("Line", 2, time_p50_s=64 * 60e-9, time_scale=1 / 64),
    of_node("Mailbox", 2, time_p50_s=64 * 134e-9, time_scale=1 / 64),
    of_node("Memcpy", 1, time_p50_s=1.0, moved_bytes=24e9),
    of_node("Copy_tuned", 1, time_p50_s=1.0, moved_bytes=28e9),
    of_node("Copy_tuned", 2, time_p50_s=1.0, moved_bytes=32e9),
    of_node("Triad_tuned", 8, time_p50_s=1.0, moved_bytes=90e9),
    of_node("Peak_avx2", 8, time_p50_s=1.0, messages=400e9, moved_bytes=0.0),
    of_node("Peak_avx2_single", 8, time_p50_s=1.0, messages=800e9, moved_bytes=0.0),
]


def messages(pus: tuple[str, str] = ("0", "1"), host: str = "n1", **header: Any) -> Run:
    """0.19 µs, and 11 GB/s at 4 MiB."""
    curve = planted.curve(planted.line(190e-9, 1 / 11e9), sizes=[0, 8, 4096, 4 << 20])
    known = {"created": "2026-11-21T12:00:00Z"} | header
    machine = planted.LAPTOP | {"hostname": host}
    return planted.run(curve, planted.ranks(pus, host), machine, **known)


def node_run(host: str = "n1", created: str = "2026-11-21T10:00:00Z", **machine: Any) -> Run:
    there = planted.LAPTOP | {"hostname": host} | machine
    return planted.run(NODE, planted.ranks(["0", "1"], host), there, created=created, **PLAN)


def store(run: Run, folder: Path, name: str) -> Path:
    """With the moment that it claims, whatever the clock says."""
    path = planted.store(run, folder / name)
    header = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(header | {"created": run.header["created"]}))
    return path


def found(path: Path, word: str | None = None) -> Limits | None:
    stored = open_run(str(path))
    return with_limits(document(stored), stored, word).limits


def test_what_a_node_can_do() -> None:
    known = hardware(node_run())
    assert known is not None
    assert known.mailbox_s is not None
    assert known.line_s is not None
    assert known.one_copy is not None
    assert known.two_copies is not None
    assert known.mailbox_s.value == pytest.approx(134e-9)
    assert known.line_s.value == pytest.approx(60e-9)
    assert known.one_copy.value == pytest.approx(14e9), "the best copy, a byte read and written"
    assert known.two_copies.value == pytest.approx(8e9)
    assert hardware(messages()) is None


def test_what_lies_in_caches_is_not_what_memory_can_do() -> None:
    """The curve of a triad begins in the first cache, and compilers are compared there."""
    by_g: dict[str, Any] = {"settings": "compiler=g++", "message_bytes": 8192}
    fast = [
        replace(of_node("Triad", 1, time_p50_s=1.0, moved_bytes=900e9), message_bytes=8192),
        of_node("Triad", 8, time_p50_s=1.0, moved_bytes=80e9),
        replace(of_node("Copy", 1, time_p50_s=1.0, moved_bytes=800e9), **by_g),
    ]
    both = planted.run([*NODE, *fast], planted.ranks(["0", "1"], "n1"), planted.LAPTOP)
    known = hardware(both)
    assert known is not None
    assert known.triad is not None
    assert known.triad.ranks == 8
    assert known.one_copy is not None
    assert known.one_copy.value == pytest.approx(14e9)
    only = planted.run(fast[2:], planted.ranks(["0"], "n1"), planted.LAPTOP)
    assert hardware(only) is None


def test_messages_against_their_limits(tmp_path: Path) -> None:
    shown = store(messages(), tmp_path, "a")
    store(node_run(), tmp_path, "node")
    known = found(shown)
    assert known is not None
    assert list(lines(known)) == [
        "limits of the node  (node, 2 h before, cores 0 and 1)",
        "  latency, 0 B        1.42 × the mailbox floor (134 ns), ±2.0 %",
        "  bandwidth, 4 MiB    0.783 × one copy in memory (14 GB/s), ±2.0 %",
        "  bandwidth, 4 MiB    1.37 × two copies in memory (8 GB/s), ±2.0 %",
        "  the node            Triad 90 GB/s on 8 ranks, 400 GFLOP/s (avx2) on 8 ranks",
    ]


@pytest.mark.parametrize(("data", "gigabytes"), [("static", 44), ("fresh", 22)])
def test_copies_of_as_much_come_before_those_in_memory(
    data: str, gigabytes: int, tmp_path: Path
) -> None:
    copied = [
        of_node(name, 2, time_p50_s=1.0, moved_bytes=speed * 1e9, data="static")
        for name, speed in (("Copy_once", 44.0), ("Copy_once_fresh", 22.0))
    ]
    sized = [replace(cell, message_bytes=4 << 20) for cell in copied]
    near = messages()
    sent = [replace(cell, data=data) for cell in near.cells]
    all_of = planted.run(
        [*sent, *NODE, *sized], near.ranks, near.passport["machine"], **near.header
    )
    known = found(store(all_of, tmp_path, "a"))
    assert known is not None
    _, once, twice = known.against
    assert (once.limit, once.value.value) == ("one copy of as much", gigabytes * 1e9)
    assert twice.limit == "two copies in memory"


def test_other_cores_are_not_compared(tmp_path: Path) -> None:
    shown = store(messages(("0", "4")), tmp_path, "a")
    store(node_run(), tmp_path, "node")
    known = found(shown)
    assert known is not None
    assert not known.against
    head, mailbox, *_ = lines(known)
    assert head.endswith("cores 0 and 1: not those of these messages)")
    assert mailbox == "  mailbox floor 134 ns"


def test_curves_of_other_cores_are_not_drawn_against_them(tmp_path: Path) -> None:
    near, far = messages(), messages(("0", "4"))
    several = [
        *(replace(cell, placement="l3", members="0,1") for cell in near.cells),
        *(replace(cell, placement="numa", members="0,2") for cell in far.cells),
    ]
    ranks = planted.ranks(["0", "1", "4"])
    both = planted.run(several, ranks, near.passport["machine"], **near.header)
    shown = store(both, tmp_path, "a")
    store(node_run(), tmp_path, "node")
    known = found(shown)
    assert known is not None
    assert known.against, "the headline is of the first placement, between the same cores"
    assert levels(known, TIME) == ()


def test_a_run_without_messages_between_two_ranks_has_no_limits(tmp_path: Path) -> None:
    of_four = planted.curve(planted.line(), "Allreduce", [8, 64], ranks=4)
    machine = planted.LAPTOP | {"hostname": "n1"}
    ranks = planted.ranks(["0", "1", "2", "3"])
    header = {"created": "2026-11-21T12:00:00Z"}
    shown = store(planted.run(of_four, ranks, machine, **header), tmp_path, "a")
    store(node_run(), tmp_path, "node")
    assert found(shown) is None


def test_the_closest_run_of_the_same_machine_is_taken(tmp_path: Path) -> None:
    shown = store(messages(), tmp_path, "a")
    assert found(shown) is None
    store(node_run(host="n2"), tmp_path, "other-host")
    store(node_run(allowed=[0, 1]), tmp_path, "other-cpus")
    assert found(shown) is None
    store(node_run(created="2026-11-19T10:00:00Z"), tmp_path, "older")
    store(node_run(created="2026-11-21T13:00:00Z"), tmp_path, "later")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text('{"NODE: "NODE:')
    known = found(shown)
    assert known is not None
    assert known.whose.startswith("later, 60 min after")
    named = found(shown, str(tmp_path / "older"))
    assert named is not None
    assert named.whose.startswith("older, 2 days before")
    assert found(shown, "none") is None


def test_few_headers_of_a_large_store_are_read() -> None:
    names = [f"{number:04d}" for number in range(1000)]
    folders = {name: Path(name) for name in [*names, "0001-node"]}
    near = [path.name for path in near_in("0500", folders)]
    assert near == ["0001-node", *names[400:500], *names[501:601]]
    assert list(near_in("0500", {})) == []


def test_a_run_that_measured_both_needs_no_other(tmp_path: Path) -> None:
    both = messages()
    own = planted.run([*both.cells, *NODE], both.ranks, both.passport["machine"], **both.header)
    known = found(store(own, tmp_path, "both"))
    assert known is not None
    assert known.whose == "this run, cores 0 and 1"


def test_limits_that_do_not_fit_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = str(store(messages(), tmp_path, "a"))
    other = str(store(node_run(host="n2"), tmp_path, "b"))
    assert main(["show", shown, "--limits", shown]) == 2
    assert "holds nothing of the node itself; `mpigauge node` measures" in capsys.readouterr().err
    assert main(["show", shown, "--limits", other]) == 2
    assert "it was made on n2" in capsys.readouterr().err


def test_the_same_limits_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = str(store(messages(), tmp_path, "a"))
    store(node_run(), tmp_path, "node")
    assert main(["show", shown]) == 0
    assert "1.42 × the mailbox floor (134 ns), ±2.0 %" in capsys.readouterr().out
    assert main(["show", shown, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)["limits"]
    assert (data["run"], data["age_s"], data["cpus"]) == ("node", 7200.0, [[0], [1]])
    assert data["mailbox_s"]["value"] == pytest.approx(134e-9)
    assert data["against"][0]["ratio"]["value"] == pytest.approx(1.42, rel=1e-3)
    small, large = rows_of_csv(shown, capsys)
    assert (small["limit"], float(small["limit_s"])) == ("the mailbox floor", 134e-9)
    assert float(small["limit_ratio"]) == pytest.approx(190 / 134, rel=0.01)
    assert large["limit"] == "one copy in memory"
    assert float(large["limit_s"]) == pytest.approx((4 << 20) / 14e9)
    assert float(large["limit_low_ratio"]) < float(large["limit_ratio"])
    assert float(large["limit_ratio"]) == pytest.approx(
        float(large["latency_s"]) / float(large["limit_s"])
    )
    assert {row["limit"] for row in rows_of_csv(shown, capsys, "--limits", "none")} == {""}
    assert main(["plot", shown, "bandwidth"]) == 0
    assert "╌╌ one copy in memory 14 GB/s" in capsys.readouterr().out
    assert main(["plot", shown, "latency", "--limits", "none"]) == 0
    assert "floor" not in capsys.readouterr().out


def rows_of_csv(
    shown: str, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The first and the last."""
    assert main(["show", shown, "--format", "csv", *more]) == 0
    first, *_, last = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return first, last


def test_a_report_has_the_limits_that_it_was_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, page = str(store(messages(), tmp_path, "a")), tmp_path / "page.html"
    store(node_run(), tmp_path, "node")
    assert main(["report", shown, "-o", str(page)]) == 0
    text = page.read_text()
    assert "Limits of the node (node, 2 h before, cores 0 and 1)" in text
    assert "latency, 0 B: 1.42 × the mailbox floor (134 ns), ±2.0 %." in text
    assert main(["report", shown, "-o", str(page), "--limits", "none"]) == 0
    assert "Limits of the node" not in page.read_text()
    assert main(["report", shown, "-o", str(page), "--limits", shown]) == 2
    assert "holds nothing of the node itself" in capsys.readouterr().err


def test_lines_in_drawings(tmp_path: Path) -> None:
    stored = open_run(str(store(messages(), tmp_path, "a")))
    store(node_run(), tmp_path, "node")
    shown = RunResult("a", stored, with_limits(document(stored), stored), RunView.of(stored))
    picture = PLOTS.find("latency").draw(RunResults([shown]), ALL)
    assert picture is not None
    assert "mailbox floor 134 ns</text>" in picture.svg
    assert [level.label for level in levels(shown.document.limits, BANDWIDTH)] == [
        "one copy in memory 14 GB/s",
        "two copies 8 GB/s",
    ]
    assert levels(shown.document.limits, SIZE) == () == levels(None, TIME)
    assert Document((), cells.cards()).limits is None
