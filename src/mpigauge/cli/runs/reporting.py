# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shared by plot and report: the runs that are shown, and the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mpigauge.cli.output import screen, write
from mpigauge.cli.runs.comparing import names_of
from mpigauge.draw.chart import PAPER_LAYOUTS, alone
from mpigauge.draw.terminal import lines
from mpigauge.draw.write import KINDS, draw
from mpigauge.model.errors import RunError, UserError
from mpigauge.result.large_map import DETAILED_ROWS
from mpigauge.result.library.large import is_large, load_large
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.runs.store.files import failing_as, whole
from mpigauge.runs.store.imported import REFERENCE
from mpigauge.session.limiting import with_limits
from mpigauge.session.run_names import find_run, open_large_map, open_run
from mpigauge.show.heading import which_run
from mpigauge.show.web.page import plot_page

_MOST_IN_FOOT = 6

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.draw.plot import Picture
    from mpigauge.runs.store import Run


def shown_of(words: Sequence[str], limits_of: str | None = None) -> RunResults:
    """The runs that are named, with names that tell them apart; the first with the limits of its
    node."""
    from dataclasses import replace

    opened = [_opened(word) for word in words]
    runs = [run for run, _ in opened]
    names = names_of(runs) if len(runs) > 1 else [runs[0].path.name]
    first, *others = (result_of(name) for name, (_, result_of) in zip(names, opened, strict=True))
    document = with_limits(first.document, first.run, limits_of)
    return RunResults([replace(first, document=document), *others])


def _opened(word: str) -> tuple[Run, Callable[[str], RunResult]]:
    """The run, of which only a part is examined closely where it is very large, and its result by
    the name that it gets."""
    from functools import partial

    if of_pairs := open_large_map(word, DETAILED_ROWS):
        return of_pairs.run, partial(RunResult.of_map, run=of_pairs.run, document=of_pairs.document)
    path = None if word.startswith(REFERENCE) else find_run(word)
    if path is None or not is_large(path):
        run = open_run(word)
        return run, partial(RunResult.of, run=run)
    large = load_large(path)
    return large.run, partial(RunResult.of, run=large.run, of_large=large.members)


def print_picture(kind: str, picture: Picture) -> None:
    """Prints a picture in characters. UserError: this kind has no such form; it says which it
    has."""
    printed = lines(picture, screen())
    if printed is None:
        raise UserError(f"{kind} cannot be shown in a terminal; write it with -o FILE.svg")
    write("\n".join([*printed, ""]))


def write_picture(
    picture: Picture, file: Path, shown: Sequence[RunResult] = (), paper_columns: int | None = None
) -> None:
    """Writes a picture in the form that the file's name ends with. Below it stands of which runs it
    is; `paper_columns`: of a paper, that it is to fill."""
    if file.suffix in KINDS:
        foot = [line for each in shown[:_MOST_IN_FOOT] for line in _of_run(each, len(shown) > 1)]
        foot = list(dict.fromkeys(foot))
        draw(alone(picture, foot, PAPER_LAYOUTS[paper_columns] if paper_columns else None), file)
    else:
        write_page(plot_page(picture), file)


def _of_run(shown: RunResult, several: bool) -> list[str]:
    """Machine, MPI, date and version; the command that measured it."""
    heading = " · ".join(which_run(shown.document.facts))
    if several:
        heading = f"{shown.name}: {heading}"
    return [line for line in (heading, shown.command) if line]


def write_page(text: str, file: Path) -> None:
    """Writes a page as a whole, or not at all."""
    with failing_as(RunError, file), whole(file) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
