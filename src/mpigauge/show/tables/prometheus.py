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

Labels = Mapping[str, str]
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True)
class Metric:
    """A gauge with its series."""

    name: str
    """The metric's name in Prometheus' style, with the base unit at the end:
    mpigauge_check_seconds."""
    about: str
    series: tuple[tuple[Labels, float], ...]


def one_of(labels: Labels, name: str, words: Iterable[str], now: str) -> list[tuple[Labels, float]]:
    """A series for each word that the label `name` may have: 1 for the one that it has now."""
    return [({**labels, name: word}, float(word == now)) for word in words]


def text_of(metrics: Iterable[Metric]) -> str:
    """The content of a file; metrics without a series are left out."""
    lines: list[str] = []
    for metric in metrics:
        if metric.series:
            lines += [f"# HELP {metric.name} {metric.about}", f"# TYPE {metric.name} gauge"]
            for labels, value in metric.series:
                lines.append(_line(metric.name, labels, value))
    if lines:
        return "\n".join([*lines, ""])
    return ""


def _line(name: str, labels: Labels, value: float) -> str:
    words = [f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items()]
    of = f"{{{','.join(words)}}}" if words else ""
    return f"{name}{of} {_number(value)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        if value > 0:
            return "+Inf"
        return "-Inf"
    return repr(value)
