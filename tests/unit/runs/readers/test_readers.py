# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Readers beside that of IMB: each has its recorded text, and what should come out of it."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.record import encode, parse
from mpigauge.runs.readers import READERS, Text, sniff
from mpigauge.runs.readers.imb_header import Header
from mpigauge.runs.readers.imb_rows import regular_rows
from mpigauge.runs.readers.known import card_of, traffic
from mpigauge.runs.readers.osu_tests import card_of_title
from mpigauge.runs.readers.reading import joined
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    is_command,
    placement_in_command,
    setting_in,
    settings_in_command,
)

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"


def read(name: str, text: str) -> Reading:
    return READERS.find(name).read(Text(text.encode()))


def recorded(name: str, file: str) -> Reading:
    return READERS.find(name).read(Text((PRINTED / f"{file}.txt").read_bytes()))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def figures(reading: Reading) -> list[tuple[Any, ...]]:
    return [(f.launch, f.name, f.value, f.unit, f.better) for f in reading.figures]


# --- finding them ---------------------------------------------------------------------------
RECORDED = {
    "hpl": "hpl", "imb": "orfeo-map-by-core", "mpi_latency": "mpi-latency", "osu": "osu",
    "mpip": "ember-mpip-report", "nodeperf": "ulysses-nodeperf-intel", "reprompi": "reprompi",
    "perfcatcher": "ember-perfcatch-report", "ping_pong": "ember-pingpong-fit-12-13",
    "stream": "ember-stream-local", "perftest": "perftest",
    "babelstream": "babelstream", "ipm": "ipm", "nccl_tests": "nccl-tests",
    "talp": "talp", "gpcnet": "gpcnet", "mpigraph": "mpigraph", "hp2p": "hp2p",
}  # fmt: skip


def test_each_reader_has_a_recorded_text() -> None:
    assert set(RECORDED) == set(READERS)


@pytest.mark.parametrize(("name", "file"), RECORDED.items())
def test_each_finds_its_own_text_and_leaves_the_others(name: str, file: str) -> None:
    text = Text((PRINTED / f"{file}.txt").read_bytes())
    assert [found.name for found in sniff(text)] == [name]
    reading = READERS.find(name).read(text)
    assert reading.rows
    assert {cell.origin for cell in cells(reading)} | {f.origin for f in reading.figures} == {
        "imported"
    }
    assert all(cell.source and cell.statistic for cell in cells(reading))
    assert not any(card.rooted or card.by_default for card in reading.cards)
    for other in set(READERS) - {name}:
        assert READERS.find(other).read(text).rows == 0


@pytest.mark.parametrize(("name", "file"), RECORDED.items())
def test_a_text_that_is_cut_anywhere_is_read_as_far_as_it_goes(name: str, file: str) -> None:
    whole = (PRINTED / f"{file}.txt").read_bytes()
    for size in range(1, len(whole), max(len(whole) // 17, 1)):
        reading = READERS.find(name).read(Text(whole[:size]))
        assert len(cells(reading)) + len(reading.figures) == reading.rows
        assert len(list(reading.records())) >= reading.rows


@pytest.mark.parametrize(("name", "file"), RECORDED.items())
def test_no_damage_stops_a_reader(name: str, file: str) -> None:
    """Pieces lost, doubled or changed at random; what is left must still be records."""
    chance = random.Random(name)
    whole = (PRINTED / f"{file}.txt").read_bytes()[:6000]
    for _ in range(40):
        text = bytearray(whole)
        for _ in range(4):
            at, length = chance.randrange(len(text)), chance.randint(1, 80)
            text[at : at + length] = chance.choice([b"", b"\n", b"7", text[at : at + length] * 2])
        reading = READERS.find(name).read(Text(bytes(text)))
        assert all(parse(encode(record)) for record in reading.records())


def test_two_readers_of_one_name_stop_the_program() -> None:
    assert READERS
    with pytest.raises(RuntimeError, match="two readers are named 'imb'"):
        reader("imb", "", b"")(lambda text: recorded("imb", text.benchmark))


def test_an_unknown_reader() -> None:
    with pytest.raises(UserError, match="did you mean 'stream'"):
        READERS.find("steam")


@pytest.mark.parametrize(
    "line",
    [
        f"Copy:  {'9' * 5000}.0  0.1  0.1  0.1",
        f"Copy:  0.{'9' * 5000}  0.1  0.1  0.1",
        "Copy:  1.0e999  0.1  0.1  0.1",
        "Copy:  \u0661.0  0.1  0.1  0.1",
    ],
)
def test_numbers_that_are_none_are_left_out_by_their_line(line: str) -> None:
    """Of thousands of digits, infinite, or in digits that no program prints."""
    good = "Scale:  1.0  0.1  0.1  0.1"
    text = Text(f"{good}\n{line}\n".encode())
    reading = READERS.find("stream").read(text)
    assert [f.name for f in reading.figures] == ["Scale"]
    assert [u.line for u in (*text.left_out, *reading.unread)] == [2]


def test_launches_of_several_texts_follow_each_other() -> None:
    one = recorded("osu", "osu")
    both = joined([one, recorded("imb", "orfeo-map-by-core"), one])
    assert both.rows == 2 * one.rows + 24
    assert sorted({table.fixed["launch"] for table in both.tables}) == [0, 1, 2]
    assert len(both.remarks) == 1


# --- STREAM ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("unit", "factor"), [("MB/s", 1), ("GB/s", 1000), ("GiB/s", 1073.741824)])
def test_stream_is_in_the_unit_of_its_head(unit: str, factor: float) -> None:
    """HPCC's prints GB/s."""
    head = f"Function      Rate ({unit})   Avg time     Min time     Max time"
    row = "Copy:           8.5584       0.1371       0.1291       0.1727"
    (figure,) = read("stream", f"{head}\n{row}\n").figures
    assert (figure.name, figure.unit) == ("Copy", "MB/s")
    assert figure.value == pytest.approx(8.5584 * factor)


def test_each_table_of_stream_has_the_unit_of_its_own_head() -> None:
    """That of version 5.10 has no brackets."""
    heads = ("Function      Rate (GB/s)   Avg time", "Function    Best Rate MB/s  Avg time")
    row = "Copy:           8.5584       0.1371       0.1291       0.1727"
    figures = read("stream", "".join(f"{head}\n{row}\n" for head in heads)).figures
    assert [figure.value for figure in figures] == pytest.approx([8558.4, 8.5584])


def test_runs_of_stream_with_other_arrays_or_threads_are_kept_apart() -> None:
    row = "Copy:           8.5   0.1371       0.1291       0.1727\n"
    heads = (
        "Array size = 1000 (elements), Offset = 0 (elements)\nNumber of Threads requested = 1\n",
        "Array size = 2000 (elements), Offset = 0 (elements)\nNumber of Threads requested = 1\n",
        "Array size = 2000 (elements), Offset = 0 (elements)\nNumber of Threads requested = 4\n",
    )
    figures = read("stream", "".join(head + row for head in heads)).figures
    assert [figure.arm for figure in figures] == [
        "elements=1000 threads=1", "elements=2000 threads=1", "elements=2000 threads=4"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("mpi_latency", "*** Avg round trip time = 11 microseconds"),
        ("ping_pong", "length(bytes)  time(usec)  time(usec)\n  8.   1.5   1.6"),
    ],
)
def test_what_a_command_sets_ends_with_the_next_command(name: str, output: str) -> None:
    commands = ("mpirun -np 2 --mca btl self,tcp taskset -c 0,1", "mpirun -np 2")
    text = "".join(f"{command} {name}\n{output}\n" for command in commands)
    found = [(cell.arm, cell.placement) for cell in cells(read(name, text))]
    assert found == [("btl=self,tcp", "cores:0,1"), ("", "")]


# --- OSU ------------------------------------------------------------------------------------
def test_osu_tests_become_rows_of_ours() -> None:
    reading = recorded("osu", "osu")
    found = {(c.suite, c.benchmark, c.ranks, c.message_bytes, c.source): c for c in cells(reading)}
    latency = found["MPI1", "PingPong", 2, 1, "OSU 7.2"]
    assert (latency.latency_s, latency.time_p50_s) == pytest.approx((0.22e-6, 0.44e-6))
    bandwidth = found["MPI1", "Uniband", 2, 4194304, "OSU 5.6.2"]
    assert bandwidth.bandwidth_bytes_per_s == pytest.approx(12254.16e6)
    assert (bandwidth.inflight, bandwidth.messages) == (64, 64)
    rate = found["MPI1", "Uniband", 4, 1, "OSU 5.7"]
    assert (rate.message_rate_per_s, rate.inflight) == pytest.approx((6.4e6, 32))


def test_osu_keeps_what_was_printed() -> None:
    found = {(c.benchmark, c.ranks, c.message_bytes): c for c in cells(recorded("osu", "osu"))}
    assert found["Uniband", 2, 4194304].printed_mb_per_s == 12254.16
    pairs = found["Uniband", 4, 1]
    assert (pairs.printed_mb_per_s, pairs.printed_msg_per_s) == (6.40, 6400000)
    assert math.isnan(found["PingPong", 2, 1].printed_mb_per_s)


def test_a_head_of_osu_without_its_mark() -> None:
    """osu_ibarrier prints it so."""
    text = """# OSU MPI Non-blocking Barrier Latency Test v5.6.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

       Overall(us)       Compute(us)    Coll. Init(us)    Pure Comm.(us)        Overlap(%)
              8.85              5.04              0.10              4.02              5.04
              8.85              5.04
"""
    reading = read("osu", text)
    (cell,) = cells(reading)
    assert (cell.suite, cell.benchmark, cell.message_bytes) == ("NBC", "Ibarrier", -1)
    parts = cell.time_p50_s, cell.time_cpu_s, cell.time_pure_s, cell.overlap_ratio
    assert parts == pytest.approx((8.85e-6, 5.04e-6, 4.02e-6, 0.0504))
    column, row = reading.unread
    assert (column.line, column.text, row.line) == (4, "Coll. Init(us)", 6)
    assert column.why == "there is no place for these columns of NBC:Ibarrier"


def test_osu_collectives_are_means_over_ranks() -> None:
    found = {(c.suite, c.benchmark): c for c in cells(recorded("osu", "osu"))}
    allreduce = found["MPI1", "Allreduce"]
    assert (allreduce.ranks, allreduce.calls, allreduce.datatype) == (144, 1000, "int")
    times = allreduce.time_avg_s, allreduce.time_min_s, allreduce.time_max_s
    assert times == pytest.approx((11.69e-6, 10e-6, 12e-6))
    assert allreduce.statistic == "mean over repetitions, slowest rank"
    assert allreduce.time_p50_s == allreduce.time_max_s
    assert found["MPI1", "Barrier"].statistic == "mean over repetitions and ranks"
    overlap = found["NBC", "Ialltoall"]
    parts = overlap.time_p50_s, overlap.time_cpu_s, overlap.time_pure_s, overlap.overlap_ratio
    assert parts == pytest.approx((11.09e-6, 6.1e-6, 5.18e-6, 0.0346))
    assert found["OSU", "Put_Latency"].ranks == 2


def test_osu_says_what_it_does_not_print() -> None:
    reading = recorded("osu", "osu")
    assert reading.remarks == (
        "OSU does not print on how many ranks it ran Barrier, NBC:Ialltoall; give --ranks",
    )
    assert [(u.line, u.why) for u in reading.unread] == [(23, "it has 4 of 5 columns")]
    raw = (PRINTED / "osu.txt").read_bytes()
    assert READERS.find("osu").read(Text(raw, ranks=8)).remarks == ()
    assert figures(reading)[0] == (0, "shortest over ranks", 0.067, "s", "lower")


# --- figures --------------------------------------------------------------------------------
def test_stream() -> None:
    assert figures(recorded("stream", "ember-stream-local")) == [
        (0, "Triad", 9334.9373, "MB/s", "higher")
    ]
    twice = read(
        "stream", "Copy: 1.0 0.1 0.1 0.1\nTriad: 2.0 0.1 0.1 0.1\n" * 2 + "Copy: 3.0 0.1\n"
    )
    assert [f.launch for f in twice.figures] == [0, 0, 1, 1]
    assert [(u.line, u.why) for u in twice.unread] == [(5, "it has 2 of 4 columns")]


def test_hpl() -> None:
    reading = recorded("hpl", "hpl")
    speeds = [(f.launch, f.arm, f.value, f.ranks) for f in reading.figures if f.name == "speed"]
    assert speeds == [
        (0, "N=1000 NB=192 P=2 Q=2 T/V=WR11C2R4", 13.45, 4),
        (0, "N=2000 NB=192 P=2 Q=2 T/V=WR11C2R4", 17.212, 4),
        (1, "N=1000 NB=192 P=2 Q=2 T/V=WR11C2R4", 11.208, 4),
    ]
    assert reading.remarks == ("HPL reports at line 11 that its result is wrong (FAILED)",)
    assert [u.line for u in reading.unread] == [13]


@pytest.mark.parametrize(
    ("suite", "name", "messages"),
    [
        ("MPI1", "PingPong", 1), ("MPI1", "PingPing", 1), ("MPI1", "Sendrecv", 2),
        ("MPI1", "Exchange", 4), ("MPI1", "Uniband", 16), ("MPI1", "Biband", 32),
        ("MPI1", "Bcast", 0), ("RMA", "One_put_all", 3), ("RMA", "Unidir_put", 1),
        ("P2P", "PingPong", 2), ("P2P", "Birandom", 8), ("P2P", "Stencil2D", 16),
        ("P2P", "Stencil3D", 24), ("MT", "PingPongMT", 2), ("MT", "SendRecvMT", 4),
        ("MT", "ExchangeMT", 8), ("MT", "UniBandMT", 32), ("MT", "BiBandMT", 64),
    ],
)  # fmt: skip
def test_messages_in_a_printed_time(suite: str, name: str, messages: float) -> None:
    """Among four ranks, with eight messages in flight and two threads."""
    card = card_of(suite, name)
    assert card is not None
    assert traffic(card, 4, 8, 2) == (messages, messages)


@pytest.mark.parametrize(
    ("title", "heads", "facts"),
    [
        ("Get latency", ("Size", "Latency (us)"), ("pair", "transfer", "single")),
        ("Put Bandwidth", ("Size", "MB/s"), ("pair", "transfer", "band")),
        ("Hello", ("Time",), ("any", "none", "barrier")),
    ],
)
def test_a_test_of_osu_that_is_not_ours_has_a_card(
    title: str, heads: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    card = card_of_title(title, heads)
    assert (card.suite, card.name) == ("OSU", title.replace(" ", "_"))
    assert (card.ranks, card.unit, card.columns) == facts
    assert (card.time, card.sync, card.rooted, card.by_default) == ("call", "none", False, False)


def test_runs_of_hpl_have_their_start() -> None:
    """That of the first row after which it stands."""
    row = "WR11C2R4  1000  192  2  2  0.05  1.3450e+01\n"
    start = "HPL_pdgesv() start time Sat Nov 21 12:0{}:00 2026\n"
    text = HPL_HEAD + "\n" + "".join(row + start.format(minute) for minute in (0, 5))
    times = [(each.launch, each.time) for each in read("hpl", text).launches]
    assert times == [(0, "Sat Nov 21 12:00:00 2026"), (1, "Sat Nov 21 12:05:00 2026")]


HPL_HEAD = "T/V                N    NB     P     Q               Time                 Gflops"


@pytest.mark.parametrize(
    ("program", "variant"),
    [("", "WR0XR8C48"), ("", "WC0"), ("", "WR00L2L2"), ("", "WC101R32C4"), ("", "WR07R8C48o"),
     ("HPL_AI", "WR03L2L2"), ("HPL_AI", "WHC06R2C4")],
)  # fmt: skip
def test_variants_of_hpl(program: str, variant: str) -> None:
    row = f"{program}   {variant}       80576   384     2     1     344.99      1.0110e+03\n"
    reading = read("hpl", f"{HPL_HEAD}\n{row}")
    speed, time = reading.figures
    assert (speed.benchmark, speed.value, speed.ranks) == (program or "HPL", 1011, 2)
    assert (time.value, time.unit) == (344.99, "s")
    assert speed.arm == f"N=80576 NB=384 P=2 Q=1 T/V={variant}"
    assert [each.name for each in sniff(Text(row.encode()))] == ["hpl"]


@pytest.mark.parametrize(
    ("head", "columns"),
    [("", "(1.711e+04)"), (" (per GPU)", "( 1.711e+04)"), ("", "1.711e+04")],
)
def test_the_speed_of_one_gpu_behind_that_of_all(head: str, columns: str) -> None:
    row = f"WC0   90112   576   2   1   14.25   3.423e+04 {columns}\n"
    reading = read("hpl", f"{HPL_HEAD}{head}\n{row}")
    found = {figure.name: (figure.value, figure.unit) for figure in reading.figures}
    assert found == {
        "speed": (34230, "GFLOP/s"), "time": (14.25, "s"), "speed of one GPU": (17110, "GFLOP/s")
    }  # fmt: skip
    assert reading.unread == ()


def test_further_columns_of_hpl_have_the_names_of_their_heads() -> None:
    row = "HPL_AI   WR03L2L2   44000   288   1   1   3.74   1.517e+04   1.32214   1.121e+04\n"
    reading = read("hpl", f"{HPL_HEAD}      FGMRES      Gflops_IRS\n{row}")
    found = {figure.name: (figure.value, figure.unit) for figure in reading.figures}
    assert {found["FGMRES"], found["Gflops_IRS"]} == {(1.32214, ""), (11210, "GFLOP/s")}
    unnamed = {figure.name for figure in read("hpl", row).figures}
    assert unnamed == {"speed", "time", "column 8", "column 9"}


def test_hpl_mxp() -> None:
    text = """ N    : 92160
 NB = 1024
 P  = 1
 Q  = 2
||Ax-b||_oo / (EPS * (||A||_oo * ||x||_oo + ||b||_oo) * N) = 1.2e+02 ...... FAILED
       GFLOPS = 6.1567e+04, per GPU =   30783.51
    LU GFLOPS = 2.3786e+05, per GPU =  118927.69
       GFLOPS = nan, per GPU = nan
"""
    reading = read("hpl", text)
    found = {f.name: (f.value, f.ranks, f.arm, f.benchmark) for f in reading.figures}
    case = (2, "N=92160 NB=1024 P=1 Q=2", "HPL-MxP")
    assert found == {
        "speed": (61567, *case), "speed of one GPU": (30783.51, *case),
        "speed of the factorisation": (237860, *case),
        "speed of the factorisation, one GPU": (118927.69, *case),
    }  # fmt: skip
    assert reading.remarks == ("HPL reports at line 5 that its result is wrong (FAILED)",)
    assert [(u.line, u.why) for u in reading.unread] == [(8, "nan is not a number (GFLOPS)")]


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("192     2     2               0.05             nan", "nan is not a number (Gflops)"),
        ("192     2     2               inf           1.0e+01", "inf is not a number (Time)"),
        ("192     2     2            -nan             -inf", "-nan is not a number (Time)"),
        ("192     2", "it has 4 of 7 columns"),
    ],
)
def test_the_reason_for_a_row_of_hpl_that_is_none(rest: str, why: str) -> None:
    (unread,) = read("hpl", f"{HPL_HEAD}\nWR11C2R4        1000   {rest}\n").unread
    assert unread.why == why


def test_nodeperf() -> None:
    reading = recorded("nodeperf", "ulysses-nodeperf-intel")
    assert figures(reading) == [(0, "DGEMM NN", 446.83543, "GFLOP/s", "higher")]
    assert reading.figures[0].placement == "host cn04-13"
    line = "(3 of 8): NT lda= 10 ldb= 20 ldc= 30 0 0 0 446835.43 cn05\n"
    (figure,) = read("nodeperf", line).figures
    assert (figure.rank, figure.ranks, figure.arm) == (3, 8, "lda=10 ldb=20 ldc=30")


def test_mpip() -> None:
    reading = recorded("mpip", "ember-mpip-report")
    found = {(f.name, f.rank): f for f in reading.figures}
    assert found["time in MPI", 3].value == 69.4
    assert found["time of the application", -1].value == 923
    assert found["time in Gather at site 4", -1].value == pytest.approx(372)
    assert found["sent by Isend at site 4", -1].value == 6.93e9
    assert found["largest message of Allreduce at site 4", 11].value == 6.711e7
    assert {(f.benchmark, f.ranks, f.source) for f in reading.figures} == {
        ("IMB-MPI1", 12, "mpiP 3.2.1")
    }
    text = (PRINTED / "ember-mpip-report.txt").read_text(encoding="utf-8")
    rows = [w for w in map(str.split, text.splitlines()) if len(w) in (4, 6, 8, 9) and w[-1][0] in
            "0123456789" and w[0] not in ("@", "...")]  # fmt: skip
    numbers = {4: 3, 6: 4, 8: 5, 9: 6}
    in_two_tables = 6  # of Allreduce at sites 1 and 4: messages, their mean and their sum
    assert reading.rows == sum(numbers[len(row)] for row in rows) - in_two_tables
    assert not reading.remarks
    assert {u.why for u in reading.unread} == {"rows are left out here"}


MPIP = """@ mpiP
@ Command : {command}
@ Version                  : 3.5.0
@ MPI Task Assignment      : 0 node1
---------------------------------------------------------------------------
@--- Aggregate Time (top twenty, descending, milliseconds) ----------------
---------------------------------------------------------------------------
Call                 Site       Time    App%    MPI%      Count    COV
Isend                   2        926    1.45   16.06      71742   0.20
Waitall                 1        648    1.01     -nan     7722   0.55
---------------------------------------------------------------------------
@--- Aggregate Collective Time (top twenty, descending) -------------------
---------------------------------------------------------------------------
Call                 MPI Time %             Comm Size             Data Size
Allreduce                 0.182         16 -       31          8 -       15
Bcast                       nan         16 -       31          0 -        7
---------------------------------------------------------------------------
@--- Aggregate Point-To-Point Sent (top twenty, descending) ---------------
---------------------------------------------------------------------------
Call                 MPI Sent %             Comm Size             Data Size
Send                       12.5         16 -       31       1024 -     2047
---------------------------------------------------------------------------
@--- Callsite I/O statistics (all, I/O bytes) -----------------------------
---------------------------------------------------------------------------
Name              Site Rank   Count       Max      Mean       Min       Sum
File_write           3    0       4       512       256       128      1024
---------------------------------------------------------------------------
@--- Aggregate P2P Stats ---------------------------------------------------
---------------------------------------------------------------------------
Src-Rank Dest-Rank Total-Size Total-Time
0 1 4096 0.5
"""


def test_mpip_since_2015_with_its_count_and_histograms() -> None:
    reading = read("mpip", MPIP.format(command="./app -n 4"))
    found = {f.name: (f.benchmark, f.value, f.unit) for f in reading.figures}
    of_time = "share of the time in collectives of Allreduce on 16-31 ranks with 8-15 B"
    of_bytes = "share of the bytes sent by Send among 16-31 ranks in messages of 1024-2047 B"
    expected = {
        "calls of Isend at site 2": ("app", 71742, "1"),
        "time in Isend at site 2": ("app", 0.926, "s"),
        of_time: ("app", 0.182, "%"),
        of_bytes: ("app", 12.5, "%"),
        "largest access of File_write at site 3": ("app", 512, "B"),
    }
    assert {name: found[name] for name in expected} == expected
    assert len(found) == 5 + 2 + 5
    assert [(u.line, u.why) for u in reading.unread] == [
        (10, "-nan is not a number (MPI%)"),
        (16, "nan is not a number"),
        (30, "unknown columns: the table 'Aggregate P2P Stats' is left out"),
    ]


@pytest.mark.parametrize("command", ["", "   "])
def test_mpip_without_a_command(command: str) -> None:
    reading = read("mpip", MPIP.format(command=command))
    assert {f.benchmark for f in reading.figures} == {"application"}


def test_perfcatcher_names_lines_that_are_cut() -> None:
    text = (PRINTED / "ember-perfcatch-report.txt").read_text(encoding="utf-8")
    assert not read("perfcatcher", text).unread
    cut = text.replace(" 32.4165%", " -nan%")
    assert [u.line for u in read("perfcatcher", cut).unread] == [17]


def test_perfcatcher() -> None:
    reading = recorded("perfcatcher", "ember-perfcatch-report")
    found = {(f.name, f.rank): (f.value, f.unit) for f in reading.figures}
    assert found["Total MPI/SHMEM job time, mean of ranks", -1] == (73.003, "s")
    assert found["User Time", 11] == (24.9961, "%")
    assert found["calls of recv", 0] == (11519.0, "1")
    assert found["time in alltoall", 0] == (7.8679, "s")
    assert found["waits of recv", 0] == (5.0, "1")
    assert found["messages of 65536 B by recv, peer or communicator 11", 0] == (1280.0, "1")
    text = (PRINTED / "ember-perfcatch-report.txt").read_text(encoding="utf-8")
    assert sum("messages of" in f.name for f in reading.figures) == text.count("x(")
    assert sum(f.name.startswith("calls of") for f in reading.figures) == text.count(" calls")


# --- small programs -------------------------------------------------------------------------
def test_ping_pong_takes_cores_and_settings_from_the_commands_before_it() -> None:
    found = cells(recorded("ping_pong", "ember-pingpong-fit-12-348-buffermax"))
    assert len(found) == 10
    first = found[0]
    assert (first.message_bytes, first.latency_s) == pytest.approx((1000, 8.07e-6))
    assert first.placement == "cores:12,348"
    assert first.arm == "MPI_BUFFER_MAX=1000 MPI_SHARED_NEIGHBORHOOD=MEMNODE"


def test_mpi_latency_is_in_whole_microseconds() -> None:
    found = cells(recorded("mpi_latency", "mpi-latency"))
    assert [(c.launch, c.arm) for c in found] == [(0, "btl=self,sm"), (1, "btl=self,tcp")]
    assert [c.time_p50_s for c in found] == pytest.approx([11e-6, 99e-6])
    assert {(c.ranks, c.message_bytes, c.moved_bytes, c.messages) for c in found} == {(2, 1, 1, 1)}
    assert {(c.source, c.threads, c.inflight) for c in found} == {("mpi_latency", 1, 1)}
    assert [c.time_mean_s for c in found] == [c.time_p50_s for c in found]


def test_reprompi_single_times_and_summaries() -> None:
    reading = recorded("reprompi", "reprompi")
    first, second = cells(reading)
    assert (first.samples, first.ranks, first.sync, first.op) == (3, 4, "barrier", "bor")
    assert first.time_p50_s == pytest.approx(3.0911e-6)
    assert (first.time_best_s, first.time_worst_s) == pytest.approx((2.9809e-6, 10.9819e-6))
    assert (second.message_bytes, second.samples) == (10, 2)
    assert [u.line for u in reading.unread] == [21]
    summary = read(
        "reprompi",
        "#@nprocs=2\n#@clocktype=local\n#@datatype_size_bytes=8\n"
        "test total_nrep valid_nrep count mean_runtime_sec median_runtime_sec\n"
        "MPI_Bcast 10 9 4 0.000002 0.000001\n",
    )
    row = cells(summary)[0]
    assert (row.benchmark, row.message_bytes, row.samples) == ("Bcast", 32, 9)
    assert (row.time_p50_s, row.time_mean_s) == pytest.approx((1e-6, 2e-6))


REPROMPI = """#Command-line arguments:  ./bin/mpibenchmark
#@datatype_size_bytes=1
#@root_proc={root}
#@reproMPIcommitSHA1=0
#@nprocs={ranks}
#@clocktype=local
#@clock={clock}
#@sync={sync}
test  nrep  count  runtime_sec
MPI_Bcast  0  1  0.000003
MPI_Bcast  1  1  0.000001
MPI_Bcast  2  1  nan
"""
RUNS = {"ranks": "64", "root": "1", "clock": "RDTSCP", "sync": "BBarrier"}


@pytest.mark.parametrize("name", RUNS)
def test_each_heading_of_reprompi_begins_a_run(name: str) -> None:
    usual = {"ranks": "4", "root": "0", "clock": "MPI_Wtime", "sync": "MPI_Barrier"}
    texts = [REPROMPI.format(**usual), REPROMPI.format(**usual | {name: RUNS[name]})]
    reading = read("reprompi", "".join([*texts, texts[0]]))
    first, second, third = cells(reading)
    assert first.key == third.key != second.key
    assert [cell.launch for cell in (first, second, third)] == [0, 1, 2]
    assert {cell.samples for cell in (first, second, third)} == {2}
    of_second = {"ranks": second.ranks, "sync": second.sync, "root": second.arm,
                 "clock": second.arm}[name]  # fmt: skip
    assert of_second == {
        "ranks": 64, "sync": "dissemination", "root": "root_proc=1", "clock": "clock=RDTSCP"
    }[name]  # fmt: skip
    assert (first.arm, first.statistic) == ("", "median over repetitions")
    assert {each.why for each in reading.unread} == {"nan is not a number (runtime_sec)"}
    assert {launch.world_ranks for launch in reading.launches} == {4, first.ranks, second.ranks}


def test_repetitions_that_are_counted_again_are_reported() -> None:
    usual = REPROMPI.format(ranks=4, root=0, clock="MPI_Wtime", sync="MPI_Barrier")
    rows = usual[usual.index("MPI_Bcast") :]
    reading = read("reprompi", usual + rows.replace("3", "5"))
    assert [(cell.launch, cell.samples) for cell in cells(reading)] == [(0, 2), (1, 2)]
    assert reading.remarks[0].startswith("the text prints Bcast of 1 B again")


def test_summaries_that_come_twice_are_reported() -> None:
    row = "MPI_Bcast 10 9 4 0.000002\n"
    head = "#@nprocs=2\n#@clocktype=local\ntest total_nrep valid_nrep count mean_runtime_sec\n"
    reading = read("reprompi", head + row + row.replace("2\n", "3\n"))
    assert [cell.time_p50_s for cell in cells(reading)] == [2e-6, 3e-6]
    assert {cell.statistic for cell in cells(reading)} == {"mean over repetitions"}
    assert len(reading.remarks) == 1


# --- IMB -----------------------------------------------------------------------------------------
MT = """# Intel(R) MPI Benchmarks 2021.7, MT part
# Benchmarking {name}
# #processes = 2 (threads: {threads})
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
           16         1000         3.32         3.69         3.50         4.33
"""


def test_what_is_converted_in_tables_of_threads_is_stated() -> None:
    (cell,) = cells(reading := read("imb", MT.format(name="PingPongMT", threads=2)))
    assert cell.message_bytes == 8
    (remark,) = reading.remarks
    assert remark.startswith("IMB-MT with 2 threads: sizes are those of one thread; IMB prints")
    assert read("imb", MT.format(name="PingPongMT", threads=1)).remarks == ()


def test_times_that_are_of_a_whole_window_are_stated() -> None:
    text = (PRINTED / "mpich-MT-multiple-2threads-np2.txt").read_text(encoding="utf-8")
    remarks = read("imb", text).remarks
    bands = [remark for remark in remarks if "messages in flight; IMB prints the time of" in remark]
    assert {remark.split(":")[0] for remark in bands} == {"UniBandMT", "BiBandMT"}


@pytest.mark.parametrize(
    ("version", "words", "sync"),
    [
        ("2021.7", (), "barrier"),
        ("2021.7", ("-sync", "0", "-imb_barrier", "1"), "none"),
        ("2021.7", ("-imb_barrier", "0"), "barrier"),
        ("2021.7", ("-imb_barrier", "1"), "dissemination"),
        ("4.1", (), "none"),
        ("4.1", ("-sync", "1"), "barrier"),
    ],
)
def test_how_ranks_of_imb_meet(version: str, words: tuple[str, ...], sync: str) -> None:
    allreduce, ping_pong = card_of("MPI1", "Allreduce"), card_of("MPI1", "PingPong")
    assert allreduce is not None
    assert ping_pong is not None
    header = Header(version, "MPI1", command=["IMB-MPI1", *words])
    assert (header.sync(allreduce), header.sync(ping_pong)) == (sync, "none")


def test_regular_rows_of_imb_have_each_point_in_its_place() -> None:
    heads = ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec")
    rows = b"".join(b"%13d%13d%13.2f%13.2f\n" % (8 << n, 1000, 1.25, 6.4) for n in range(3))
    for end in (b"", b"\n", b"\n\n# ends", b"# ends"):
        assert regular_rows(rows + end, 0, heads) == 3
    assert regular_rows(rows[53:], 0, heads) == 2
    for wrong in ((b"1.25", b"12.5"), (b"6.40", b"64.0"), (b" 6.40", b"6.40 "), (b" 8", b"8.")):
        assert regular_rows(rows.replace(*wrong, 1), 0, heads) == 0
    assert regular_rows(rows[:-1] + b" ", 0, heads) == 0


@pytest.mark.parametrize("word", ["nan", "inf"])
def test_a_row_of_imb_without_a_time_has_what_is_printed_as_its_reason(word: str) -> None:
    head = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    (skip,) = read("imb", f"{head}8  1000  {word}  1.00\n4  1000  2.00  2.00\n").skips
    assert skip.reason == f"IMB prints no time for 1000 repetitions: {word} in t[usec]"


def test_a_size_that_comes_twice_in_a_table_of_imb_is_reported() -> None:
    head = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    reading = read("imb", f"{head}8  1000  1.00  8.00\n8  1000  2.00  4.00\n")
    assert [cell.launch for cell in cells(reading)] == [0, 1]
    assert any("PingPong of 8 B again without" in remark for remark in reading.remarks)


def test_the_settings_of_a_command_tell_runs_of_imb_apart() -> None:
    text = "".join(
        f"$ mpirun -np 2 {words} IMB-MPI1 PingPong\n# Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
        "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
        "8  1000  1.00  8.00\n"
        for words in ("-x UCX_TLS=tcp", "-genv I_MPI_FABRICS shm", "--map-by node")
    )
    found = [(cell.arm, cell.placement) for cell in cells(read("imb", text))]
    assert found == [("UCX_TLS=tcp", ""), ("I_MPI_FABRICS=shm", ""), ("", "map-by:node")]


@pytest.mark.parametrize(
    ("line", "setting"),
    [
        ("export MPI_BUFFER_MAX=4096", ("MPI_BUFFER_MAX", "4096")),
        ("MPI_BUFFER_MAX= 4096", ("MPI_BUFFER_MAX", "4096")),
        ("setenv UCX_TLS rc", ("UCX_TLS", "rc")),
        ("EXEC_HOST=node042", None),
        ("MPI startup: hello world", None),
    ],
)
def test_settings_in_logs(line: str, setting: tuple[str, str] | None) -> None:
    assert setting_in(line) == setting


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mpirun -np 2 IMB-MPI1", True),
        ("[user@node ~]$ srun -n 2 osu_bw", True),
        ("+ /opt/mpi/bin/mpiexec.hydra -n 2 osu_bw", True),
        ("UCX_TLS=sm time mpirun osu_bw", True),
        ("I_MPI_MPIRUN=mpirun", False),
        ("we started it with mpirun -np 2", False),
        ("mpirun-wrapper: ready", False),
    ],
)
def test_lines_that_start_jobs(line: str, expected: bool) -> None:
    assert is_command(line) == expected


@pytest.mark.parametrize(
    ("words", "settings", "placement"),
    [
        ("-x UCX_TLS=rc,sm", {"UCX_TLS": "rc,sm"}, ""),
        ("-genv I_MPI_FABRICS shm -ppn 2", {"I_MPI_FABRICS": "shm"}, "ppn:2"),
        ("-env MPICH_X=1", {"MPICH_X": "1"}, ""),
        ("--mca btl tcp,self --mca pml ob1", {"btl": "tcp,self", "pml": "ob1"}, ""),
        ("--export=ALL,UCX_TLS=tcp,FI_X=1", {"UCX_TLS": "tcp", "FI_X": "1"}, ""),
        ("--map-by core --bind-to=none", {}, "map-by:core bind-to:none"),
        ("taskset -c 0,12", {}, "cores:0,12"),
        ("-np 2 -x LD_LIBRARY_PATH", {}, ""),
    ],
)
def test_settings_in_commands(words: str, settings: dict[str, str], placement: str) -> None:
    line = f"mpirun {words} IMB-MPI1 PingPong"
    assert settings_in_command(line) == settings
    assert placement_in_command(line) == placement


def test_options_of_imb_that_no_column_is_for_are_settings() -> None:
    halo = "# Benchmarking simple_halo (processes: 4; threads: 1; dimensions: 2)\n64(x4)(bytes) {}"
    text = "".join(f"mpirun -n 4 IMB-HALO -topo {grid}\n{halo.format('2.5(usec) 1.0(Mb/s)')}\n"
                   for grid in ("4.1", "2.2"))  # fmt: skip
    found = [(cell.settings, cell.launch) for cell in cells(read("imb", text))]
    assert found == [("topo=4x1", 0), ("topo=2x2", 1)]


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("mpirun -np 4 osu_bcast", 4),
        ("srun -N2 -n8 osu_bcast", 8),
        ("srun --ntasks=16 --ntasks-per-node=4 osu_bcast", 16),
        ("jsrun -n 4 -a 2 osu_bcast", 8),
        ("mpiexec -n 2 osu_bcast : -n 3 osu_bcast", 5),
        ("mpirun osu_bcast -i 10", 0),
    ],
)
def test_ranks_of_osu_are_those_of_its_command(line: str, ranks: int) -> None:
    head = "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n"
    (cell,) = cells(read("osu", f"{line}\n{head}1   1.0\n"))
    assert cell.ranks == ranks
