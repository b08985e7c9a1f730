# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The profiler's table of calls is what the standard and our notes on it say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.loaded_tools import load_tool

ROOT = Path(__file__).resolve().parents[3]


mpi_calls = load_tool("mpi_calls")
TABLE = str(mpi_calls.table())


def line_of(call: str) -> str:
    return next(line for line in TABLE.splitlines() if line.startswith(f"MPIGAUGE_CALL({call},"))


def test_the_generated_table_is_current() -> None:
    assert (ROOT / mpi_calls.MADE).read_text(encoding="utf-8") == TABLE


def test_every_call_of_the_standard_is_wrapped_or_passed_for_a_reason() -> None:
    notes = mpi_calls.read_notes(ROOT / mpi_calls.NOTES)
    wrapped = set(re.findall(r"^MPIGAUGE_CALL\((\w+),", TABLE, re.MULTILINE))
    for call in mpi_calls.read_standard():
        converts = re.search(r"_(c2f|f2c|toint|fromint)$", call.name) is not None
        left = converts or call.base in notes.passed | notes.by_hand
        assert (call.name in wrapped) != left, call.name
    assert len(wrapped) > 600


def test_large_counts_are_read_as_such() -> None:
    assert ".wide = true" in line_of("Send_c")
    assert ".wide" not in line_of("Send")
    assert ".wide = true" in line_of("Alltoallv_init_c")


def test_nonblocking_and_persistent_forms_follow_the_blocking_one() -> None:
    blocking, other, persistent = map(line_of, ("Bcast", "Ibcast", "Bcast_init"))
    amount = ".sent = {.how = Count::value, .count = 1, .type = 2}, .root = 3"
    assert amount in blocking
    assert amount in other
    assert amount in persistent
    assert ".persistent = true" in persistent


def test_calls_that_take_a_request_by_its_value_begin_none() -> None:
    """What they take is no place to read a handle from."""
    by_value = [
        call.name
        for call in mpi_calls.read_standard()
        for parameter in call.parameters
        if parameter.type == "MPI_Request" and not parameter.is_array
    ]
    by_value = [name for name in by_value if f"CALL({name}," in TABLE]
    assert {"Pready", "Parrived", "Grequest_complete", "Request_get_status"} <= set(by_value)
    assert not [name for name in by_value if ".begins" in line_of(name)]


@pytest.mark.parametrize(
    ("call", "begins"),
    [
        *[(call, True) for call in ("Isend_c", "Imrecv", "Grequest_start", "Buffer_iflush")],
        *[(call, True) for call in ("Rput", "File_iread", "Comm_idup", "Psend_init")],
        *[(call, False) for call in ("Start", "Startall", "Test", "Cancel", "Request_free")],
    ],
)
def test_a_call_begins_a_request_if_it_gives_one_out(call: str, begins: bool) -> None:
    assert (".begins = true" in line_of(call)) is begins


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"Send", "Bsend"', '"Sent", "Bsend"', "the standard has no MPI_Sent"),
        ('sent = "count datatype"', 'sent = "counts datatype"', "has no counts, only"),
        ("persistent = true", "lasting = true", "a rule has no key lasting"),
        ('calls = ["Recv_init"]', 'calls = ["Send_init"]', "two rules for Send_init"),
        ("Address = 2", "Send = 2", "MPI_Send is not removed"),
        ('Op = "operation"', "", "no class for MPI_Op"),
    ],
)
def test_notes_that_fit_no_call_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    notes = (ROOT / mpi_calls.NOTES).read_text(encoding="utf-8")
    assert old in notes
    changed = tmp_path / "notes.toml"
    changed.write_text(notes.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SystemExit, match=said):
        mpi_calls.table(changed)
