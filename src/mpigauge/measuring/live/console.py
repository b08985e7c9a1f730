# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""rich's console with mpigauge's own colour rules, which rich supports only in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TextIO

from rich.console import Console

from mpigauge.model.screen import TRUE_COLOURS

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen

_SYSTEMS: dict[int, Literal["standard", "256", "truecolor"]] = {
    16: "standard", 256: "256", TRUE_COLOURS: "truecolor",
}  # fmt: skip


def console_of(screen: Screen, file: TextIO | None = None) -> Console:
    """A console for this screen; a live one follows the size of the terminal."""
    return Console(
        file=file,
        width=None if screen.live else screen.width,
        force_terminal=screen.live or screen.coloured,
        color_system=_SYSTEMS.get(screen.colours),
        no_color=not screen.coloured,
        highlight=False,
    )
