# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every recorded table of IMB is read whole, against a count that knows nothing but blanks."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.document import document
from mpigauge.result.stats.launches import rows
from mpigauge.runs.readers import READERS, Text, sniff
from mpigauge.runs.readers.imb import _Log
from mpigauge.runs.readers.imb_columns import HEADS
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import write_imported
from mpigauge.show.formats import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

GOLDEN = Path(__file__).parent
FILES = sorted(path for of in ("imb", "printed", "real") for path in (GOLDEN / of).glob("*.txt"))
TABLES = [path for path in FILES if b"#repetitions" in path.read_bytes()]
TIMES = ("t[usec]", "t_max[usec]", "t_ovrl[usec]")
NUMBER = re.compile(r"-?\d+(?:\.\d\d)?|inf")


def read(path: Path) -> Reading:
    return READERS["imb"].read(Text(path.read_bytes()))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def printed(path: Path) -> Iterator[dict[str, float]]:
    """Rows as pairs of head and number: the last words of a line, as many as the head above has."""
    heads: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if "#repetitions" in words:
            heads = words[
                words.index("Group" if "Group" in words else "#bytes")
                if {"Group", "#bytes"} & set(words)
                else words.index("#repetitions") :
            ]
        elif "#" not in line and heads and len(words) >= len(heads):
            last = words[-len(heads) :]
            if all(NUMBER.fullmatch(word) for word in last):
                yield dict(zip(heads, map(float, last), strict=True))


def size_of(cell: Cell) -> int:
    """As IMB prints it: of all threads together."""
    return cell.message_bytes * (cell.threads if cell.message_bytes > 0 else 1)


def in_order(path: Path) -> list[tuple[dict[str, float], Cell]]:
    """Each printed row that has a time with its cell."""
    timed = [row for row in printed(path) if all(map(math.isfinite, row.values()))]
    return list(zip(timed, cells(read(path)), strict=True))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_with_its_numbers(path: Path) -> None:
    assert in_order(path) or "iter0" in path.stem or path.stem == "mpich-MPI1-timeout"
    for row, cell in in_order(path):
        assert (cell.group, size_of(cell)) == (row.get("Group", -1), row.get("#bytes", -1))
        assert cell.calls == row["#repetitions"]
        for head, time in (
            ("t[usec]", cell.time_p50_s), ("t_max[usec]", cell.time_max_s),
            ("t_ovrl[usec]", cell.time_p50_s), ("t_min[usec]", cell.time_min_s),
        ):  # fmt: skip
            if head in row:
                assert time * cell.time_scale == pytest.approx(row[head] / 1e6)
        if cell.messages and "Msg/sec" in row and cell.suite == "MPI1":
            assert cell.message_rate_per_s == pytest.approx(row["Msg/sec"])
    untimed = sum("prints no time" in skip.reason for skip in read(path).skips)
    assert len(in_order(path)) + untimed == len(list(printed(path)))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_bandwidth_is_what_was_printed(path: Path) -> None:
    """It follows from what we know of benchmarks, not from what the text says."""
    for row, cell in in_order(path):
        rate = row.get("Mbytes/sec", 0)
        if rate < 10 or cell.latency_s < 2e-5 or "Msg/sec" in row:
            continue
        targets = cell.ranks - 1 if cell.suite == "RMA" and "all" in cell.benchmark else 1
        counted = cell.bandwidth_bytes_per_s / targets / rate  # IMB counts one target of several
        assert min(abs(counted / unit - 1) for unit in (1e6, 2**20)) < 0.01, (cell.benchmark, row)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_rows_read_all_at_once_are_those_read_one_by_one(path: Path) -> None:
    fast, slow = read(path), _Log(Text(path.read_bytes()), careful=True).reading()
    assert [str(cell) for cell in cells(fast)] == [str(cell) for cell in cells(slow)]
    assert replace(fast, tables=()) == replace(slow, tables=())


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_remarks_behind_a_table_change_no_row(path: Path) -> None:
    """What the programs with `-adaptive` say of rows that did not become precise."""
    remark = b"# not precise: 8 bytes, 6 repetitions, +-45 %\n"
    text = path.read_bytes()
    ends = re.compile(rb"^( +\d+(?: +[\d.]+){2,} *\n)(?! +\d)", re.MULTILINE)
    remarked = READERS["imb"].read(Text(ends.sub(rb"\1" + remark, text)))
    assert [str(cell) for cell in cells(remarked)] == [str(cell) for cell in cells(read(path))]
    assert not any("not precise" in each.text for each in remarked.unread)


@pytest.mark.parametrize("name", ["imb/mpich-MPI1-multi1-np4", "real/mpich-IO-all-np2"])
def test_a_text_that_is_cut_gives_the_rows_before_the_cut(name: str) -> None:
    whole = (GOLDEN / f"{name}.txt").read_bytes()
    all_rows = [str(cell) for cell in cells(read(GOLDEN / f"{name}.txt"))]
    for size in range(0, len(whole), len(whole) // 23):
        cut = READERS["imb"].read(Text(whole[:size]))
        found = [str(cell) for cell in cells(cut)]
        assert found == all_rows[: len(found)]
        assert len(cut.unread) <= 1


def test_only_texts_with_tables_are_taken() -> None:
    for path in FILES:
        taken = "imb" in [reader.name for reader in sniff(Text(path.read_bytes()))]
        assert taken == (path in TABLES or "# Benchmarking" in path.read_text(encoding="utf-8"))


# --- printed again ---------------------------------------------------------------------------
BENCHMARK = re.compile(r"# Benchmarking (?:Multi-|\(Multi-\))?(\w+)")


def lines_of(text: str) -> Iterator[tuple[str, ...]]:
    """The words of each row that has a time, behind its benchmark and the heads above it."""
    benchmark, heads = "", list[str]()
    for line in text.splitlines():
        words = line.split()
        if found := BENCHMARK.search(line):
            benchmark, heads = found[1], []
        elif "#repetitions" in words:
            heads = [word for word in words if word in HEADS]
        elif heads and "#" not in line and len(words) >= len(heads):
            row = words[-len(heads) :]
            if all(map(NUMBER.fullmatch, row)) and "inf" not in row:
                yield benchmark, *heads, *row


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_an_imported_table_is_printed_as_it_was(path: Path, tmp_path: Path) -> None:
    """Its bandwidths and rates too, whatever follows from its times."""
    folder = write_imported(read(path), [path.name], tmp_path / "run", "")
    again = list(lines_of(render("imb", document(load(folder)))))
    lost = Counter(lines_of(path.read_text(encoding="utf-8"))) - Counter(again)
    assert not lost


# --- what a table says beside its numbers ---------------------------------------------------
def of(name: str) -> Reading:
    return read(next(path for path in FILES if path.stem == name))


def test_versions_and_what_changed_with_them() -> None:
    for name, source, settings in (
        ("mpich-v2018.1-MPI1-all-default-np2", "IMB 2018 Update 1", "size=total"),
        ("mpich-v2019.6-MPI1-all-default-np2", "IMB 2019 Update 6", ""),
        ("mpich-MPI1-all-default-np2", "IMB 2021.11", ""),
    ):
        found = [cell for cell in cells(of(name)) if cell.benchmark == "Reduce_scatter"]
        assert {(cell.source, cell.settings) for cell in found} == {(source, settings)}
    assert "size is that of all ranks" in of("mpich-v2018.1-MPI1-all-default-np2").remarks[0]


def test_a_megabyte_of_old_versions_is_named() -> None:
    old, new = of("juno-internode"), of("orfeo-map-by-core")
    assert any("2^20" in remark for remark in old.remarks)
    assert not new.remarks


def test_groups_modes_types_and_maps() -> None:
    groups = [
        c for c in cells(of("mpich-MPI1-multi1-np4")) if c.groups == 2 and c.message_bytes == 4
    ]
    assert [(c.benchmark, c.group) for c in groups][:2] == [("PingPong", 0), ("PingPong", 1)]
    modes = [c.completion for c in cells(of("mpich-EXT-all-np2")) if c.benchmark == "Accumulate"]
    assert set(modes) == {"end", "each"}
    double = {c.datatype for c in cells(of("mpich-MPI1-datatypes-double"))}
    assert double == {"double"}
    assert {c.placement for c in cells(of("mpich-MPI1-map2x3-np6"))} == {"map:2x3"}
    assert {c.inflight for c in cells(of("mpich-MPI1-band-np2"))} == {8}
    assert {c.threads for c in cells(of("mpich-MT-multiple-2threads-np2"))} == {2}
    stencils = [c for c in cells(of("mpich-P2P-stencil-np4")) if c.benchmark == "Stencil2D"]
    assert {(c.suite, c.messages) for c in stencils} == {("P2P", 16)}


def test_parts_of_overlap() -> None:
    row = next(c for c in cells(of("mpich-NBC-pure-np4")) if c.benchmark == "Iallreduce")
    assert row.time_pure_s > 0
    assert row.time_cpu_s > 0
    assert 0 <= row.overlap_ratio <= 1


def test_notes_become_reasons() -> None:
    reasons = {skip.reason for skip in of("mpich-MPI1-outofmem").skips}
    assert reasons == {"not enough memory: needs 0.001 GiB per rank, which IMB was not allowed"}
    assert {skip.reason for skip in of("mpich-P2P-np3").skips} == {"IMB does not run it on 3 ranks"}
    assert "prints no time for 0 repetitions" in of("mpich-MPI1-iter0-and-negative").skips[0].reason


def test_two_runs_in_one_log_are_two_launches_with_their_setting() -> None:
    found = cells(of("noise-mpich-module-noise-two-runs"))
    assert [(c.launch, c.arm) for c in found[::10]] == [(0, ""), (1, "MPI_BUFFER_MAX=4096")]
    again = Text((GOLDEN / "imb/mpich-MPI1-pingpong-default-np2.txt").read_bytes() * 3)
    row = rows(cells(READERS["imb"].read(again)))[0]
    assert (row.launches, row.kind) == (3, "range")


def test_sizes_named_twice_are_both_kept() -> None:
    text = (GOLDEN / "imb/mpich-MPI1-flags-off.txt").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines(keepends=True) if line.split()[:2] == ["2", "8"])
    doubled = READERS["imb"].read(Text(text.replace(line, line + line, 1).encode()))
    pairs = [c for c in cells(doubled) if c.benchmark == "PingPong" and c.message_bytes == 2]
    assert len({(c.launch, c.key) for c in pairs}) == 2


# --- damage ---------------------------------------------------------------------------------
HEAD = """# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.34         0.00
"""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("            1         1000         0.3", "it has 3 of 4 columns"),
        ("            1         1000         0.35         2.8", "a number is cut short"),
        ("            1         10", "it has 2 of 4 columns"),
        ("...", "rows are left out here"),
    ],
)
def test_a_damaged_row_is_named_by_its_line(line: str, why: str) -> None:
    reading = READERS["imb"].read(Text(f"{HEAD}{line}\n".encode()))
    assert [(u.line, u.why) for u in reading.unread] == [(5, why)]
    assert reading.rows == 1


def test_words_of_launchers_inside_of_a_table_do_no_harm() -> None:
    row = "            1         1000         0.35         2.89"
    text = f"{HEAD}[node1:12] ucx WARN no device\n[1,0]<stderr>: hello\n{row} [0] MPI startup()\n"
    reading = READERS["imb"].read(Text(text.encode()))
    assert (reading.rows, reading.unread) == (2, ())


@pytest.mark.parametrize("prefix", ["0: ", "[0] ", "[1,0]<stdout>:", "2026-11-21T00:55:22Z ", "  "])
def test_what_launchers_and_logs_put_before_lines(prefix: str) -> None:
    whole = GOLDEN / "imb/mpich-MPI1-multi1-np4.txt"
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    reading = READERS["imb"].read(Text("".join(prefix + line for line in lines).encode()))
    assert [str(cell) for cell in cells(reading)] == [str(cell) for cell in cells(read(whole))]
    assert not reading.unread


def test_rows_below_a_heading_without_a_head() -> None:
    """And below a whole table: what was cut away is the line of column names alone."""
    pingping = HEAD.replace("PingPong", "PingPing")
    cut = "".join(line for line in pingping.splitlines(keepends=True) if "repet" not in line)
    found = cells(READERS["imb"].read(Text((HEAD + "\n" + cut).encode())))
    assert [c.benchmark for c in found] == ["PingPong", "PingPing"]


@pytest.mark.parametrize("name", [card.word for card in known_cards()])
def test_whatever_a_heading_names_its_columns_are_read(name: str) -> None:
    """Pasted headings and --benchmark may name what has another kind of table."""
    benchmark = name.rpartition(":")[2]
    for heads in ("t[usec]   Mbytes/sec", "Mbytes/sec      Msg/sec", "t_avg[usec]   Mbytes/sec"):
        text = HEAD.replace("PingPong", benchmark).replace("t[usec]   Mbytes/sec", heads)
        for cell in cells(READERS["imb"].read(Text(text.replace(" 0.00", " 7").encode()))):
            assert cell.benchmark == benchmark


@pytest.mark.parametrize(
    ("option", "memory"),
    [("", "device"), ("device", "device"), ("host", "pinned"), ("shared", "managed"),
     ("cpu", "host")],
)  # fmt: skip
@pytest.mark.parametrize("part", ["MPI-1 part (GPU)", "RMA part (GPU), Technical preview"])
def test_the_memory_of_buffers_on_a_gpu(part: str, option: str, memory: str) -> None:
    """The heading and the calling sequence as IMB 2021.11 prints them; not from a GPU."""
    banner = f"#    Intel(R) MPI Benchmarks 2021.11, {part}\n"
    words = f"-mem_alloc_type {option} " if option else ""
    called = f"# Calling sequence was: \n\n# IMB-MPI1-GPU -iter 4 {words}PingPong \n\n"
    found = cells(READERS["imb"].read(Text((banner + called + HEAD).encode())))
    assert [c.memory for c in found] == [memory]


@pytest.mark.parametrize(
    ("word", "memory"),
    [("device", "device"), ("host", "pinned"), ("shared", "managed"), ("cpu", "host")],
)
def test_recorded_output_of_a_gpu(word: str, memory: str) -> None:
    """Intel MPI 2021.18.1 on one H200, which both ranks share."""
    text = (GOLDEN / f"printed/impi-gpu-MPI1-{word}-np2.txt").read_bytes()
    reading = READERS["imb"].read(Text(text))
    names = ["PingPong", "Allreduce", "Bcast", "Alltoall"]
    assert list(dict.fromkeys(c.benchmark for c in cells(reading))) == names
    assert {(c.memory, c.suite, c.source) for c in cells(reading)} == {
        (memory, "MPI1", "IMB 2021.11")
    }
    assert (reading.rows, reading.unread, reading.remarks) == (94, (), ())


def test_kinds_of_memory_in_one_log_are_told_apart() -> None:
    banner = "#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part (GPU)\n"
    text = banner.replace(" (GPU)", "") + HEAD
    for word in ("cpu", "host", "device"):
        text += f"{banner}# Calling sequence was: \n\n# x -mem_alloc_type {word}\n\n{HEAD}"
    found = rows(cells(READERS["imb"].read(Text(text.encode()))))
    assert [(r.cell.memory, r.launches) for r in found] == [
        ("host", 2), ("pinned", 1), ("device", 1)
    ]  # fmt: skip


def test_defects_of_a_build_that_checks() -> None:
    rows_of = "".join(f"{n:>13}{1000:>13}{0.5:>13.2f}{rate:>13.2f}{bad:>13.2f}\n"
                      for n, rate, bad in ((0, 0, 0), (4, 8, 2)))  # fmt: skip
    head = HEAD.replace("Mbytes/sec\n", "Mbytes/sec      defects\n").rpartition("            0 ")[0]
    found = cells(READERS["imb"].read(Text((head + rows_of).encode())))
    assert [(cell.wrong_count, cell.check) for cell in found] == [(0, "exact"), (2, "exact")]


def test_rows_that_were_cut_out_with_a_word_before_them() -> None:
    """As `egrep '^ +[0-9]' | sed s/^/same_socket/` leaves them, three times over."""
    one = "".join(
        f"{where}            {n}         1000         {t}         {rate}\n"
        for where in ("same_socket", "diff_nodes")
        for n, t, rate in ((0, "0.34", "0.00"), (4, "0.35", "11.43"))
    )
    reading = READERS["imb"].read(Text((one * 3).encode()))
    found = rows(cells(reading))
    assert [(r.cell.placement, r.message_bytes, r.launches) for r in found] == [
        ("same_socket", 0, 3), ("same_socket", 4, 3), ("diff_nodes", 0, 3), ("diff_nodes", 4, 3),
    ]  # fmt: skip
    assert "are taken for PingPong" in reading.remarks[0]
    named = READERS["imb"].read(Text(one.encode(), benchmark="PingPing"))
    assert {c.benchmark for c in cells(named)} == {"PingPing"}
    assert not named.remarks
