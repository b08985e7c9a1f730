# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers for people: µs, MB/s (MB = 10⁶ bytes) and KiB. The store knows seconds and bytes only."""

from __future__ import annotations

import math
from collections.abc import Iterable

UNKNOWN = "–"
_MOST_DIGITS = 6
_MOST_NAMED = 3
_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_RATES = ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"))
_DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def decimals(value: float, error: float = 0.0, digits: int = 3) -> int:
    """Decimals that show so many digits of the value, and never round off more than the error."""
    if not math.isfinite(value) or value == 0:
        return 2
    leading = math.floor(math.log10(abs(value)))
    wanted = digits - 1 - leading
    if math.isfinite(error) and error > 0:
        wanted = max(wanted, -math.floor(math.log10(error)))
    return min(max(wanted, 0), max(_MOST_DIGITS - 1 - leading, 0))


def number(value: float, error: float = 0.0) -> str:
    """Three digits, or more where the error is smaller than the third."""
    return f"{value:.{decimals(value, error)}f}" if math.isfinite(value) else UNKNOWN


def microseconds(seconds: float, error_s: float = 0.0) -> str:
    return number(seconds * 1e6, error_s * 1e6)


def megabytes_per_s(bytes_per_s: float, error: float = 0.0) -> str:
    return number(bytes_per_s / 1e6, error / 1e6)


def duration(seconds: float) -> str:
    """With its unit: 12 µs, 3.4 s."""
    factor, unit = next((pair for pair in _DURATIONS if abs(seconds) >= pair[0]), _DURATIONS[-1])
    return f"{number(seconds / factor)} {unit}" if math.isfinite(seconds) else UNKNOWN


def rate(per_s: float, error: float = 0.0) -> str:
    """With its unit: 1.25 M/s."""
    factor, unit = next((pair for pair in _RATES if abs(per_s) >= pair[0]), (1.0, "/s"))
    return f"{number(per_s / factor, error / factor)} {unit}" if math.isfinite(per_s) else UNKNOWN


def byte_count(count: int) -> str:
    """4 KiB where that is the whole truth, else 4097 B; nothing for a benchmark without message."""
    if count < 0:
        return ""
    exact = ((count // unit, name) for unit, name in _BINARY if count and count % unit == 0)
    value, name = next(exact, (count, "B"))
    return f"{value} {name}"


def memory(count: float) -> str:
    """About how many bytes, with one decimal: 3.1 GiB."""
    unit, name = next((pair for pair in _BINARY if count >= pair[0]), (1, "B"))
    return f"{count / unit:.1f} {name}" if unit > 1 else f"{count:.0f} B"


def many(count: int | str, thing: str) -> str:
    """1 core, 2 cores, 3 launches, ? ranks."""
    end = "" if count == 1 else "es" if thing.endswith(("ch", "s")) else "s"
    return f"{count} {thing}{end}"


def percent(ratio: float) -> str:
    """Two digits below 10 %, none of them below a tenth: 0.4 %, 3.2 %, 18 %."""
    if not math.isfinite(ratio):
        return UNKNOWN
    share = ratio * 100
    if 0 <= share < 0.05:
        return "<0.1 %"
    return f"{share:.1f} %" if share < 9.95 else f"{share:.0f} %"


def as_percent(ratio: float) -> str:
    """A share that somebody has chosen, with all its digits: 5 %, 0.25 %."""
    return f"{ratio * 100:g} %"


def from_to(low: float, high: float) -> str:
    """A range, as shares of the value within it: -3.1…+8.2 %. No reader takes it for an error."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return UNKNOWN
    digits = 1 if max(abs(low), abs(high)) < 0.0995 else 0
    return f"{100 * low:+.{digits}f}…{100 * high:+.{digits}f} %"


def plus_minus(ratio: float) -> str:
    """± with a percentage; a question mark where no error is known. Of an error larger than the
    value itself a percentage says nothing more than that: two launches can give ±7000 %."""
    if not math.isfinite(ratio):
        return "±?"
    return "±>100 %" if ratio > 1 else f"±{percent(ratio)}"


def first_few(names: Iterable[str]) -> str:
    """The first few, each once, and how many there are beside them."""
    unique = list(dict.fromkeys(names))
    named = ", ".join(unique[:_MOST_NAMED])
    more = len(unique) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def between_sizes(before_bytes: int, after_bytes: int) -> str:
    return f"between {byte_count(before_bytes)} and {byte_count(after_bytes)}"


def listed(words: Iterable[str], link: str = "and") -> str:
    """A list for a sentence: l3, numa and node."""
    *others, last = [*words] or ["nothing"]
    return f"{', '.join(others)} {link} {last}" if others else last


def dotted(*words: str) -> str:
    """The words that are not empty, for a heading: PingPong · 2 ranks · l3."""
    return " · ".join(filter(None, words))


def with_commas(*words: str) -> str:
    """The words that are not empty: PingPong, l3."""
    return ", ".join(filter(None, words))
