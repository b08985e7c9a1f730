# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What gets out to a terminal: text and our own colours, no orders."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.cli.output.streams import FilteredStream
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.terminal import heat, styles
from mpigauge.model.screen import Screen, without_orders

ORDERS = {
    "clear the screen": "\x1b[2J",
    "move the cursor": "\x1b[1A",
    "the title of the window": "\x1b]0;evil\x07",
    "a link": "\x1b]8;;http://evil\x1b\\",
    "the answer back": "\x05",
    "conceal": "\x1b[8m",
    "eight bits": "\x9b2J",
    "begin the line again": "harmless\revil",
    "a backspace": "x\x08y",
    "right to left": "\u202e",
    "another line": "\u2028",
}


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("coloured", [False, True])
def test_orders_stay_inside(kind: str, coloured: bool) -> None:
    got = without_orders(f"before {ORDERS[kind]} after", coloured)
    assert got.startswith("before ")
    assert got.endswith(" after")
    assert "\ufffd" in got
    assert not set(got) & set("\x1b\x07\x05\x9b\r\x08\u202e\u2028")


def test_text_stays_as_it_is() -> None:
    text = "µs ±1 %\tα\r\n ½ \u00a0 日本 é\n"
    assert without_orders(text) == text
    assert without_orders(text, coloured=True) == text


@pytest.mark.parametrize("colours", [16, 256, 1 << 24])
def test_our_colours_get_out_where_they_are_wanted(colours: int) -> None:
    screen = Screen(colours=colours, live=True)
    scale = ColourScale(1.0, 10.0)
    text = (
        styles.paint("a", 1, screen)
        + styles.paint("b", styles.DIM, screen)
        + "\x1b[1m\x1b[31mc\x1b[0m"
    )
    text += heat.on("d", 3.0, scale, screen)
    assert without_orders(text, coloured=True) == text
    assert "\x1b" not in without_orders(text)


def test_the_gate_is_what_is_printed_through(tmp_path: Path) -> None:
    with (
        (tmp_path / "out").open("wb") as file,
        FilteredStream(file, "utf-8", "backslashreplace") as stream,
    ):
        assert stream.write("a\x1b[2Jb\udcff\n") == 8
    assert (tmp_path / "out").read_bytes() == "a\ufffd[2Jb\\udcff\n".encode()
