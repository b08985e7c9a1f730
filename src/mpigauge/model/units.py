# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Number formatting: µs, MB/s (MB = 10⁶ bytes) and KiB. The store has only seconds and bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

UNKNOWN = "–"
UNKNOWN_ERROR = "± unknown"
"""An interval that says nothing of the value."""
_MOST_ERROR = 10.0
"""The share of a value from which on an interval is printed as unknown."""
_MOST_DIGITS = 6
_MOST_NAMED = 3
_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_RATES = ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"))
_DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def decimals(value: float, error: float = 0.0, digits: int = 3) -> int:
    """Decimals that show this many digits of the value, and never round away more than the
    error."""
    if not math.isfinite(value) or value == 0:
        return 2
    leading = math.floor(math.log10(abs(value)))
    count = digits - 1 - leading
    if math.isfinite(error) and error > 0:
        count = max(count, -math.floor(math.log10(error)))
    return min(max(count, 0), max(_MOST_DIGITS - 1 - leading, 0))


def number(value: float, error: float = 0.0) -> str:
    """The value with three digits, or more if the error is smaller than the third."""
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value:.{decimals(value, error)}f}"


def microseconds(seconds: float, error_s: float = 0.0) -> str:
    return number(seconds * 1e6, error_s * 1e6)


def megabytes_per_s(bytes_per_s: float, error: float = 0.0) -> str:
    return number(bytes_per_s / 1e6, error / 1e6)


def duration(seconds: float) -> str:
    """A time with its unit: 12 µs, 3.4 s."""
    if not math.isfinite(seconds):
        return UNKNOWN
    factor, unit = _unit_for(seconds, _DURATIONS, _DURATIONS[-1])
    return f"{number(seconds / factor)} {unit}"


def _unit_for(
    value: float, units: Sequence[tuple[float, str]], least: tuple[float, str]
) -> tuple[float, str]:
    """The first of these units, from large to small, that is no larger than the value, or the
    least."""
    for factor, unit in units:
        if abs(value) >= factor:
            return factor, unit
    return least


def rate(per_s: float, error: float = 0.0) -> str:
    """A rate with its unit: 1.25 M/s."""
    if not math.isfinite(per_s):
        return UNKNOWN
    factor, unit = _unit_for(per_s, _RATES, (1.0, "/s"))
    return f"{number(per_s / factor, error / factor)} {unit}"


def byte_count(count: int) -> str:
    """The exact size: 4 KiB for a multiple, else 4097 B; empty for a benchmark without messages."""
    if count < 0:
        return ""
    for unit, name in _BINARY:
        if count and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def memory(count: float) -> str:
    """An approximate number of bytes, with one decimal: 3.1 GiB."""
    for unit, name in _BINARY:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count:.0f} B"


def many(count: int | str, thing: str) -> str:
    """A count with its noun: 1 core, 2 cores, 3 launches, ? ranks."""
    if count == 1:
        return f"{count} {thing}"
    if thing.endswith(("ch", "s")):
        return f"{count} {thing}es"
    return f"{count} {thing}s"


def percent(ratio: float) -> str:
    """A percentage with two digits below 10 %, none of them below a tenth: 0.4 %, 3.2 %, 18 %."""
    if not math.isfinite(ratio):
        return UNKNOWN
    share = ratio * 100
    if 0 <= share < 0.05:
        return "<0.1 %"
    if share < 9.95:
        return f"{share:.1f} %"
    return f"{share:.0f} %"


def as_percent(ratio: float) -> str:
    """A share that a user chose, with all its digits: 5 %, 0.25 %."""
    return f"{ratio * 100:g} %"


def from_to(low: float, high: float) -> str:
    """A range, relative to the value within it: -3.1…+8.2 %, which nobody mistakes for an error."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return UNKNOWN
    if is_unknown(low, high):
        return UNKNOWN_ERROR
    digits = 1 if max(abs(low), abs(high)) < 0.0995 else 0
    return f"{100 * low:+.{digits}f}…{100 * high:+.{digits}f} %"


def is_unknown(low: float, high: float) -> bool:
    """True for a range, relative to the value within it, that says nothing of the value."""
    return max(abs(low), abs(high)) >= _MOST_ERROR


def plus_minus(ratio: float) -> str:
    """The error as ± with a percentage; a question mark if it is unknown. An error larger than the
    value itself is shown as that only, and a very large one as unknown: two launches can give
    ±7000 %."""
    if not math.isfinite(ratio):
        return "±?"
    if is_unknown(0.0, ratio):
        return UNKNOWN_ERROR
    if ratio > 1:
        return "±>100 %"
    return f"±{percent(ratio)}"


def first_few(names: Iterable[str]) -> str:
    """The first few, each once, and the number of others."""
    unique = list(dict.fromkeys(names))
    named = ", ".join(unique[:_MOST_NAMED])
    more = len(unique) - _MOST_NAMED
    if more > 0:
        return f"{named} and {more} more"
    return named


def between_sizes(before_bytes: int, after_bytes: int) -> str:
    return f"between {byte_count(before_bytes)} and {byte_count(after_bytes)}"


def listed(words: Iterable[str], link: str = "and") -> str:
    """A list for a sentence: l3, numa and node."""
    *others, last = [*words] or ["nothing"]
    if not others:
        return last
    return f"{', '.join(others)} {link} {last}"


def dotted(*words: str) -> str:
    """The nonempty words, for a heading: PingPong · 2 ranks · l3."""
    return " · ".join(filter(None, words))


def capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def with_commas(*words: str) -> str:
    """The nonempty words: PingPong, l3."""
    return ", ".join(filter(None, words))


def settings_in_words(settings: Mapping[str, str]) -> str:
    """Settings as they are stored in the column `arm`: pml=ucx UCX_RNDV_THRESH=4096."""
    return " ".join(f"{name}={value}" for name, value in settings.items())
