# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What plot and report share: the runs that are shown, and what is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.report.kinds import Shown
    from mpigauge.report.plot import Picture


def shown_of(words: Sequence[str]) -> list[Shown]:
    """The runs that are named, with names that tell them apart."""
    from mpigauge.cli.comparing import names_of
    from mpigauge.cli.showing import open_run
    from mpigauge.report.kinds import Shown

    runs = [open_run(word) for word in words]
    names = names_of(runs) if len(runs) > 1 else [runs[0].path.name]
    return [Shown.of(name, run) for name, run in zip(names, runs, strict=True)]


def print_picture(kind: str, picture: Picture) -> None:
    """In characters. UserError: this kind has no such form; it says which it has."""
    from mpigauge.cli.screen import screen, write
    from mpigauge.model.errors import UserError
    from mpigauge.report.terminal import lines

    found = lines(picture, screen())
    if found is None:
        raise UserError(f"{kind} cannot be shown in a terminal; write it with -o FILE.svg")
    write("\n".join([*found, ""]))


def write_picture(picture: Picture, file: Path) -> None:
    """In the form that the file's name ends with."""
    from mpigauge.report.draw import KINDS, draw
    from mpigauge.report.web.page import plot_page

    if file.suffix in KINDS:
        draw(picture.svg, file)
    else:
        write_page(plot_page(picture), file)


def write_page(text: str, file: Path) -> None:
    """As a whole, or not at all."""
    from mpigauge.model.errors import RunError
    from mpigauge.store.files import failing_as, whole

    with failing_as(RunError, file), whole(file) as part:
        part.write_text(text, encoding="utf-8")
