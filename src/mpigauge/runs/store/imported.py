# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of numbers that others measured: a folder, or a reference in memory."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.model.cards import Cards
from mpigauge.model.record import encode
from mpigauge.runs.readers.dates import printed_date
from mpigauge.runs.readers.known import FILE
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
    """The run of this name in the reference library. UserError: there is none."""
    known = reference(name)
    mpi = {"name": " and ".join(known.mpis), "version": ""}
    imported = {"what": known.about, "source": known.source, "date": known.date}
    return Run(
        path=Path(f"{REFERENCE}{name}"),
        header=_header(known.reading, imported) | {"created": known.date, "mpi": mpi},
        passport={"machine": {"hostname": known.system}},
        cards=Cards.from_json(_cards(known.reading)),
        status={"status": "done"},
        records=tuple(known.reading.records()),
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
    """A run folder of what was read, and where it is. `machine` and `date`: on which and when it
    was measured; without a date that which the text says, and if that says none, only when it was
    imported is known. `more`: for run.json."""
    measured = date or printed_date(launch.time for launch in reading.launches)
    header = _header(reading, {"files": list(files), "at": now(), "dated": measured is not None})
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
    """Removes the folders that its list names if this failure leaves the block. `output`, where it
    was there before, stays as an empty folder."""
    kept = [path for path in (output, DEFAULT_ROOT) if path and path.exists()]
    folders: list[Path] = []
    try:
        yield folders
    except failure:
        for folder in folders:
            remove_run(folder, kept)
        raise


def is_dated(header: Mapping[str, Any]) -> bool:
    """Whether `created` says when the numbers of a run were measured. Runs that were imported by
    older versions say only when that was."""
    imported = header.get("imported")
    if not isinstance(imported, dict):
        return not imported
    return bool(imported.get("dated") or imported.get("date"))


def _header(reading: Reading, imported: Mapping[str, Any]) -> dict[str, Any]:
    sources = dict.fromkeys(str(table.fixed.get("source", "")) for table in reading.tables)
    sources |= dict.fromkeys(figure.source for figure in reading.figures)
    said = {
        "sources": [word for word in sources if word],
        "remarks": list(reading.remarks),
        "unread": [asdict(line) for line in reading.unread],
    }
    return {"schema": SCHEMA, "version": mpigauge.__version__, "imported": {**imported, **said}}


def _cards(reading: Reading) -> dict[str, Any]:
    """Of all benchmarks that others print, and of those that only they have."""
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    known["benchmarks"] += [asdict(card) for card in reading.cards]
    return known
