# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What tools/golden_cli.py finds between the texts of two checkouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.loaded_tools import load_tool

TOOL = Path(__file__).resolve().parents[3] / "tools" / "golden_cli.py"


golden_cli = load_tool("golden_cli")


def said(**parts: Any) -> dict[str, Any]:
    return {"show last": {"status": 0, "stdout": "a\nb\n", **parts}}


def test_nothing_is_named_where_all_is_as_it_was() -> None:
    assert golden_cli.compared(said(), said(), 40) == []


def test_lines_that_differ_stand_below_their_command_and_stream() -> None:
    found = golden_cli.compared(said(), said(stdout="a\nc\n"), 40)
    assert found == ["=== show last", "--- stdout", "-b", "+c"]


def test_a_file_that_only_one_writes_and_another_status_are_differences() -> None:
    found = golden_cli.compared(said(), said(status=2, **{"file a.svg": "<svg/>"}), 40)
    assert found == ["=== show last", "--- status", "-0", "+2", "--- file a.svg", "+<svg/>"]


def test_commands_of_one_checkout_alone_are_named() -> None:
    assert golden_cli.compared(said(), {}, 40) == ["=== only before: show last"]
    assert golden_cli.compared({}, said(), 40) == ["=== only after: show last"]


def test_a_long_difference_is_cut() -> None:
    long = "".join(f"{number}\n" for number in range(9))
    found = golden_cli.compared(said(stdout=""), said(stdout=long), 2)
    assert found[2:] == ["+0", "+1", "... and 7 lines more"]
