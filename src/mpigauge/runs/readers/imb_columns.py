# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts the columns that IMB prints to those that are stored.

IMB's times are means over all calls of a row; t_min, t_max and t_avg are over ranks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.runs.readers.known import traffic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.cards import Card

    Numbers = Mapping[str, NDArray[np.float64]]

HEADS = frozenset(
    (
        "Group", "#bytes", "#repetitions", "t[usec]", "t_min[usec]", "t_max[usec]", "t_avg[usec]",
        "Mbytes/sec", "Msg/sec", "t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]",
        "defects",
    )
)  # fmt: skip
TIMES = ("t_ovrl[usec]", "t_max[usec]", "t[usec]")
"""Heads for the time of the slowest rank; a table has at most one of them."""
OF_SLOWEST = "mean over repetitions, slowest rank"
OVER_RANKS = "mean over repetitions and ranks"
BINARY_MEGABYTE = 2**20
_MICRO = 1e-6
_AS_PRINTED = {"printed_mb_per_s": "Mbytes/sec", "printed_msg_per_s": "Msg/sec"}


class Shape(NamedTuple):
    """Parameters besides the benchmark that determine times and traffic of a table."""

    ranks: int
    inflight: int = 1
    threads: int = 1
    dimensions: int = 1


def stored(card: Card, shape: Shape, printed: Numbers) -> dict[str, Any]:
    """The stored columns of these rows: arrays with a value per row, and shared values."""
    whole = printed["#repetitions"]
    size = printed.get("#bytes")
    if size is not None and card.suite == "MT":
        size = size / shape.threads  # IMB prints what all threads send
    counted = traffic(card, *shape)
    columns: dict[str, Any] = {
        "calls": whole,
        "message_bytes": whole * 0 - 1 if size is None else size,
        "moved_bytes": whole * 0 if size is None else size * counted.bytes_per_message,
        "messages": whole * 0 + counted.messages,
        **_times(card, shape, printed, counted.messages),
        **{name: printed[head] for name, head in _AS_PRINTED.items() if head in printed},
    }
    if "Group" in printed:
        columns["group"] = printed["Group"]
    if "defects" in printed:
        columns["wrong_count"] = printed["defects"]
    return columns


def statistic(card: Card) -> str:
    """The statistic that time_p50_s is."""
    if card.columns in ("rate", "timed_band"):
        return OVER_RANKS
    return OF_SLOWEST


def time_scale(card: Card) -> float:
    if card.time == "half_round_trip":
        return 0.5
    return 1.0


def fixed(card: Card, launch: int, shape: Shape) -> dict[str, Any]:
    """The columns that the rows of a table share, with defaults for those that the text does not
    state."""
    types = {"reduction": ("float", "sum"), "transfer": ("byte", ""), "none": ("byte", "")}
    datatype, op = types[card.unit]
    return {
        "launch": launch,
        "suite": card.suite,
        "benchmark": card.name,
        "ranks": shape.ranks,
        "inflight": shape.inflight,
        "threads": shape.threads,
        "datatype": datatype,
        "op": op,
        "time_scale": time_scale(card),
        "statistic": statistic(card),
    }


def _times(card: Card, shape: Shape, printed: Numbers, messages: float) -> dict[str, Any]:
    """The times of a whole call: not halved, and of all messages in flight."""
    import numpy as np

    if is_rate_alone(printed):
        with np.errstate(divide="ignore"):
            time = messages / printed["Msg/sec"]
        return {"time_p50_s": time, "time_max_s": time, "time_mean_s": time}
    unit = _MICRO / time_scale(card)
    if not any(head in printed for head in TIMES):
        # t_avg of one message of one thread
        unit *= shape.inflight * (2 if card.name == "BiBandMT" else 1)
        time = printed["t_avg[usec]"] * unit
        return {"time_p50_s": time, "time_avg_s": time, "time_mean_s": time}
    time = printed[next(head for head in TIMES if head in printed)] * unit
    times = {"time_p50_s": time, "time_mean_s": time}
    over_ranks = "time_avg_s" if card.columns == "rate" else "time_max_s"
    return times | {over_ranks: time} | _ranks(printed, unit) | _parts(printed)


def is_rate_alone(heads: Iterable[str]) -> bool:
    """True if the message rate is the only column with a time."""
    return not {*TIMES, "t_avg[usec]"} & set(heads)


def _ranks(printed: Numbers, unit: float) -> dict[str, Any]:
    heads = {"time_min_s": "t_min[usec]", "time_avg_s": "t_avg[usec]"}
    columns: dict[str, Any] = {}
    for name, head in heads.items():
        if head in printed:
            columns[name] = printed[head] * unit
    return columns


def _parts(printed: Numbers) -> dict[str, Any]:
    heads = {
        "time_pure_s": ("t_pure[usec]", _MICRO),
        "time_cpu_s": ("t_CPU[usec]", _MICRO),
        "overlap_ratio": ("overlap[%]", 0.01),
    }
    columns: dict[str, Any] = {}
    for name, (head, by) in heads.items():
        if head in printed:
            columns[name] = printed[head] * by
    return columns


def megabyte(card: Card, shape: Shape, printed: Numbers) -> float:
    """The bytes of a megabyte in these rows: 10^6, or 2^20 before IMB 2017; NaN: undetermined.

    Only rows of 10 µs or more have enough digits.
    """
    import numpy as np

    head = next((head for head in TIMES if head in printed), "")
    if not head or "Mbytes/sec" not in printed or "#bytes" not in printed or "Msg/sec" in printed:
        return math.nan
    time = printed[head]
    rate = printed["Mbytes/sec"]
    use = (time >= _LEAST_US) & (rate >= 1)
    if not use.any():
        return math.nan
    factor = traffic(card, *shape).bytes_per_message
    factor = 1 if card.suite == "RMA" else factor  # One_put_all and the like count one message
    ratio = float(np.median(printed["#bytes"][use] * factor / (time[use] * rate[use])))
    return next(
        (unit for unit in (10**6, BINARY_MEGABYTE) if abs(ratio * 1e6 / unit - 1) < _CLOSE),
        math.nan,
    )


_LEAST_US = 10.0
_CLOSE = 0.02
