# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""nccl-tests: its text in the forms that versions and options print, and its JSON."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.record import encode, parse
from mpigauge.runs.readers import READERS, Text, sniff

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"
DEVICES = "".join(
    f"#  Rank  {rank} Group  0 Pid 4{rank} on node017 device  {rank} [0000:{rank}9:00] NVIDIA A40\n"
    for rank in range(4)
)
WITHOUT_GROUP = DEVICES.replace(" Group  0", "")
NEW = "size count type redop root"
HALF = "time algbw busbw #wrong"


def read(text: str | bytes, **given: Any) -> Reading:
    raw = text.encode() if isinstance(text, str) else text
    return READERS["nccl_tests"].read(Text(raw, **given))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def table(program: str, *rows: str, head: str = f"{NEW} {HALF} {HALF}", devices: str = DEVICES,
          more: str = "") -> str:  # fmt: skip
    config = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 20"
    start = f"# Collective test starting: {program}_perf\n{config}\n{more}#\n# Using devices\n"
    return f"{start}{devices}#\n#  {head}\n#  (B) (elements)\n" + "".join(f"{r}\n" for r in rows)


# --- text ----------------------------------------------------------------------------------------
def test_the_recorded_text() -> None:
    reading = read((PRINTED / "nccl-tests.txt").read_bytes())
    places = ("out-of-place NCCL_ALGO=Ring", "in-place NCCL_ALGO=Ring")
    sizes = [(place, size) for place in places for size in (8, 1024, 134217728)]
    assert [(c.arm, c.message_bytes) for c in cells(reading)[:6]] == sizes
    times = [c.time_p50_s for c in cells(reading)[:3]]
    assert times == pytest.approx([17.3e-6, 18.1e-6, 4.801e-3])
    first, last = cells(reading)[0], cells(reading)[-1]
    assert (first.suite, first.ranks, first.memory, first.completion, first.check) == (
        "NCCL", 4, "device", "end", "exact"
    )  # fmt: skip
    assert (last.benchmark, last.arm, last.completion, last.check) == (
        "AllGather", "in-place", "each", "none"
    )  # fmt: skip
    assert (last.message_bytes, last.op, last.datatype) == (524288, "", "float")
    assert last.printed_mb_per_s == pytest.approx(21420)
    assert {(c.source, c.calls) for c in cells(reading)} == {
        ("nccl-tests 2.19.6 with NCCL 2.30.7", 20)
    }
    assert (reading.unread, reading.remarks) == ((), ())
    assert {launch.world_ranks for launch in reading.launches} == {4}


@pytest.mark.parametrize(
    ("program", "name", "part"),
    [
        ("all_reduce", "AllReduce", 1), ("broadcast", "Broadcast", 1), ("reduce", "Reduce", 1),
        ("sendrecv", "SendRecv", 1), ("all_gather", "AllGather", 4), ("alltoall", "AlltoAll", 4),
        ("reduce_scatter", "ReduceScatter", 4), ("gather", "Gather", 4),
    ],
)  # fmt: skip
def test_sizes_are_those_of_one_rank(program: str, name: str, part: int) -> None:
    row = f"4096 {4096 // part // 2} half none -1 9.0 0.4 0.3 0 8.0 0.5 0.4 N/A"
    first, second = cells(read(table(program, row)))
    assert (first.benchmark, first.message_bytes) == (name, 4096 // part)
    assert (first.check, second.check, first.datatype) == ("exact", "none", "float16")


OLD = {
    "no redop": ("size count type root", "8 2 float 0"),
    "no root": ("size count type redop", "8 2 float sum"),
    "neither": ("size count type", "8 2 uint8"),
}


@pytest.mark.parametrize("name", OLD)
def test_older_forms(name: str) -> None:
    """The column `error`, no group, no version, no start; the command names the test."""
    head, row = OLD[name]
    half = HALF.replace("#wrong", "error")
    text = table("sendrecv", f"{row} 45.82 0.00 0.00 0e+00 38.17 0.00 0.00 3e+02",
                 head=f"{head} {half} {half}", devices=WITHOUT_GROUP)  # fmt: skip
    text = "$ mpirun -np 4 ./build/sendrecv_perf -b 8\n" + text.partition("\n")[2]
    first, second = cells(read(text))
    assert (first.benchmark, first.ranks, first.wrong_count, first.check) == (
        "SendRecv", 4, 0, "exact"
    )  # fmt: skip
    assert (second.arm, second.wrong_count) == ("in-place", 1)


@pytest.mark.parametrize(
    ("type_", "error", "wrong"),
    [("float", "1e-06", 0), ("float", "1e-04", 1), ("half", "1e-03", 0), ("int32", "1e+00", 1)],
)
def test_an_error_of_a_sum_has_a_bound(type_: str, error: str, wrong: int) -> None:
    half = HALF.replace("#wrong", "error")
    text = table("all_reduce", f"8 2 {type_} sum -1 4.0 0.1 0.1 {error} 4.0 0.1 0.1 N/A",
                 head=f"{NEW} {half} {half}")  # fmt: skip
    assert [c.wrong_count for c in cells(read(text))] == [wrong, 0]


def test_times_of_each_iteration() -> None:
    half = f"{HALF} i_min i_max i_p99 i_cv%"
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 12.0 11.5 4.2 8.0 0.1 0.1 0 7.0 10.0 9.5 3.1"
    reading = read(table("all_reduce", row, head=f"{NEW} {half} {half}"))
    first = cells(reading)[0]
    times = first.time_mean_s, first.time_best_s, first.time_worst_s, first.time_p99_s
    assert times == pytest.approx((9e-6, 8e-6, 12e-6, 11.5e-6))
    assert [each.text for each in reading.unread] == ["i_cv%"]


def test_a_time_stamp_is_left_out() -> None:
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0   2026-08-03 10:21:07"
    reading = read(table("all_reduce", row, head=f"{NEW} {HALF} {HALF} timestamp"))
    assert [c.time_p50_s for c in cells(reading)] == pytest.approx([9e-6, 8e-6])
    assert reading.unread == ()


def test_times_of_the_cpu_are_of_something_else() -> None:
    half = HALF.replace("time", "cputime")
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0"
    reading = read(table("all_reduce", row, head=f"{NEW} {half} {half}"))
    assert {c.settings for c in cells(reading)} == {"timed=cpu"}


def test_a_replay_has_in_place_only() -> None:
    reading = read(table("all_reduce", "8 2 float sum -1    8.0 0.1 0.1 0"))
    assert [c.arm for c in cells(reading)] == ["in-place"]


@pytest.mark.parametrize("fact", ["agg iters: 4", "graph: 2", "unalign: 1"])
def test_facts_that_change_the_call_are_settings(fact: str) -> None:
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0"
    text = table("all_reduce", row).replace("iters: 20", f"iters: 20 {fact}")
    assert all(c.settings for c in cells(read(text)))
    assert {c.calls for c in cells(read(text))} == {20}


def test_types_operations_and_roots_have_tables_of_their_own() -> None:
    rows = [f"8 2 {type_} {op} {root} 9.0 0.1 0.1 0 8.0 0.1 0.1 0"
            for type_, op, root in (("float", "sum", 0), ("int8", "sum", 0), ("float", "max", 0),
                                    ("float", "sum", 2))]  # fmt: skip
    reading = read(table("reduce", *rows))
    assert len({c.key for c in cells(reading)}) == 8
    assert {c.settings for c in cells(reading)} == {"", "root=2"}
    assert {c.launch for c in cells(reading)} == {0}


def test_the_same_test_again_is_a_launch() -> None:
    text = table("all_reduce", "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0")
    assert [c.launch for c in cells(read(text + text))] == [0, 0, 1, 1]


def test_groups_of_ranks() -> None:
    devices = "".join(line.replace("Group  0", f"Group  {n % 2}")
                      for n, line in enumerate(DEVICES.splitlines(keepends=True)))  # fmt: skip
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0"
    first = cells(read(table("all_reduce", row, devices=devices)))[0]
    assert (first.ranks, first.groups) == (2, 2)


def test_ranks_that_the_text_does_not_name() -> None:
    text = table("all_reduce", "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0", devices="")
    (remark,) = read(text).remarks
    assert "--ranks" in remark
    reading = read(text, ranks=8)
    assert ({c.ranks for c in cells(reading)}, reading.remarks) == ({8}, ())


def test_a_table_without_the_name_of_its_test() -> None:
    head = f"# {NEW} {HALF} {HALF}\n"
    text = f"{DEVICES}{head}8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0\n"
    reading = read(text)
    assert reading.rows == 0
    assert ["--benchmark" in each.why for each in reading.unread] == [True]
    assert {c.benchmark for c in cells(read(text, benchmark="Allgather"))} == {"AllGather"}


@pytest.mark.parametrize("word", ["nan", "inf", "-1", "**"])
def test_half_a_row_without_a_number_leaves_the_other(word: str) -> None:
    reading = read(table("all_reduce", f"8 2 float sum -1 {word} 0.1 0.1 0 8.0 0.1 0.1 0"))
    assert [c.arm for c in cells(reading)] == ["in-place"]
    assert [word in each.why for each in reading.unread] == [True]


def test_what_failed_is_a_remark() -> None:
    text = table("all_reduce", "8 2 float sum -1 9.0 0.1 0.1 2 8.0 0.1 0.1 0")
    text += "# Out of bounds values : 1 FAILED\nnode: Test NCCL failure common.cu:958 'timeout'\n"
    reading = read(text)
    assert [c.wrong_count for c in cells(reading)] == [2, 0]
    assert ["Out of bounds" in r or "failure" in r for r in reading.remarks] == [True, True]


# --- JSON ----------------------------------------------------------------------------------------
JSON = (PRINTED / "nccl-tests.json").read_text(encoding="utf-8")


def test_the_recorded_json() -> None:
    assert [each.name for each in sniff(Text(JSON.encode()))] == ["nccl_tests"]
    reading = read(JSON)
    first, _, third, _ = cells(reading)
    assert (first.benchmark, first.ranks, first.message_bytes, first.check) == (
        "ReduceScatter", 4, 262144, "exact"
    )  # fmt: skip
    assert (first.arm, third.arm, third.check) == (
        "out-of-place NCCL_PROTO=Simple", "in-place NCCL_PROTO=Simple", "none"
    )  # fmt: skip
    assert (first.completion, first.statistic) == ("end", "median over repetitions, slowest rank")
    assert (first.time_mean_s, first.time_p50_s) == pytest.approx((41.5e-6, 41.5e-6))
    assert first.time_worst_s == pytest.approx(42.33e-6)
    assert [launch.time for launch in reading.launches] == ["2026-08-03T10:21:07"]
    assert (reading.unread, reading.remarks) == ((), ())


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("sort_keys", [False, True])
def test_json_in_any_form(indent: int | None, sort_keys: bool) -> None:
    text = json.dumps(json.loads(JSON), indent=indent, sort_keys=sort_keys)
    assert [vars(c) for c in cells(read(text))] == [vars(c) for c in cells(read(JSON))]


def test_several_documents_are_launches() -> None:
    assert [c.launch for c in cells(read(f"{JSON}\n{JSON}"))] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_file_that_is_cut_short_keeps_its_whole_results() -> None:
    end = JSON.rindex('"in_place"')
    reading = read(JSON[:end])
    assert [c.message_bytes for c in cells(reading)] == [262144, 262144]
    assert [each.why for each in reading.unread] == ["its JSON is cut off or damaged"]


@pytest.mark.parametrize(
    ("key", "value", "completion", "settings"),
    [
        ("blocking_collectives", "true", "each", ""),
        ("blocking_collectives", 2, "each", ""),
        ("graph", 3, "end", "graph=3"),
        ("aggregated_iterations", 4, "end", "aggregated=4"),
    ],
)
def test_facts_of_the_configuration(
    key: str, value: object, completion: str, settings: str
) -> None:
    document = json.loads(JSON)
    document["config"][key] = value
    found = {(c.completion, c.settings) for c in cells(read(json.dumps(document)))}
    assert found == {(completion, settings)}


@pytest.mark.parametrize("value", [None, "nan", [], {}, -3, "many"])
@pytest.mark.parametrize("key", ["size", "count", "out_of_place", "type"])
def test_no_value_of_a_wrong_type_stops_it(key: str, value: object) -> None:
    document = json.loads(JSON)
    document["results"][0][key] = value
    assert 2 <= read(json.dumps(document)).rows <= 4


def test_no_damage_stops_it() -> None:
    chance = random.Random("nccl")
    for _ in range(60):
        text = bytearray(JSON.encode())
        for _ in range(3):
            at, length = chance.randrange(len(text)), chance.randint(1, 60)
            text[at : at + length] = chance.choice([b"", b"\n", b"7", text[at : at + length] * 2])
        reading = read(bytes(text))
        assert all(parse(encode(record)) for record in reading.records())


# --- ranks that share a GPU ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("devices", "sharing"),
    [
        (DEVICES, ""),
        (DEVICES.replace("0000:19", "0000:09"), "shared"),
        (DEVICES.replace("0000:19", "0000:09").replace("node017", "node018", 1), ""),
        (WITHOUT_GROUP.replace("0000:09:00", "0x00").replace("0000:19:00", "0x00"), ""),
    ],
)
def test_sharing_is_read_from_the_bus_addresses(devices: str, sharing: str) -> None:
    row = "8 2 float sum -1 9.0 0.1 0.1 0 8.0 0.1 0.1 0"
    reading = read(table("all_reduce", row, devices=devices))
    assert {c.sharing for c in cells(reading)} == {sharing}


def test_sharing_is_read_from_json() -> None:
    document = json.loads(JSON)
    document["config"]["devices"][1]["device_hex"] = document["config"]["devices"][0]["device_hex"]
    assert {c.sharing for c in cells(read(json.dumps(document)))} == {"shared"}
