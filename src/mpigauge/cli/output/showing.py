# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.output import screen, tell, write
from mpigauge.model.errors import UserError
from mpigauge.model.typed import as_word

if TYPE_CHECKING:
    from mpigauge.result.document import Document
    from mpigauge.runs.store import Run

_OF_ROWS = ("csv", "imb")
"""Formats that print nothing of a run without rows."""


def show_run(
    word: str, form: str | None, limits_of: str | None = None, whole: bool = False
) -> None:
    """Prints the run that a word names; of a large map without a row for each pair. Without a form
    a map is printed as such, and any other run as tables."""
    from mpigauge.result.pairs import is_map
    from mpigauge.session.run_names import open_large_map, open_run
    from mpigauge.show.formats import FORMATS

    large = open_large_map(word) if form is None or FORMATS[form].only_pairs else None
    if large is not None:
        _print(large.document, large.run, form or "map", limits_of, whole, as_word(word))
        return
    stored = open_run(word)
    usual = "map" if stored.cells and is_map(stored.plan) else "table"
    check_rows(stored, form or usual)
    show(stored, form or usual, limits_of, whole, as_word(word))


def show_remarks(word: str, whole: bool = False) -> None:
    """Prints the remarks on the run that a word names. `whole`: with all that headings leave
    out."""
    from dataclasses import replace

    from mpigauge.result.document import document
    from mpigauge.session.run_names import open_large_map, open_run
    from mpigauge.show.formats.table import remarks

    large = open_large_map(word)
    if large is not None:
        shown = large.document
    else:
        stored = open_run(word)
        shown = document(stored, stored.plan.get("precision"))
    write(remarks(replace(shown, whole=whole), screen()))


def check_rows(stored: Run, form: str) -> None:
    """UserError: the run holds figures alone, of which the format prints nothing."""
    if form in _OF_ROWS and not (stored.cells or stored.skips) and stored.has_numbers:
        raise UserError(
            f"--format {form} prints rows, and {stored.path} holds figures alone; take table, "
            f"markdown or latex, or `mpigauge export csv {as_word(stored.path)} --table figures`"
        )


def show(
    stored: Run,
    form: str,
    limits_of: str | None = None,
    whole: bool = False,
    word: str = "",
) -> None:
    """`whole`: with all that headings leave out; `word`: the run in recommended commands."""
    from mpigauge.result.document import document

    computed = document(stored, stored.plan.get("precision"))
    _print(computed, stored, form, limits_of, whole, word)


def print_run(stored: Run, form: str) -> None:
    """Prints the place of a run, and then the run, which ends with its answer."""
    tell(f"stored in {stored.path}")
    if stored.part:
        show_run(str(stored.path), form)
    else:
        show(stored, form, word=word_of(stored))


def word_of(stored: Run) -> str:
    """The word for a run that was just measured: `last` for somebody who reads it now, and the
    name of the run in a log."""
    from mpigauge.runs.store.writer import DEFAULT_ROOT, word_for

    if screen().live and stored.path.parent == DEFAULT_ROOT:
        return "last"
    return word_for(stored.path)


def _print(
    computed: Document, stored: Run, form: str, limits_of: str | None, whole: bool, word: str
) -> None:
    from dataclasses import replace

    from mpigauge.session.limiting import with_limits
    from mpigauge.show.formats import render

    shown = with_limits(computed, stored, limits_of)
    shown = replace(shown, whole=whole, run=word or computed.run)
    write(render(form, shown, screen()))
