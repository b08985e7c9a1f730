# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The reader of perftest: tables as its programs print them, and the files of --out_json."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.runs.readers import READERS, Text

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"
FACTS = """ Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : {qps}\t\tTransport type : IB
 Connection type : {connection}\t\tUsing SRQ      : OFF
 TX depth        : {depth}
 Mtu             : {mtu}[B]
 Link type       : IB
"""
RATES = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
TIMES = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
MEBI = 2**20


def read(text: str) -> Reading:
    return READERS.find("perftest").read(Text(text.encode()))


def recorded(file: str) -> Reading:
    return read((PRINTED / f"{file}.txt").read_text(encoding="utf-8"))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def written(
    title: str,
    rows: str,
    *,
    qps: int = 1,
    connection: str = "RC",
    depth: int = 128,
    mtu: int = 4096,
) -> str:
    facts = FACTS.format(qps=qps, connection=connection, depth=depth, mtu=mtu)
    heads = TIMES if "Latency" in title else RATES
    return f"{'-' * 80}\n                    {title}\n{facts}{'-' * 80}\n{heads}{rows}{'-' * 80}\n"


def test_bandwidths_are_those_that_are_printed() -> None:
    first, *_, last = (c for c in cells(recorded("perftest")) if c.benchmark == "ib_write_bw")
    assert (first.message_bytes, first.inflight, first.ranks, first.calls) == (2, 128, 2, 5000)
    assert first.bandwidth_bytes_per_s == pytest.approx(7.03 * MEBI)
    assert first.message_rate_per_s == pytest.approx(3.686785e6, rel=1e-3)
    assert first.printed_msg_per_s == 3686785
    assert first.arm == "device=mlx5_0 link=IB mtu=4096 cq-moderation=100"
    assert (last.settings, last.message_bytes) == ("bidirectional qps=2", 65536)
    assert last.bandwidth_bytes_per_s == pytest.approx(196.58e9 / 8)
    assert math.isnan(last.printed_mb_per_s)


def test_latencies_of_messages_are_half_round_trips_and_reads_whole_calls() -> None:
    found = {(c.benchmark, c.message_bytes): c for c in cells(recorded("perftest"))}
    send, read_ = found["ib_send_lat", 4096], found["ib_read_lat", 8]
    assert (send.latency_s, send.time_p50_s) == pytest.approx((2.16e-6, 4.32e-6))
    assert (send.time_best_s, send.time_worst_s) == pytest.approx((4.22e-6, 12.14e-6))
    assert (send.time_mean_s, send.time_p99_s) == pytest.approx((4.34e-6, 4.62e-6))
    assert (read_.latency_s, read_.time_p50_s) == pytest.approx((1.79e-6, 1.79e-6))
    assert send.statistic == "median over repetitions"


def test_what_has_no_place_is_named() -> None:
    reading = recorded("perftest")
    assert [(u.text, u.why) for u in reading.unread] == [
        (
            "t_stdev[usec], 99.9% percentile[usec]",
            f"there is no place for these columns of {program}",
        )
        for program in ("ib_send_lat", "ib_read_lat")
    ]
    assert reading.remarks == (
        "perftest: MB/sec in the text are of 2^20 bytes, here MB/s are of 10^6",
    )


def test_json_with_and_without_quotes() -> None:
    """Older versions quote no name; its unit is the one that the message rate fits."""
    local, remote, latency = cells(recorded("perftest-json"))
    assert (local.benchmark, local.settings) == ("ib_send_bw", "bidirectional side=local")
    assert local.bandwidth_bytes_per_s == pytest.approx(98.31e9 / 8)
    assert remote.settings == "bidirectional side=remote"
    assert (latency.benchmark, latency.message_bytes) == ("ib_write_lat", 128)
    assert latency.latency_s == pytest.approx(2.42e-6)
    assert latency.arm == "device=rxe0 link=Ethernet mtu=1024 gid=1 relaxed-order=OFF ibv_wr=OFF"


@pytest.mark.parametrize(
    ("mean", "rate", "bytes_per_s"),
    [(100.0, 100 * MEBI / 4096 / 1e6, 100 * MEBI), (100.0, 1e11 / 8 / 4096 / 1e6, 1e11 / 8)],
)
def test_json_in_a_line(mean: float, rate: float, bytes_per_s: float) -> None:
    text = (
        '{"test_info": {"test": "RDMA_Read_BW_Test", "TX_depth": 64}, "results": [{"MsgSize": 4096,'
        f' "n_iterations": 10, "BW_peak": 0, "BW_average": {mean}, "MsgRate": {rate}}}]}}'
    )
    (cell,) = cells(read(text))
    assert (cell.benchmark, cell.inflight) == ("ib_read_bw", 64)
    assert cell.bandwidth_bytes_per_s == pytest.approx(bytes_per_s)


@pytest.mark.parametrize(
    ("rate", "why"),
    [("7", "its message rate and bandwidth fit no unit"), (None, "its row is cut off")],
)
def test_json_that_is_no_result_is_named(rate: str | None, why: str) -> None:
    end = f', "MsgRate": {rate}}}}}' if rate else ""
    text = (
        '{"test_info": {"test": "RDMA_Read_BW_Test"},\n'
        f'"results": {{"MsgSize": 4096, "n_iterations": 10, "BW_average": 100.0{end}'
    )
    reading = read(text)
    assert reading.rows == 0
    assert [(u.line, u.why) for u in reading.unread] == [(2, why)]


@pytest.mark.parametrize(
    ("title", "benchmark", "settings"),
    [
        ("RDMA_Write BW Test", "ib_write_bw", ""),
        ("RDMA Write BW Test", "ib_write_bw", ""),
        ("RDMA_Read Bidirectional BW Test", "ib_read_bw", "bidirectional"),
        ("Send Bidirectional Post List BW Test", "ib_send_bw", "bidirectional post list"),
        ("Atomic FETCH_AND_ADD BW Test", "ib_atomic_bw", "fetch and add"),
        ("Send BW Multicast Test", "ib_send_bw", "multicast"),
    ],
)
def test_titles(title: str, benchmark: str, settings: str) -> None:
    (cell,) = cells(read(written(title, " 64   100   10.00   10.00   0.163840\n")))
    assert (cell.benchmark, cell.settings) == (benchmark, settings)


@pytest.mark.parametrize(
    ("one", "other"),
    [({"qps": 1}, {"qps": 4}), ({"connection": "RC"}, {"connection": "UD"}),
     ({"mtu": 1024}, {"mtu": 4096}), ({"depth": 1}, {"depth": 128})],
)  # fmt: skip
def test_tests_that_differ_only_in_a_fact_are_told_apart(
    one: dict[str, int], other: dict[str, int]
) -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    text = "".join(written("Send BW Test", row, **facts) for facts in (one, other))  # type: ignore[arg-type]
    first, second = cells(read(text))
    assert (first.launch, second.launch) == (0, 0)
    assert (first.settings, first.arm, first.inflight) != (
        second.settings, second.arm, second.inflight
    )  # fmt: skip


def test_the_same_test_again_is_the_next_launch() -> None:
    rows = [f" 64   100   10.00   {rate}   0.163840\n" for rate in ("10.00", "12.00")]
    reading = read("".join(written("Send BW Test", row) for row in rows))
    assert [cell.launch for cell in cells(reading)] == [0, 1]
    assert [launch.world_ranks for launch in reading.launches] == [2, 2]


def test_a_size_that_a_table_has_twice() -> None:
    """--run_infinitely prints a row for each interval."""
    rows = " 64   100   0.00   10.00   0.163840\n" * 2 + " 128   100   0.00   10.00   0.1\n"
    reading = read(written("Send BW Test", rows))
    assert [(c.launch, c.message_bytes) for c in cells(reading)] == [(0, 64), (0, 128), (1, 64)]
    assert any("again without a new heading" in remark for remark in reading.remarks)
    assert all(math.isnan(cell.time_best_s) for cell in cells(reading))


def test_both_sides_of_a_test_are_one() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    sides = []
    for order in (("local", "remote"), ("remote", "local")):
        addresses = "".join(
            f" {side} address: LID 0x1{n} QPN 0x000{n} PSN 0x1234\n" for n, side in enumerate(order)
        )
        sides.append(written("Send BW Test", row).replace(RATES, addresses + RATES))
    reading = read("".join(sides))
    assert len(cells(reading)) == 1
    assert "1 of 2 tables are what the other side of the same test printed" in reading.remarks[0]


def test_results_of_each_side() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    both = written("Send Bidirectional BW Test", row)
    text = f"{both} Local results: \n{RATES}{row}\n Remote results: \n{RATES}{row}"
    found = [cell.settings for cell in cells(read(text))]
    assert found == ["bidirectional", "bidirectional side=local", "bidirectional side=remote"]


def test_service_levels_are_told_apart() -> None:
    heads = RATES.replace("#iterations", "#sl #iterations")
    rows = " 64  0  100  1.00  10.00  0.1\n 64  1  100  1.00  11.00  0.1\n 128  0  100  1 2 0.1\n"
    text = written("Send BW Test", "").replace(RATES, heads + rows)
    found = [(c.settings, c.message_bytes, c.launch) for c in cells(read(text))]
    assert found == [("sl=0", 64, 0), ("sl=0", 128, 0), ("sl=1", 64, 0)]


def test_a_mean_alone() -> None:
    """With -D there is neither a median nor a peak."""
    text = written("RDMA_Write Latency Test", " 2       5000            1.50\n")
    text = text.replace(TIMES, " #bytes        #iterations       t_avg[usec]  \t\n")
    (cell,) = cells(read(text))
    assert cell.latency_s == pytest.approx(1.5e-6)
    assert cell.statistic == "mean over repetitions"


def test_memory_of_a_device() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    text = written("Send BW Test", row)
    on_device = text.replace(RATES, f"allocated 131072 bytes of GPU buffer at 0x7f\n{RATES}")
    assert [cell.memory for cell in cells(read(on_device + text))] == ["device", "host"]


@pytest.mark.parametrize(
    ("type_", "memory"),
    [("DEVICE", "device"), ("MANAGED", "managed"), ("HOSTALLOC", "pinned"), ("MALLOC", "host")],
)
def test_memory_of_a_cuda_type(type_: str, memory: str) -> None:
    lines = (
        "initializing CUDA\n"
        f"allocated GPU buffer of a 131072 address at 0x7f for type CUDA_MEM_{type_}\n"
    )
    text = written("Send BW Test", " 64   100   10.00   10.00   0.163840\n")
    (cell,) = cells(read(text.replace(RATES, lines + RATES)))
    assert cell.memory == memory


def test_a_table_without_its_title_takes_the_command_before_it() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    (cell,) = cells(read(f"$ ib_read_bw -s 64 10.0.0.1\n{RATES}{row}"))
    assert cell.benchmark == "ib_read_bw"
    (unread,) = read(f"{RATES}{row}").unread
    assert unread.why == "the title of the test above this table is missing"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (" 64   100   10.00   10.00\n", "it has 4 of 5 columns"),
        (" 64   100   10.00   10.00   0.1   7\n", "it has 6 of 5 columns"),
        (" 64   100   10.00   -nan   0.1\n", "-nan is not a number (BW average[MB/sec])"),
        (" 64   100   10.00   0.00   0.1\n", "it has no time or rate above zero"),
        (" 6.4   100   10.00   1.00   0.1\n", "it has no whole number of bytes"),
    ],
)
def test_rows_that_are_none_are_named(row: str, why: str) -> None:
    reading = read(written("Send BW Test", row))
    assert [(u.text, u.why) for u in reading.unread] == [(row.strip(), why)]
    assert reading.rows == 0


def test_columns_of_a_bandwidth_are_of_all_messages_under_way() -> None:
    """4 messages of 1000 bytes: at 2 * 2^20 bytes per second they take 4000 / 2^21 s."""
    row = " 1000   70   4.00   2.00   0.25\n"
    (cell,) = cells(read(written("Send BW Test", row, depth=4)))
    assert (cell.time_p50_s, cell.time_mean_s) == pytest.approx((4000 / 2**21, 4000 / 2**21))
    assert cell.time_best_s == pytest.approx(4000 / 2**22)
    assert (cell.moved_bytes, cell.messages, cell.inflight, cell.calls) == (4000, 4, 4, 70)
    assert (cell.printed_mb_per_s, cell.printed_msg_per_s) == (2.0, 250000.0)
    assert (cell.benchmark, cell.statistic) == ("ib_send_bw", "mean over repetitions")


@pytest.mark.parametrize(
    ("title", "side", "messages"),
    [
        ("Send BW Test", "", 4),
        ("Send Bidirectional BW Test", "", 8),
        ("Send Bidirectional BW Test", " Local results: \n", 4),
    ],
)
def test_both_directions_count_unless_a_table_is_of_one_side(
    title: str, side: str, messages: int
) -> None:
    text = written(title, " 1000   70   4.00   2.00   0.25\n", depth=4)
    (cell,) = cells(read(text.replace(RATES, side + RATES)))
    assert (cell.moved_bytes, cell.messages) == (1000 * messages, messages)
    assert cell.bandwidth_bytes_per_s == pytest.approx(2 * MEBI)


def test_a_latency_is_of_one_message_whatever_the_depth() -> None:
    row = " 16   300   1.00   9.00   2.00   3.00\n"
    halved, whole = cells(
        read(
            "".join(
                written(f"{verb} Latency Test", row) for verb in ("Send", "Atomic CMP_AND_SWAP")
            )
        )
    )
    times = [(c.time_best_s, c.time_worst_s, c.time_p50_s, c.time_mean_s) for c in (halved, whole)]
    assert times[0] == pytest.approx((2e-6, 18e-6, 4e-6, 6e-6))
    assert times[1] == pytest.approx((1e-6, 9e-6, 2e-6, 3e-6))
    for cell in (halved, whole):
        assert (cell.inflight, cell.messages, cell.moved_bytes, cell.calls) == (1, 1, 16, 300)
    assert (whole.benchmark, whole.settings) == ("ib_atomic_lat", "cmp and swap")


@pytest.mark.parametrize(
    ("depth", "messages"),
    [("1", 1), ("0", 1), ("2", 2), ("999999999", 999999999), ("1000000000", 1), ("none", 1)],
)
def test_depths_that_cannot_be_are_one(depth: str, messages: int) -> None:
    text = written("Send BW Test", " 64   100   10.00   10.00   0.163840\n", depth=7)
    (cell,) = cells(read(text.replace("TX depth        : 7", f"TX depth        : {depth}")))
    assert (cell.inflight, cell.messages) == (messages, messages)


@pytest.mark.parametrize(
    ("fact", "settings", "arm", "memory"),
    [
        ("Using SRQ      : ON", "srq=ON", "", "host"),
        ("Dual-port      : ON", "dual-port=ON", "", "host"),
        ("Post List      : 8", "post-list=8", "", "host"),
        ("Post List      : 1", "", "", "host"),
        ("CQ Moderation  : 100", "", "cq-moderation=100", "host"),
        ("Outstand reads : 16", "", "outstanding-reads=16", "host"),
        ("Max inline data : 0[B]", "", "", "host"),
        ("Max inline data : 236[B]", "", "inline=236", "host"),
        ("GID index      : 3", "", "gid=3", "host"),
        ("PCIe relax order: OFF", "", "relaxed-order=OFF", "host"),
        ("PCIe relax order: ON", "", "", "host"),
        ("ibv_wr* API    : OFF", "", "ibv_wr=OFF", "host"),
        ("rdma_cm QPs    : ON", "", "rdma_cm=ON", "host"),
        ("rdma_cm QPs    : OFF", "", "", "host"),
        ("Use CUDA memory : ON", "", "", "device"),
        ("Use ROCm memory : ON", "", "", "device"),
        ("Use CUDA memory : OFF", "", "", "host"),
    ],
)
def test_facts_above_a_table(fact: str, settings: str, arm: str, memory: str) -> None:
    row = f" RDMA_Write BW Test\n {fact}\n{RATES} 64   100   10.00   10.00   0.163840\n"
    (cell,) = cells(read(row))
    assert (cell.settings, cell.arm, cell.memory) == (settings, arm, memory)


@pytest.mark.parametrize(
    ("factor", "fits"), [(1.19, True), (1.21, False), (0.81, True), (0.79, False)]
)
def test_the_unit_of_json_fits_the_message_rate_within_a_fifth(factor: float, fits: bool) -> None:
    rate = factor * 100 * MEBI / 4096 / 1e6
    text = (
        '{"test_info": {"test": "RDMA_Read_BW_Test"}, "results": {"MsgSize": 4096,'
        f' "n_iterations": 10, "BW_average": 100.0, "MsgRate": {rate}}}}}'
    )
    assert [c.printed_mb_per_s for c in cells(read(text))] == [100.0] * fits
    assert len(read(text).unread) == (not fits)


def test_what_stands_below_the_rule_is_no_wrong_row() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    reading = read(written("Send BW Test", row) + "2 hosts are done\n" + row.replace("64", "128"))
    assert [cell.message_bytes for cell in cells(reading)] == [64, 128]
    assert reading.unread == ()


def test_a_command_below_a_table_begins_a_test() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    text = written("Send BW Test", row, qps=4) + f"$ ib_read_bw -s 64 host\n{RATES}{row}"
    assert [(c.benchmark, c.settings) for c in cells(read(text))] == [
        ("ib_send_bw", "qps=4"), ("ib_read_bw", ""),
    ]  # fmt: skip


def test_tests_with_other_memory_are_no_launches_of_each_other() -> None:
    row = " 64   100   10.00   10.00   0.163840\n"
    text = written("Send BW Test", row)
    on_device = text.replace(RATES, f"allocated 131072 bytes of GPU buffer at 0x7f\n{RATES}")
    assert [(c.launch, c.memory) for c in cells(read(on_device + text + text))] == [
        (0, "device"), (0, "host"), (1, "host"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "factor"), [("MB/sec", MEBI), ("MiB/sec", MEBI), ("Gb/sec", 1e9 / 8)]
)
def test_units_of_a_bandwidth(unit: str, factor: float) -> None:
    text = written("Send BW Test", " 64   100   4.00   2.00   0.1\n").replace("MB/sec", unit)
    (cell,) = cells(read(text))
    assert cell.bandwidth_bytes_per_s == pytest.approx(2 * factor)
    assert cell.time_p50_s == pytest.approx(2 * cell.time_best_s)


def test_lines_that_begin_with_a_number_are_rows_only_below_a_head() -> None:
    table = written("Send BW Test", " 64   100   10.00   10.00   0.1\n")
    text = "8 hosts are there\n" + table.replace(RATES, f"2 queues\n{RATES}{RATES}")
    reading = read(text + text)
    assert [(c.launch, c.message_bytes) for c in cells(reading)] == [(0, 64), (1, 64)]
    assert reading.unread == ()
