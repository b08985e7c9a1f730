# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several files at once: launches of one thing, or things that are kept apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from mpigauge.runs.readers.reading import Reading

Named = tuple[str, "Reading"]
"""The name of a file, and what is in it."""
FACTS = ("mpi_library", "mpi_standard", "thread_level")
"""The facts that launches of one thing have in common."""


def remarks(files: Sequence[Named]) -> Iterator[str]:
    """The assumptions about files that hold the same rows.

    UserError: they say of themselves that they are not of one thing.
    """
    seen: dict[Hashable, int] = {}
    alike: set[int] = set()
    for number, (_, reading) in enumerate(files):
        firsts = {seen.setdefault(row, number) for row in _rows(reading)} - {number}
        for first in sorted(firsts):
            _refuse_unlike(files[first], files[number])
            alike |= {first, number}
    if alike:
        yield (
            f"{len(alike)} files hold the same rows: they are taken for launches of one thing, and "
            "their range for its error; import files of different settings with --apart"
        )


def names_of(files: Iterable[Any]) -> list[str]:
    """A name for each path, none twice: without folder and ending where that is enough."""
    paths = list(files)
    stems = [path.stem for path in paths]
    if len(set(stems)) < len(stems):
        return [str(path) for path in paths]
    return stems


def _rows(reading: Reading) -> Iterator[Hashable]:
    """The identity of tables and figures, without their launches and numbers."""
    for table in reading.tables:
        columns = []
        for name, value in table.fixed.items():
            if name != "launch":
                columns.append((name, str(value)))
        yield tuple(sorted(columns))
    for figure in reading.figures:
        yield replace(figure, launch=0, value=0.0)


def _refuse_unlike(first: Named, second: Named) -> None:
    (first_name, one), (second_name, other) = first, second
    for fact in FACTS:
        a, b = _values_of(one, fact), _values_of(other, fact)
        if a and b and not a & b:
            raise UserError(
                f"{first_name} and {second_name} hold the same rows, but differ in {fact}: "
                f"{', '.join(sorted(a))} and {', '.join(sorted(b))}; they are not launches of one "
                "thing: import them with --apart, or one by one"
            )


def _values_of(reading: Reading, fact: str) -> set[str]:
    return {str(getattr(launch, fact)) for launch in reading.launches} - {""}
