# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes metrics to a file that the textfile collector of Prometheus' node exporter reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError, UserError
from mpigauge.runs.store.files import failing_as, write_whole
from mpigauge.show.tables.prometheus import text_of

if TYPE_CHECKING:
    from mpigauge.show.tables.prometheus import Metric

SUFFIX = ".prom"
"""The suffix that the collector reads; a file that is still being written has another."""


def check_file(file: Path) -> None:
    """UserError: the collector would not read a file of this name, or there is no folder for it."""
    if file.suffix != SUFFIX:
        raise UserError(f"--prometheus {file}: node exporter reads files that end in {SUFFIX}")
    if not file.absolute().parent.is_dir():
        raise UserError(f"--prometheus {file}: there is no folder {file.absolute().parent}")


def write(file: Path, metrics: Iterable[Metric]) -> None:
    """Puts the file in place by renaming it, so that nobody reads half of it. RunError: it cannot
    be written."""
    with failing_as(RunError, file):
        write_whole(file, text_of(metrics))
