# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Outputs within Markdown pages and JSON: their headings tell rows apart that would collide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.runs.readers import READERS, Text, sniff
from mpigauge.runs.readers.parts import left_out

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"
RECORDED = {
    "hpl": "hpl", "imb": "orfeo-map-by-core", "osu": "osu", "reprompi": "reprompi",
    "stream": "ember-stream-local",
}  # fmt: skip


def osu(time: float, test: str = "Latency", rows: str = "") -> str:
    return f"# OSU MPI {test} Test v7.4\n# Size       Latency (us)\n1   {time}\n{rows}"


def read(text: str | bytes, name: str = "osu") -> Reading:
    raw = text.encode() if isinstance(text, str) else text
    assert name in [reader.name for reader in sniff(Text(raw))]
    return READERS[name].read(Text(raw))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def arms(reading: Reading) -> list[tuple[str, Any]]:
    return [(cell.arm, cell.time_avg_s * 1e6 / 2) for cell in cells(reading)]


def fenced(text: str, fence: str = "```") -> str:
    return f"{fence}console\n$ mpirun -np 2 osu_latency\n{text}{fence}\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


# --- Markdown ------------------------------------------------------------------------------------
@pytest.mark.parametrize("code", [fenced, indented, lambda text: fenced(text, "~~~~")])
@pytest.mark.parametrize(
    "headings",
    [
        ("## Shared memory\n", "## TCP\n"),
        ("Shared memory\n-----\n", "TCP\n---\n"),
        ("# Shared memory #\n\nSome words: 1 2.0\n", "# TCP\n"),
        ("**Shared memory**\n", "**TCP:**\n"),
        ('=== "Shared memory"\n', '=== "TCP"\n'),
    ],
)
def test_the_heading_of_a_transport_is_a_setting(headings: tuple[str, str], code: Any) -> None:
    first, second = headings
    page = f"# Cluster X\n\n{first}\n{code(osu(0.2))}\n{second}\n{code(osu(9.2))}"
    assert [(arm.rstrip(":"), time) for arm, time in arms(read(page))] == [
        ("Shared memory", pytest.approx(0.2)),
        ("TCP", pytest.approx(9.2)),
    ]


def test_only_the_headings_that_tell_rows_apart_are_settings() -> None:
    """Those below, of single tests, tell nothing that the rows do not."""
    page = "# Cluster X\n"
    for transport, factor in (("UCX", 1), ("TCP", 10)):
        page += f"## {transport}\n"
        for test in ("Broadcast Latency", "Barrier Latency"):
            page += f"### {test}\n{fenced(osu(factor, test))}"
    assert {cell.arm for cell in cells(read(page))} == {"UCX", "TCP"}
    alone = page[: page.index("## TCP")]
    assert {cell.arm for cell in cells(read(alone))} == {""}


RST = """=====
Board
=====

Shared memory
=============
::

  $ mpirun -np 2 IMB-MPI1 PingPong

{first}

Network
=======
::

{second}

========
Settings
========

with mpirun and ``tcp``
::

  mpirun -np 2 --mca btl self,tcp IMB-MPI1 PingPong

{third}
"""


def test_sections_of_restructuredtext() -> None:
    """A title in a frame stands above those that are only underlined."""
    head = "  # Benchmarking PingPong\n  # #processes = 2\n"
    table = head + "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    row = "            1         1000         {}.00         0.21"
    text = RST.format(**{name: table + row.format(time) for name, time in
                         (("first", 1), ("second", 2), ("third", 3))})  # fmt: skip
    found = [(cell.arm, cell.latency_s) for cell in cells(read(text, "imb"))]
    assert found == [
        ("Board / Shared memory", 1e-6),
        ("Board / Network", 2e-6),
        ("Settings btl=self,tcp", 3e-6),
    ]


def test_several_runs_below_one_heading_are_launches() -> None:
    page = f"# X\n## A\n{fenced(osu(1))}again:\n{fenced(osu(2))}## B\n{fenced(osu(3))}"
    found = [(cell.arm, cell.launch) for cell in cells(read(page))]
    assert found == [("A", 0), ("A", 1), ("B", 2)]


def test_lines_of_a_page_keep_their_numbers() -> None:
    page = f"# X\n## A\n{fenced(osu(1))}## B\n{fenced(osu(3, rows='2   nan' + chr(10)))}"
    (unread,) = read(page).unread
    assert page.splitlines()[unread.line - 1] == "2   nan"


def test_tables_between_code_blocks_are_read_as_well() -> None:
    assert arms(read(f"{fenced('x')}{osu(1)}")) == [("", 1)]
    assert arms(read(f"## A\n{fenced(osu(2))}## B\n{osu(1)}")) == [("", 2), ("", 1)]


def test_rows_without_a_time_have_the_heading_of_their_block() -> None:
    head = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    block = fenced(f"{head}8  1000  nan  1.00\n4  1000  2.00  2.00\n")
    skips = read(f"## One\n{block}## Two\n{block}", "imb").skips
    assert [(skip.key["arm"], skip.launch) for skip in skips] == [("One", 0), ("Two", 1)]


@pytest.mark.parametrize(("name", "file"), RECORDED.items())
def test_every_reader_reads_pages(name: str, file: str) -> None:
    raw = (PRINTED / f"{file}.txt").read_bytes()
    plain = READERS[name].read(Text(raw))
    blocks = [b"```\n" + raw.rstrip(b"\n") + b"\n```\n"] * 2
    page = read(b"# X\n## One\n" + blocks[0] + b"## Two\n" + blocks[1], name)
    assert page.rows == 2 * plain.rows
    found = {cell.arm.split()[0] for cell in cells(page)}
    assert found | {figure.arm.split()[0] for figure in page.figures} == {"One", "Two"}
    assert "without a new heading" not in " ".join(page.remarks)


# --- logs ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "form",
    ["## {}", "==> {} <==", "=== {} ===", "-------- {} --------", "*** {} ***", "### {} ###"],
)
def test_headings_that_a_script_prints_between_runs(form: str) -> None:
    text = f"{form.format('tcp')}\n{osu(9.2)}\n{form.format('shm')}\n{osu(0.2)}"
    assert arms(read(text)) == [("tcp", pytest.approx(9.2)), ("shm", pytest.approx(0.2))]
    again = read(f"{text}{form.format('tcp')}\n{osu(9.3)}")
    assert [cell.arm for cell in cells(again)] == ["tcp", "tcp", "shm"]


def test_headings_below_which_something_is_missing_divide_nothing() -> None:
    """The version is that of the banner above both, and a setting holds to the end of the log."""
    table = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    banner = "# Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
    rows = [
        f"## {name}\n{table}8  1000  {time}  8.00\n"
        for name, time in (("a", "1.00"), ("b", "2.00"))
    ]
    found = [
        (cell.arm, cell.source, cell.launch) for cell in cells(read(banner + "".join(rows), "imb"))
    ]
    assert found == [("", "IMB 2021.7", 0), ("", "IMB 2021.7", 1)]
    text = f"export UCX_TLS=tcp\n## a\n{osu(1)}## b\n{osu(2)}"
    assert {cell.arm for cell in cells(read(text))} == {"UCX_TLS=tcp"}


@pytest.mark.parametrize("form", ["## {}", "*** {} ***"])
def test_rows_whose_head_stands_above_the_heading_are_not_lost(form: str) -> None:
    """The same row stands below other headings, so that it is not missed by what it is."""
    a, b = form.format("a"), form.format("b")
    found = read(f"{osu(1)}{a}\n1   2\n{b}\n{osu(3)}")
    assert arms(found) == [("", pytest.approx(time)) for time in (1, 2, 3)]
    apart = arms(read(f"{osu(1)}{a}\n{osu(2)}{b}\n{osu(3)}"))
    assert apart == [(arm, pytest.approx(time)) for arm, time in (("", 1), ("a", 2), ("b", 3))]


# --- JSON ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value",
    [
        {"tcp": osu(9.2), "shm": osu(0.2)},
        {"tcp": osu(9.2).splitlines(), "shm": {"out": osu(0.2)}},
        [{"name": "tcp", "stdout": osu(9.2)}, {"name": "shm", "stdout": osu(0.2), "rc": 0}],
        {"runs": [{"label": "tcp", "lines": osu(9.2).splitlines(), "at": 17 * 10**18},
                  {"label": "shm", "lines": osu(0.2).splitlines()}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_outputs_in_strings_of_json(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    found = {arm.split(" / ")[0]: time for arm, time in arms(read(text))}
    assert found == {"tcp": pytest.approx(9.2), "shm": pytest.approx(0.2)}
    assert left_out(Text(text.encode())) == ()


def test_lines_that_a_container_logs_as_json() -> None:
    lines = [{"log": f"{line}\n", "stream": "stdout", "time": "2026-11-26T09:00:00.123456789Z"}
             for line in osu(0.2, rows="2   0.3\n").splitlines()]  # fmt: skip
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    assert arms(read(text)) == [("", pytest.approx(0.2)), ("", pytest.approx(0.3))]
    cut = text[: len(text) - 20]
    assert arms(read(cut))[0] == ("", pytest.approx(0.2))


def test_a_log_that_has_json_in_its_lines() -> None:
    line = f"09:00 INFO job ended {json.dumps({'stdout': osu(0.2)})} rc=0\n"
    assert arms(read("begin\n" + line)) == [("", pytest.approx(0.2))]


@pytest.mark.parametrize("name", ["imb", "hpl", "reprompi", "stream"])
def test_every_reader_reads_json(name: str) -> None:
    raw = (PRINTED / f"{RECORDED[name]}.txt").read_bytes()
    text = json.dumps({"status": 0, "output": raw.decode("utf-8", "replace")})
    assert read(text, name).rows == READERS[name].read(Text(raw)).rows


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"a": "\\ud800\\n # OSU MPI"}', '["x\\n y"]']
)
def test_json_that_holds_nothing(text: str) -> None:
    assert READERS["osu"].read(Text(text.encode())).rows == 0
