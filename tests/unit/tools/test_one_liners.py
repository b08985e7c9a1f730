# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines that install mpigauge, and the one place that says where from."""

from __future__ import annotations

import pytest

from tools import one_liners


def test_pages_show_the_lines() -> None:
    assert one_liners.main(["--check"]) == 0, "run: python tools/one_liners.py"


@pytest.mark.parametrize(
    ("uploaded", "expected"),
    [
        (True, ["pipx install mpigauge", "uv tool install mpigauge", "uvx mpigauge quick"]),
        (
            False,
            [
                f"pipx install {one_liners.FILE}",
                f"uv tool install {one_liners.FILE}",
                f"uvx --from {one_liners.FILE} mpigauge quick",
            ],
        ),
    ],
)
def test_one_place_switches_all_pages(
    uploaded: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_liners, "UPLOADED", uploaded)
    for page in one_liners.PAGES:
        written = one_liners.written(one_liners.text_of(page))
        assert "\n```\n" + "\n".join(expected) + "\n```\n" in written
        assert written.count("uv tool install") == 1


def test_a_page_without_a_block_for_them_is_refused() -> None:
    with pytest.raises(ValueError, match="0 blocks"):
        one_liners.written("# A page\n\n```\npipx install mpigauge\n```\n")
