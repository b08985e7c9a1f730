# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prometheus' text format, for the textfile collector of its node exporter.

Nothing has a time stamp, which the collector refuses: when a run was made is a value of its own. A
word that may be one of several, as a verdict, is a series for each of them, of which one is 1 and
the others are 0, so that none stays as it was when another is true.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mpigauge.model.errors import RunError, UserError
from mpigauge.runs.store.files import failing_as, moment_of, write_whole

SUFFIX = ".prom"
"""What the collector reads; a file that is being written has another."""
Labels = Mapping[str, str]
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True)
class Metric:
    """A gauge with its series."""

    name: str
    """In the words of Prometheus, with the base unit at the end: mpigauge_check_seconds."""
    about: str
    series: tuple[tuple[Labels, float], ...]


def one_of(labels: Labels, name: str, words: Iterable[str], now: str) -> list[tuple[Labels, float]]:
    """A series for each word that the label `name` may have: 1 for the one that it has now."""
    return [({**labels, name: word}, float(word == now)) for word in words]


def unix_time(created: str) -> float:
    """Seconds since 1970 of the time in a run's header; NaN where it is damaged."""
    moment = moment_of(created)
    return moment.timestamp() if moment else math.nan


def text_of(metrics: Iterable[Metric]) -> str:
    """The content of a file; metrics without a series are left out."""
    lines: list[str] = []
    for metric in metrics:
        if metric.series:
            lines += [f"# HELP {metric.name} {metric.about}", f"# TYPE {metric.name} gauge"]
            lines += [_line(metric.name, *each) for each in metric.series]
    return "".join(f"{line}\n" for line in lines)


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


def _line(name: str, labels: Labels, value: float) -> str:
    said = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
    return f"{name}{{{said}}} {_number(value)}" if said else f"{name} {_number(value)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
