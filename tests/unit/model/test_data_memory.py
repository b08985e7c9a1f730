# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The one vocabulary for the memory of data, in new imports and in older ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.column_facts import heading_word, phrases, place, words_in_name
from mpigauge.model.data_memory import KINDS, is_on_gpu, of_sides, sides, translated
from mpigauge.model.record import CellRecord, Skip, decode, encode
from mpigauge.runs.store import load
from mpigauge.runs.store.files import SCHEMA
from tests.cells import cell

if TYPE_CHECKING:
    from pathlib import Path

OLD = {
    "cuda": "device", "rocm": "device", "gpu": "device", "shared": "managed", "cpu": "host",
    "managed-device": "managed", "managed-device>managed-host": "managed",
    "managed-host>host": "managed>host", "device>host": "device>host", "managed": "managed",
}  # fmt: skip


def line(memory: str, source: str) -> str:
    data: dict[str, Any] = json.loads(encode(CellRecord(cell(source=source))))
    return json.dumps(data | {"memory": memory})


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_words_of_older_imports_are_translated(old: str, new: str) -> None:
    assert translated(old) == new
    record = decode(line(old, "OSU 7.4"))
    assert isinstance(record, CellRecord)
    assert record.cell.memory == new
    skip = decode(json.dumps({
        "record": "skip", "launch": 0, "reason": "", "source": "OSU 7.4", "memory": old,
        "benchmark": "PingPong",
    }))  # fmt: skip
    assert isinstance(skip, Skip)
    assert skip.key["memory"] == new


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_the_vocabulary_stay(kind: str) -> None:
    assert translated(kind) == kind
    assert [translated(f"{kind}>{other}") for other in KINDS if other != kind] == [
        f"{kind}>{other}" for other in KINDS if other != kind
    ]


def test_nothing_of_mpigauge_is_translated() -> None:
    record = decode(line("a word of the future", ""))
    assert isinstance(record, CellRecord)
    assert record.cell.memory == "a word of the future"


def test_a_stored_run_has_the_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": SCHEMA, "imported": {}}))
    (tmp_path / "cards.json").write_text(json.dumps({"benchmarks": []}))
    lines = [line(memory, "perftest") for memory in ("gpu", "host")]
    (tmp_path / "records.jsonl").write_text("\n".join(lines) + "\n")
    assert [each.memory for each in load(tmp_path).cells] == ["device", "host"]


def test_two_sides() -> None:
    assert of_sides("device", "device") == "device"
    assert sides(of_sides("device", "host")) == ("device", "host")
    assert sides("pinned") == ("pinned", "pinned")
    found = [memory for memory in (*KINDS, "device>host", "host>managed") if is_on_gpu(memory)]
    assert found == ["device", "managed", "device>host", "host>managed"]


def test_words_for_people() -> None:
    assert heading_word("memory", "device>host") == "device>host memory"
    assert list(words_in_name({"memory": "pinned"})) == ["pinned memory"]
    assert list(words_in_name({"memory": "host"})) == []
    assert list(phrases(cell(memory="device"))) == ["in device memory"]
    order = sorted(["device>host", *reversed(KINDS)], key=lambda word: place("memory", word))
    assert order == [*KINDS, "device>host"]
