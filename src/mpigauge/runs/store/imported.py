# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs with numbers that other programs measured: a folder, or a reference in memory."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.model.cards import Cards
from mpigauge.model.record import encode
from mpigauge.model.stored_cards import FILE
from mpigauge.runs.readers.dates import printed_date
from mpigauge.runs.readers.references import reference
from mpigauge.runs.store.files import SCHEMA, in_utc, now
from mpigauge.runs.store.reader import Run
from mpigauge.runs.store.writer import DEFAULT_ROOT, RunWriter, remove_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from mpigauge.model.record import CallSite
    from mpigauge.runs.readers.reading import Reading

REFERENCE = "ref:"


def load_reference(name: str) -> Run:
    """The run of this name in the reference library. UserError: it does not exist."""
    entry = reference(name)
    mpi = {"name": " and ".join(entry.mpis), "version": ""}
    imported = {"what": entry.about, "source": entry.source, "date": entry.date}
    return Run(
        path=Path(f"{REFERENCE}{name}"),
        header=_header(entry.reading, imported) | {"created": entry.date, "mpi": mpi},
        passport={"machine": {"hostname": entry.system}},
        cards=Cards.from_json(_cards(entry.reading)),
        status={"status": "done"},
        records=tuple(entry.reading.records()),
    )


def write_imported(
    reading: Reading,
    files: Sequence[str],
    output: Path | None,
    label: str,
    machine: str = "",
    date: datetime | None = None,
    more: Mapping[str, Any] | None = None,
    call_sites: Iterable[CallSite] = (),
) -> Path:
    """Writes a run folder with imported numbers and returns its path. `machine` and `date`: where
    and when they were measured; by default the date in the text, and without one the run only has
    the time of import. `more`: additional contents of run.json."""
    measured = date or printed_date(launch.time for launch in reading.launches)
    at = now()
    header = _header(reading, {"files": list(files), "at": at, "dated": measured is not None})
    header["created"] = at
    header["command"] = ["mpigauge", "import", *files]
    header |= more or {}
    if measured:
        header["created"] = in_utc(measured)
    cards = json.dumps(_cards(reading), ensure_ascii=False)
    with (
        removed_on(BaseException, output) as folders,
        RunWriter.create(header, cards, output=output, label=label) as writer,
    ):
        folders.append(writer.folder)
        if machine:
            writer.write_passport({"machine": {"hostname": machine}})
        writer.append_records(reading.records())
        for site in call_sites:
            writer.append(encode(site))
        writer.finish("done")
        return writer.folder


@contextmanager
def removed_on(failure: type[BaseException], output: Path | None) -> Iterator[list[Path]]:
    """Removes the folders in its list if this failure leaves the block. An `output` folder that
    already existed stays, empty."""
    kept = [path for path in (output, DEFAULT_ROOT) if path and path.exists()]
    folders: list[Path] = []
    try:
        yield folders
    except failure:
        for folder in folders:
            remove_run(folder, kept)
        raise


def is_dated(header: Mapping[str, Any]) -> bool:
    """True if `created` is the time of measurement. In imports by older versions it is the time of
    import."""
    imported = header.get("imported")
    if not isinstance(imported, dict):
        return not imported
    return bool(imported.get("dated") or imported.get("date"))


def _header(reading: Reading, imported: Mapping[str, Any]) -> dict[str, Any]:
    sources = dict.fromkeys(str(table.fixed.get("source", "")) for table in reading.tables)
    sources |= dict.fromkeys(figure.source for figure in reading.figures)
    contents = {
        "sources": [word for word in sources if word],
        "remarks": list(reading.remarks),
        "unread": [asdict(line) for line in reading.unread],
    }
    return {"schema": SCHEMA, "version": mpigauge.__version__, "imported": {**imported, **contents}}


def _cards(reading: Reading) -> dict[str, Any]:
    """The cards of all benchmarks that other programs print, and of those in this output alone."""
    cards: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    cards["benchmarks"] += [asdict(card) for card in reading.cards]
    return cards
