# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.model.errors import UserError
from mpigauge.model.sizes import default_sizes, parse_bytes, parse_sizes, read_sizes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("0", [0]),
        ("8,0,8", [8, 0, 8]),
        ("1k,1K,1Ki,1KiB,2b", [1024, 1024, 1024, 1024, 2]),
        ("1M,1Mi,1G", [1 << 20, 1 << 20, 1 << 30]),
        ("0..8", [0, 1, 2, 4, 8]),
        ("0,1..8", [0, 1, 2, 4, 8]),
        ("3..20", [3, 6, 12, 20]),
        ("0..0", [0]),
        ("4..4", [4]),
        (" 1 , 2 ", [1, 2]),
    ],
)
def test_words_become_sizes(text: str, sizes: list[int]) -> None:
    assert parse_sizes(text) == sizes


def test_default_is_that_of_imb() -> None:
    assert default_sizes() == [0] + [1 << i for i in range(23)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "list of sizes is empty"),
        (",", "list of sizes is empty"),
        ("0,4Q", "'4Q' (word 2 of '0,4Q') is not a size"),
        ("1,,2", "'' (word 2 of '1,,2') is not a size"),
        ("-1", "'-1' (word 1 of '-1') is not a size"),
        ("8..4", "runs downwards"),
        ("1...4", "is not a size"),
        ("2T", "more than 1 TiB"),
        ("1e6", "is not a size"),
    ],
)
def test_wrong_words_are_named_with_their_place(text: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        parse_sizes(text)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@given(st.lists(st.integers(0, 1 << 40), min_size=1))
def test_lists_keep_order_and_repetitions(sizes: list[int]) -> None:
    assert parse_sizes(",".join(map(str, sizes))) == sizes


@given(st.integers(0, 1 << 30), st.integers(0, 1 << 30))
def test_ranges_double_and_hold_both_ends(a: int, b: int) -> None:
    low, high = sorted((a, b))
    sizes = parse_sizes(f"{low}..{high}")
    assert sizes[0] == low
    assert sizes[-1] == high
    pairs = pairwise(sizes[:-1])
    assert all(after == max(2 * before, 1) for before, after in pairs)


@given(st.text(max_size=12))
def test_any_text_gives_sizes_or_a_sentence(text: str) -> None:
    try:
        sizes = parse_sizes(text)
    except UserError:
        return
    assert all(size >= 0 for size in sizes)


def test_file_of_sizes(tmp_path: Path) -> None:
    path = tmp_path / "sizes"
    path.write_text("# mine\n0 1\n4Ki  # a page\n16..64,7\n", encoding="utf-8")
    assert read_sizes(path) == [0, 1, 4096, 16, 32, 64, 7]


@pytest.mark.parametrize(
    ("content", "says"),
    [("", "holds no sizes"), ("4\nx\n", "'x' (line 2 of"), (None, "cannot read the file of sizes")],
)
def test_wrong_file_of_sizes(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / "sizes"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_sizes(path)
    assert says in str(error.value)


def test_one_size() -> None:
    assert parse_bytes("64KiB") == 65536
