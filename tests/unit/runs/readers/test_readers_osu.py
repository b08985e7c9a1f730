# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What OSU's benchmarks print beside sizes and times: each line of it tells rows apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from mpigauge.runs.readers import READERS, Text
from mpigauge.runs.readers.osu_comments import (
    buffers_in,
    memory_in_title,
    pairs_in,
    settings_in,
    windows_in,
)

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

LATENCY = "# OSU MPI Latency Test v7.4\n"
HEAD = "# Size       Avg Latency(us)\n"


def read(text: str, ranks: int = 0) -> Reading:
    return READERS["osu"].read(Text(text.encode(), ranks=ranks))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


# --- validation ----------------------------------------------------------------------------------
@pytest.mark.parametrize("results", ["Pass Pass Fail", "Fail Pass Pass", "Pass Fail Pass", "Fail"])
def test_rows_that_fail_validation_are_wrong_wherever_they_stand(results: str) -> None:
    words = results.split()
    rows = [f"{1 << i}   {i + 1}.5   {word}\n" for i, word in enumerate(words)]
    head = "# Size      Bandwidth (MB/s)        Validation\n"
    reading = read("# OSU MPI Bandwidth Test v7.5\n# Datatype: MPI_CHAR.\n" + head + "".join(rows))
    assert [cell.wrong_count for cell in cells(reading)] == [int(word == "Fail") for word in words]
    assert {cell.check for cell in cells(reading)} == {"exact"}
    assert reading.remarks == ()


def test_the_error_that_a_test_ends_with_is_reported() -> None:
    error = "DATA VALIDATION ERROR: osu_bw exited with status 1 on message size 4.\n"
    rows = f"1   0.92   Pass\n{error}4   3.72   Fail\n8   7.45   Pass\n"
    head = "# Size      Bandwidth (MB/s)        Validation\n"
    reading = read("# OSU MPI Bandwidth Test v7.5\n" + head + rows)
    assert [(c.message_bytes, c.wrong_count) for c in cells(reading)] == [(1, 0), (4, 1), (8, 0)]
    assert reading.remarks == (f"OSU reports at line 4: {error.strip()[:-1]}",)


# --- comments ------------------------------------------------------------------------------------
@pytest.mark.parametrize("head_first", [True, False])
def test_each_type_has_its_own_table(head_first: bool) -> None:
    """OSU 7.2 prints the head before the type, and once; 7.4 prints it below each type."""
    text = LATENCY + (HEAD if head_first else "")
    for type_, time in (("CHAR", 1), ("INT", 2), ("FLOAT", 3)):
        text += f"# Datatype: MPI_{type_}.\n" + ("" if head_first else HEAD) + f"4   {time}.0\n"
    reading = read(text)
    found = [(cell.datatype, cell.latency_s, cell.launch) for cell in cells(reading)]
    assert found == [("char", 1e-6, 0), ("int", 2e-6, 0), ("float", 3e-6, 0)]
    assert reading.remarks == ()


COMMENTS = {
    "window": (
        "MPI_Put Latency",
        "# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n",
        "# Window creation: MPI_Win_create\n# Synchronization: MPI_Win_flush\n",
    ),
    "synchronization": (
        "MPI_Get Latency",
        "# Window creation: MPI_Win_create\n# Synchronization: MPI_Win_lock/unlock\n",
        "# Window creation: MPI_Win_create\n# Synchronization: MPI_Win_fence\n",
    ),
    "threads": (
        "MPI Multi-threaded Latency",
        "# Number of Sender threads: 1 \n# Number of Receiver threads: 2\n",
        "# Number of Sender threads: 1 \n# Number of Receiver threads: 8\n\n",
    ),
    "processes": (
        "MPI Multi-process Latency",
        "# Number of forked processes in sender: 2\n",
        "# Number of forked processes in sender: 4\n",
    ),
    "partitions": ("MPI Partitioned Latency", "# Partitions: 8\n", "# Partitions: 16\n"),
    "brackets": ("MPI Partitioned Latency", "# [ partitions: 8 ]\n", "# [ partitions: 16 ]\n"),
    "grid": (
        "MPI Neighborhood Allgather Latency",
        "# Dimensions size = 2 1\n",
        "# Dimensions size = 1 2\n",
    ),
    "words": ("MPI Allgather Latency", "", "# in place\n"),
    "buffers": (
        "MPI-CUDA Latency",
        "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n",
        "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n",
    ),
    "managed": (
        "MPI-CUDA Latency",
        "# Send Buffer on MANAGED (MD) and Receive Buffer on HOST (H)\n",
        "# Send Buffer on MANAGED (MH) and Receive Buffer on HOST (H)\n",
    ),
    "memory": (
        "MPI-ROCM_Put Latency",
        "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)\n",
        "# Rank 0 Memory on HOST (H) and Rank 1 Memory on DEVICE (D)\n",
    ),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_tests_that_differ_only_in_a_comment_are_kept_apart(name: str) -> None:
    title, first, second = COMMENTS[name]
    formula = "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n"
    parts = [f"# OSU {title} Test v7.4\n{formula}{comment}{HEAD}" for comment in (first, second)]
    reading = read(f"{parts[0]}1   1.0\n{parts[1]}1   3.0\n{parts[0]}1   2.0\n", ranks=2)
    found = [(cell.key, cell.launch, cell.time_avg_s) for cell in cells(reading)]
    assert len({key for key, _, _ in found}) == 2
    assert found[0][0] == found[2][0]
    assert [launch for _, launch, _ in found] == [0, 0, 1]
    assert (reading.remarks, reading.unread) == ((), ())


def test_comments_become_columns_or_settings() -> None:
    title, first, _ = COMMENTS["window"]
    (cell,) = cells(read(f"# OSU {title} Test v7.4\n{first}{HEAD}1   1.0\n"))
    assert cell.settings == "synchronization=MPI_Win_flush window_creation=MPI_Win_allocate"
    assert (cell.benchmark, cell.ranks) == ("Put_Latency", 2)
    title, _, second = COMMENTS["threads"]
    (cell,) = cells(read(f"# OSU {title} Test v7.4\n{second}{HEAD}1   1.0\n"))
    assert (cell.settings, cell.ranks) == ("receiver_threads=8 sender_threads=1", 2)
    title, _, second = COMMENTS["buffers"]
    (cell,) = cells(read(f"# OSU {title} Test v7.4\n{second}{HEAD}1   1.0\n"))
    assert (cell.benchmark, cell.memory, cell.arm) == (
        "PingPong",
        "device>host",
        "accelerator=cuda",
    )


@pytest.mark.parametrize(
    ("title", "memory", "arm"),
    [
        ("MPI", "host", ""),
        ("MPI-ROCM", "device", "accelerator=rocm"),
        ("MPI-OPENACC", "device", "accelerator=openacc"),
        ("MPI-MANAGED", "managed", ""),
        ("MPI-CUDA MANAGED", "managed", "accelerator=cuda"),
    ],
)
def test_the_title_names_the_memory_of_collectives(title: str, memory: str, arm: str) -> None:
    (cell,) = cells(read(f"# OSU {title} Allreduce Latency Test v7.4\n{HEAD}4   1.0\n", ranks=4))
    assert (cell.benchmark, cell.memory, cell.arm) == ("Allreduce", memory, arm)


@pytest.mark.parametrize(
    ("api", "line", "memory", "settings"),
    [
        ("-CUDA", "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)", "device", ""),
        ("-CUDA", "# Send Buffer on HOST (H) and Receive Buffer on DEVICE (D)", "host>device", ""),
        ("-CUDA", "# Send Buffer on HOST (H) and Receive Buffer on HOST (H)", "host", ""),
        ("-CUDA", "# Rank 0 Memory on HOST (H) and Rank 1 Memory on DEVICE (D)", "host>device", ""),
        ("-CUDA", "# Send Buffer on MANAGED (MD) and Receive Buffer on MANAGED (MH)", "managed",
         "managed_on=device>host"),
        ("-CUDA", "# Send Buffer on MANAGED (MH) and Receive Buffer on DEVICE (D)",
         "managed>device", "managed_on=host"),
    ],
)  # fmt: skip
def test_the_memory_of_both_sides(api: str, line: str, memory: str, settings: str) -> None:
    (cell,) = cells(read(f"# OSU MPI{api} Latency Test v7.4\n{line}\n{HEAD}4   1.0\n"))
    assert (cell.benchmark, cell.memory, cell.settings) == ("PingPong", memory, settings)


def test_a_table_of_host_memory_after_one_of_the_gpu() -> None:
    line = "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
    device = f"# OSU MPI-CUDA Latency Test v7.4\n{line}{HEAD}4   9.0\n"
    found = [cell.memory for cell in cells(read(f"{device}{LATENCY}{HEAD}4   1.0\n"))]
    assert found == ["device>host", "host"]


@pytest.mark.parametrize(
    ("title", "name", "ranks"),
    [
        ("Allreduce Latency", "AllReduce", 8),
        ("Broadcast Latency", "Broadcast", 8),
        ("All-to-All Personalized Exchange Latency", "AlltoAll", 8),
        ("Allgather Latency", "AllGather", 8),
        ("Reduce_scatter Latency", "ReduceScatter", 8),
        ("Reduce Latency", "Reduce", 8),
        ("Latency", "PingPong", 2),
        ("Bandwidth", "Uniband", 2),
        ("Bi-Directional Bandwidth", "Biband", 2),
    ],
)
@pytest.mark.parametrize(
    ("library", "arm"),
    [("NCCL-CUDA", "accelerator=cuda"), ("RCCL-ROCM", "accelerator=rocm library=rccl")],
)
def test_tests_of_nccl(title: str, name: str, ranks: int, library: str, arm: str) -> None:
    head = "# Size      Bandwidth (MB/s)\n" if "Bandwidth" in title else HEAD
    text = f"#Using NCCL\n#Using NCCL\n# OSU {library} {title} Test v7.5\n{head}1024   189.24\n"
    reading = read(f"$ mpirun -n 8 osu_xccl_x -d cuda D D\n{text}")
    (cell,) = cells(reading)
    assert (cell.suite, cell.benchmark, cell.ranks) == ("NCCL", name, ranks)
    assert (cell.memory, cell.completion, cell.arm) == ("device", "each", arm)
    if "Latency" in title:
        assert cell.latency_s == pytest.approx(189.24e-6)
    else:
        assert cell.bandwidth_bytes_per_s == pytest.approx(189.24e6)
    assert [card.name for card in reading.cards] == [name]
    assert (reading.remarks, reading.unread) == ((), ())


def test_a_comment_in_the_middle_of_a_table_holds_from_there_on() -> None:
    reading = read(f"{LATENCY}{HEAD}1   1.0\n# Partitions: 4\n1   2.0\n2   3.0\n")
    found = [(cell.settings, cell.message_bytes) for cell in cells(reading)]
    assert found == [("", 1), ("partitions=4", 1), ("partitions=4", 2)]


def test_a_size_that_comes_twice_in_a_table_is_reported() -> None:
    reading = read(f"{LATENCY}{HEAD}1   1.0\n1   2.0\n2   3.0\n")
    assert [(c.launch, c.latency_s) for c in cells(reading)] == [(0, 1e-6), (0, 3e-6), (1, 2e-6)]
    (remark,) = reading.remarks
    assert remark == (
        "the text prints PingPong of 1 B again without a new heading: 1 row kept as further "
        "launches"
    )


def test_the_settings_of_a_command_are_those_of_its_output() -> None:
    text = "export UCX_LOG_LEVEL=info\n"
    for words in ("--mca btl tcp,self", "-x UCX_TLS=sm", "--mca btl tcp,self"):
        text += f"$ mpirun -np 2 {words} ./osu_latency -i 10\n{LATENCY}{HEAD}1   1.0\n"
    reading = read(text + f"{LATENCY}{HEAD}1   1.0\n")
    shared = "UCX_LOG_LEVEL=info"
    assert [(cell.arm, cell.launch) for cell in cells(reading)] == [
        (f"{shared} btl=tcp,self", 0),
        (f"{shared} UCX_TLS=sm", 0),
        (f"{shared} btl=tcp,self", 1),
        (shared, 0),
    ]


# --- percentiles ---------------------------------------------------------------------------------
def test_percentiles_of_a_latency() -> None:
    heads = "".join(f"    P{percent} Tail Lat(us)" for percent in (1, 50, 90, 99))
    text = f"{LATENCY}# Size       Avg Latency(us){heads}\n1024   2.0   1.0   1.9   2.5   9.0\n"
    reading = read(text)
    (cell,) = cells(reading)
    assert (cell.latency_s, cell.time_mean_s / 2) == pytest.approx((1.9e-6, 2e-6))
    assert (cell.time_p01_s / 2, cell.time_p99_s / 2) == pytest.approx((1e-6, 9e-6))
    assert cell.statistic == "median over repetitions"
    (figure,) = reading.figures
    assert (figure.benchmark, figure.name, figure.unit) == (
        "PingPong", "P90 of the time, 1 KiB", "s"
    )  # fmt: skip
    assert figure.value == pytest.approx(2.5e-6)
    assert reading.unread == ()


def test_percentiles_of_a_bandwidth_are_those_of_the_time_from_the_other_end() -> None:
    heads = "".join(f"   P{percent} Tail BW(MB/s)" for percent in (50, 95, 99))
    text = f"# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s){heads}\n"
    reading = read(f"{text}1000   10.0   20.0   25.0   40.0\n")
    (cell,) = cells(reading)
    window_bytes = 64 * 1000
    times = cell.time_p50_s, cell.time_mean_s, cell.time_p01_s
    assert times == pytest.approx([window_bytes / (rate * 1e6) for rate in (20, 10, 40)])
    assert cell.printed_mb_per_s == 10
    (figure,) = reading.figures
    assert (figure.value, figure.unit, figure.better) == (25, "MB/s", "higher")


def test_with_f_the_time_stays_that_of_the_slowest_rank() -> None:
    head = "# Size   Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
    text = f"# OSU MPI Allreduce Latency Test v7.4\n{head}    P50 Tail Lat(us)\n"
    reading = read(f"{text}4   2.0   1.0   3.0   1000   1.9\n", ranks=8)
    (cell,) = cells(reading)
    assert (cell.time_p50_s, cell.statistic) == (3e-6, "mean over repetitions, slowest rank")
    (figure,) = reading.figures
    assert figure.name == "P50 of the time, 4 B"
    assert figure.value == pytest.approx(1.9e-6)


# --- -V ------------------------------------------------------------------------------------------
VARIED = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: varied ]

# Uni-directional Bandwidth (MB/sec)
# Datatype: MPI_CHAR.
#                 1           2
1              1.00        2.00
2              4.00        nan

# Message Rate Profile
#                 1           2
1        1000000.00  2000000.00
2        2000001.00  1000000.00
# Datatype: MPI_INT.
#                 1           2
4              8.00        9.00
"""


def test_tables_of_all_windows() -> None:
    reading = read(VARIED)
    found = {(c.datatype, c.inflight, c.message_bytes): c for c in cells(reading)}
    others = {("char", 1, 2), ("int", 1, 4), ("int", 2, 4)}
    assert set(found) == {("char", 1, 1), ("char", 2, 1)} | others
    cell = found["char", 2, 1]
    assert (cell.benchmark, cell.ranks, cell.printed_mb_per_s) == ("Uniband", 4, 2)
    assert cell.printed_msg_per_s == cell.message_rate_per_s == pytest.approx(2e6)
    assert {cell.launch for cell in found.values()} == {0}
    assert [(each.line, each.why) for each in reading.unread] == [
        (8, "nan is not a number (2 in flight)"),
        (13, "no bandwidth with a window of 2 precedes this rate"),
    ]


def test_a_second_table_of_all_windows_is_a_launch() -> None:
    reading = read(VARIED + VARIED)
    assert {cell.launch for cell in cells(reading)} == {0, 1}
    assert len(cells(reading)) == 2 * len(cells(read(VARIED)))
    assert reading.remarks == ()


# --- rows ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "1e999", "0x10", "**"])
def test_the_reason_names_the_word_that_is_no_number(word: str) -> None:
    reading = read(f"{LATENCY}{HEAD}1   1.0\n2   {word}\n4   2.0\n")
    assert [cell.message_bytes for cell in cells(reading)] == [1, 4]
    assert [each.why for each in reading.unread] == [f"{word} is not a number (Avg Latency(us))"]


def test_a_derived_type_moves_the_bytes_that_are_sent() -> None:
    text = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)       Transmit Size\n"
    (cell,) = cells(read(f"{text}64   10.0   32\n"))
    assert (cell.moved_bytes, cell.settings) == (64 * 32, "layout=derived")
    assert cell.bandwidth_bytes_per_s == pytest.approx(10e6)


def test_starts_of_mpi_are_launches() -> None:
    text = "# OSU MPI Init Test v7.4\nnprocs: 4, min: 67 ms, max: 69 ms, avg: 68 ms\n"
    reading = read(text + text.replace("69", "79"))
    longest = [f for f in reading.figures if f.name == "longest over ranks"]
    assert [(figure.launch, figure.value) for figure in longest] == [(0, 0.069), (1, 0.079)]


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("nprocs: 4, min: 2 s, max: 7 s, avg: 5 s", "shortest over ranks", 2.0),
        ("nprocs: 4, min: 2 ms, max: 7 ms, avg: 5 ms", "mean over ranks", 5e-3),
        ("nprocs: 4, min: 2 us, max: 7 us, avg: 5 us", "longest over ranks", 7e-6),
    ],
)
def test_units_of_the_start_of_mpi(line: str, name: str, value: float) -> None:
    figures = {f.name: f for f in read(f"# OSU MPI Init Test v7.4\n{line}\n").figures}
    assert figures[name].value == pytest.approx(value)
    assert (figures[name].ranks, figures[name].better) == (4, "lower")


@pytest.mark.parametrize("option", ["-W 32", "-W=32", "--window-size 32", "--window-size=32"])
def test_the_window_of_a_command(option: str) -> None:
    bandwidth = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n100   10.0\n"
    first, second = cells(read(f"$ mpirun -np 2 ./osu_bw {option}\n{bandwidth}{bandwidth}"))
    assert (first.inflight, first.moved_bytes, first.messages) == (32, 3200, 32)
    assert (second.inflight, second.moved_bytes, second.messages) == (64, 6400, 64)


def test_what_is_not_windowed_has_one_message_under_way() -> None:
    (cell,) = cells(read(f"{LATENCY}{HEAD}8   1.5\n"))
    assert (cell.inflight, cell.messages, cell.moved_bytes) == (1, 1, 8)
    (cell,) = cells(
        read(f"# OSU MPI Barrier Latency Test v7.4\n{HEAD[:2]}Avg Latency(us)\n 3.0\n", 4)
    )
    assert (cell.benchmark, cell.message_bytes, cell.moved_bytes) == ("Barrier", -1, 0)
    assert cell.time_p50_s == pytest.approx(3e-6)


@pytest.mark.parametrize("lines", ["", "# Datatype: MPI_CHAR.\n"])
def test_a_title_that_every_rank_prints_begins_one_test(lines: str) -> None:
    title = "# OSU MPI Allreduce Latency Test v7.4\n"
    command = "$ mpirun -np 4 ./osu_allreduce\n"
    (cell,) = cells(read(f"{command}{title}{lines}{title}{HEAD}8   1.5\n"))
    assert (cell.benchmark, cell.ranks, cell.datatype) == (
        "Allreduce", 4, "char" if lines else cell.datatype
    )  # fmt: skip


def test_a_title_below_another_command_begins_a_test() -> None:
    """The first one ended before it printed a head."""
    title = "# OSU MPI Allreduce Latency Test v7.4\n"
    for first, second in (("mpirun -np 4", "mpirun -np 8"), ("mpirun -np 4", "srun -n 8")):
        begun = f"$ {first} ./osu_allreduce\n{title}$ {second} ./osu_allreduce\n{title}"
        (cell,) = cells(read(f"{begun}{HEAD}8   1.5\n"))
        assert cell.ranks == 8


def test_another_title_begins_a_test() -> None:
    (cell,) = cells(read(f"{LATENCY}# OSU MPI Bcast Latency Test v7.4\n{HEAD}8   1.5\n", 4))
    assert cell.benchmark == "Bcast"
    (cell,) = cells(read(f"# OSU MPI Bcast Latency Test v7.4\n{LATENCY}{HEAD}8   1.5\n", 4))
    assert cell.benchmark == "PingPong"


def test_a_row_below_a_comment_is_one_of_the_table() -> None:
    reading = read(f"{LATENCY}{HEAD}1   1.0\n# Partitions: 4\n2   nan\n")
    assert [each.why for each in reading.unread] == ["nan is not a number (Avg Latency(us))"]


def test_percentiles_have_columns_at_both_ends() -> None:
    heads = "".join(f"    P{percent} Tail Lat(us)" for percent in (0, 100))
    text = (
        f"{LATENCY}# Size       Avg Latency(us){heads}\n8   2.0   1.0   9.0\n16   2.0   0.0   9.0\n"
    )
    cell, zero = cells(read(text))
    assert (cell.time_best_s, cell.time_worst_s) == pytest.approx((2e-6, 18e-6))
    assert math.isnan(zero.time_best_s)
    assert cell.statistic == "mean over repetitions"
    assert read(text).figures == ()


def test_a_percentile_beyond_a_hundred_is_none() -> None:
    reading = read(f"{LATENCY}# Size       Avg Latency(us)    P101 Tail Lat(us)\n8   2.0   1.0\n")
    assert [each.text for each in reading.unread] == ["P101 Tail Lat(us)"]


def test_a_percentile_of_what_has_no_size() -> None:
    text = (
        "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)    P90 Tail Lat(us)\n 3.0   4.0\n"
    )
    (figure,) = read(text, 4).figures
    assert (figure.name, figure.ranks) == ("P90 of the time", 4)
    assert figure.value == pytest.approx(4e-6)
    assert (figure.unit, figure.better) == ("s", "lower")


@pytest.mark.parametrize(("title", "sync"), [("Allreduce Latency", "barrier"), ("Latency", "none")])
def test_collectives_begin_each_call_with_a_barrier(title: str, sync: str) -> None:
    (cell,) = cells(read(f"# OSU MPI {title} Test v7.4\n{HEAD}8   1.5\n", 4))
    assert cell.sync == sync


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# [ pairs: 2 ] [ window size: 64 ]", (2, 64)),
        ("# [ pairs: 8 ] [ window size: varied ]", (8, 0)),
        ("# [ pairs: 2 ] [ window size: other ]", None),
        ("# [ pairs: all ] [ window size: 64 ]", None),
        ("# [ window size: 64 ]", None),
    ],
)
def test_pairs_and_their_window(line: str, expected: tuple[int, int] | None) -> None:
    assert pairs_in(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#    1    2    16", ("1", "2", "16")), ("# 4", ("4",)), ("#", ()), ("1 2", ()),
        ("# 1 x", ()), ("# 1.5", ()),
    ],
)  # fmt: skip
def test_windows_at_the_head_of_a_table(line: str, expected: tuple[str, ...]) -> None:
    assert windows_in(line) == expected


@pytest.mark.parametrize(
    ("interface", "is_managed", "expected"),
    [("MANAGED", False, "managed"), ("CUDA", False, "device"), ("CUDA", True, "managed"),
     ("", False, "host")],
)  # fmt: skip
def test_the_memory_in_a_title(interface: str, is_managed: bool, expected: str) -> None:
    assert memory_in_title(interface, is_managed) == expected


@pytest.mark.parametrize("line", ["# Size", "some words", "# Send Buffer on DEVICE (D)", ""])
def test_other_lines_name_no_buffers(line: str) -> None:
    assert buffers_in(line) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# Datatype: MPI_CHAR.", {"datatype": "MPI_CHAR"}),
        ("# Number of Iterations = 10 or so", {"iterations": "10_or_so"}),
        ("# [ My Word: a b ] [ other: 3 ]", {"my_word": "a_b", "other": "3"}),
        ("# Overall = Coll. Init + Compute", {}),
        ("# ----", {}),
        ("# as it is", {"comment": "as_it_is"}),
    ],
)
def test_settings_of_a_comment(line: str, expected: dict[str, str]) -> None:
    assert settings_in(line) == expected
