# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Published numbers of known systems, one file of reference/ each, as readings.

A file has `about`, `system`, `network`, `date` and `source`; a [[table]] for each table in IMB's
columns (benchmark, ranks, columns, rows), and a [[figure]] for each number that is not a time.
`mpi`, `source` (the program), `placement` (a word of --place) and `arm` describe how it was
measured.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import no_such
from mpigauge.model.record import Figure
from mpigauge.runs.readers.imb_columns import Shape, fixed, stored
from mpigauge.runs.readers.imb_header import Header
from mpigauge.runs.readers.imb_heading import HeadingSection
from mpigauge.runs.readers.imb_section import kind_of
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.reading import Reading, TextTable, unknown_launch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).with_name("reference")
OF_ROW = ("placement", "arm", "source", "statistic")


@dataclass(frozen=True)
class Reference:
    name: str
    about: str
    system: str
    network: str
    date: str
    source: str
    """The publisher of the numbers."""
    reading: Reading
    mpis: tuple[str, ...]


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def reference(name: str) -> Reference:
    """The reference of this name. UserError: it does not exist."""
    if name not in names():
        raise no_such("reference", name, names())
    with (FOLDER / f"{name}.toml").open("rb") as file:
        data = tomllib.load(file)
    tables, figures = data.get("table", []), data.get("figure", [])
    mpis = tuple(dict.fromkeys(each["mpi"] for each in (*tables, *figures) if "mpi" in each))
    facts = {word: data.get(word, "") for word in ("about", "system", "network", "date", "source")}
    ranks = max((each["ranks"] for each in tables), default=0)
    reading = Reading(
        tables=tuple(_table(each) for each in tables),
        figures=tuple(Figure(launch=0, origin="imported", **_figure(each)) for each in figures),
        launches=(unknown_launch(0, time=str(data["date"]), mpi_library=", ".join(mpis),
                                 world_ranks=ranks),),
    )  # fmt: skip
    return Reference(name=name, reading=reading, mpis=mpis, **facts)


def _table(entry: Mapping[str, Any]) -> TextTable:
    import numpy as np

    card = known_cards().find(entry["benchmark"])
    numbers = np.array([line.split() for line in entry["rows"].strip().splitlines()], dtype=float)
    printed = dict(zip(entry["columns"].split(), numbers.T, strict=True))
    of_row = {name: entry[name] for name in OF_ROW if name in entry} | {"launch": 0}
    program, _, version = entry["source"].partition(" ")
    section, heads = HeadingSection(card.name, entry["ranks"]), tuple(printed)
    if program == "IMB":
        _, shape, shared = kind_of(section, heads, Header(version, card.suite))
    else:
        shape = Shape(entry["ranks"])
        shared = fixed(card, 0, shape)
    columns = partial(stored, card, shape, printed)
    return TextTable({**shared, **of_row}, numbers.shape[0], columns)


def _figure(entry: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in Figure.__dataclass_fields__:
        if name in entry:
            values[name] = entry[name]
    return values
