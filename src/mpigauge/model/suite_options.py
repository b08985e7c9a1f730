# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options that only some benchmarks use: user input, translated into words for the kernels.

The options are in schema/options.toml; the card of a benchmark lists those that it uses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from mpigauge.model.errors import UserError, did_you_mean, no_such
from mpigauge.model.limits import (
    MOST_DELAY_US,
    MOST_PUS,
    MOST_RANKS,
    decimal_number,
    whole_number,
)
from mpigauge.model.option_table import OFFERED, OptionRow

ORDERS = ("compact", "scatter")
OMP = "omp"
"""The word that stands for the OpenMP variables in the environment."""
NODES = ("local", "remote", "interleaved", "all")
ARRIVAL = "arrival"
TOGETHER, PROFILE = "together", "profile"
"""Arrival of all ranks at once, and as in a profile: profile:RUN."""
REPLAYED = "profile"
"""The option for the profile whose program is replayed."""
ROOT = "root"
"""The option for the root rank of collectives that have one."""
THREAD_LEVEL = "thread-level"
(LEVELS,) = (row.choices for row in OFFERED if row.name == THREAD_LEVEL)
"""Thread levels of MPI, the lowest first."""


def calls_from_several(level: str) -> bool:
    """True if a program at this thread level may call MPI from several threads at once. For that
    level libraries take locks and other code paths; at lower levels they do not."""
    return level == LEVELS[-1]


def flag_of(name: str) -> str:
    """The option of the command line for a suite option, or for any other of the kernels."""
    return next((row.flag for row in OFFERED if row.name == name), f"--{name}")


def read_suite_options(
    options: Mapping[str, object], environment: Mapping[str, str]
) -> dict[str, str]:
    """The suite options among these, in the kernels' words, by name."""
    words: dict[str, str] = {}
    for row in OFFERED:
        value = options.get(row.key)
        if value not in (None, ""):
            words[row.name] = _read(row, str(value), environment)
    return words


def _read(option: OptionRow, text: str, environment: Mapping[str, str]) -> str:
    read = _READERS[option.form]
    if option.form not in _OMP:
        return read(option, text)
    words: dict[str, None] = {}
    for word in text.split(","):
        if word.strip() == OMP:
            values = _of_openmp(option.form, environment)
        else:
            values = read(option, word.strip())
        words |= dict.fromkeys(values.split(","))
    return ",".join(words)


def _of_openmp(form: str, environment: Mapping[str, str]) -> str:
    from mpigauge.model import openmp

    return openmp.threads(environment) if form == "counts" else openmp.order(environment)


def _count(option: OptionRow, text: str) -> str:
    number = whole_number(text)
    if number is None or not option.least <= number <= option.most:
        limits = f"from {option.least} to {option.most}"
        raise UserError(f"{option.flag}: '{text}' is not a whole number {limits}")
    return str(number)


def _thread_count(option: OptionRow, text: str) -> str:
    """A number of threads or a range: 4 or 1..8."""
    first, dots, last = text.partition("..")
    least = most = int(_count(option, first))
    if dots:
        most = int(_count(option, last))
    if most < least:
        raise UserError(f"{option.flag}: '{text}' goes down; write {most}..{least}")
    return ",".join(map(str, range(least, most + 1)))


def _thread_order(option: OptionRow, text: str) -> str:
    if text not in ORDERS:
        raise no_such("order", text, (*ORDERS, OMP), option.flag)
    return text


def _words(option: OptionRow, text: str) -> str:
    """The words of a list in lower case, each once, in the order given."""
    words = [word.strip().lower() for word in text.split(",")]
    for word in words:
        if word not in option.choices:
            raise no_such(option.name.replace("-", " "), word, option.choices, option.flag)
    return ",".join(dict.fromkeys(words))


def is_node(word: str) -> bool:
    """True if the word can be the number of a NUMA node."""
    number = whole_number(word)
    return number is not None and number < MOST_PUS


def _memory_on(option: OptionRow, text: str) -> str:
    """The names of NUMA nodes; whether the machine has them is checked later."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in NODES and not all(map(is_node, word.split("+"))):
            hint = did_you_mean(word, NODES) or (
                f"; write {', '.join(NODES)}, or numbers such as 1 or 0+1"
            )
            raise UserError(f"{option.flag}: '{word}' does not name NUMA nodes{hint}")
    return ",".join(dict.fromkeys(words))


def _as_is(_option: OptionRow, text: str) -> str:
    return text


def _directories(option: OptionRow, text: str) -> str:
    """The folder names in a list; that they exist is checked elsewhere."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UserError(f"{option.flag}: '{text}' has an empty name; write folders with commas")
    return ",".join(names)


def _sides(option: OptionRow, text: str) -> str:
    sides = [whole_number(word) for word in text.lower().split("x")]
    if not all(sides) or math.prod(side or 0 for side in sides) > MOST_RANKS:
        raise UserError(
            f"{option.flag}: '{text}' is not a grid; write numbers with x between: 4x2x2"
        )
    return "x".join(map(str, sides))


def _places(option: OptionRow, text: str) -> str:
    places = [whole_number(word) for word in text.split(",")]
    if sorted(-1 if place is None else place for place in places) != list(range(len(places))):
        raise UserError(
            f"{option.flag}: '{text}' does not name each host from 0 on once; write 0,2,1,3"
        )
    return ",".join(map(str, places))


def _percent(option: OptionRow, text: str) -> str:
    match = re.fullmatch(r"\s*(\d{1,2})\s*%?\s*", text)
    if not match or int(match[1]) == 0:
        raise UserError(
            f"{option.flag}: '{text}' is no share of the hosts; write a percentage from 1% to 99%"
        )
    return str(int(match[1]))


def _microseconds(option: OptionRow, text: str) -> str:
    word = text.strip().removesuffix("us").removesuffix("µs").strip()
    us = decimal_number(word)
    if not 0 < us <= option.most:
        raise UserError(
            f"{option.flag}: '{text}' is not a number of microseconds; write 2 or 0.5us"
        )
    return f"{us:g}"


def _arrivals(option: OptionRow, text: str) -> str:
    """The arrival patterns, with times in microseconds, after that of all ranks at once. Profiles
    are resolved later."""
    words = [TOGETHER, *(_pattern(option, word.strip()) for word in text.split(","))]
    return ",".join(dict.fromkeys(words))


def _pattern(option: OptionRow, word: str) -> str:
    kind, _, rest = word.partition(":")
    if word == TOGETHER or (kind == PROFILE and rest):
        return word
    rank, colon, time = rest.rpartition(":")
    if kind in ("uniform", "sorted") and rest and not colon:
        return f"{kind}:{_delay(option, word, rest)}"
    if kind == "late" and re.fullmatch(r"\d{1,9}", rank):
        return f"late:{int(rank)}:{_delay(option, word, time)}"
    hint = "; write late:1:50us, uniform:100us, sorted:100us or profile:RUN"
    raise UserError(f"{option.flag}: '{word}' has no arrival times{hint}")


def _delay(option: OptionRow, word: str, time: str) -> str:
    """A delay in microseconds, at most a second."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|µs|ms|s)?", time)
    us = 0.0
    if match:
        us = decimal_number(match[1]) * _MICROSECONDS[match[2] or "us"]
    if not 0 < us <= MOST_DELAY_US:
        raise UserError(
            f"{option.flag}: '{word}' has no time between nothing and a second; write such as "
            "50us, 0.5ms"
        )
    return f"{us:.10g}"


def _switch(_option: OptionRow, text: str) -> str:
    return {"on": "1", "off": "0"}[text]


_MICROSECONDS = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_READERS: dict[str, Callable[[OptionRow, str], str]] = {
    "word": _as_is,
    "words": _words,
    "switch": _switch,
    "int": _count,
    "counts": _thread_count,
    "orders": _thread_order,
    "nodes": _memory_on,
    "folders": _directories,
    "sides": _sides,
    "places": _places,
    "percent": _percent,
    "microseconds": _microseconds,
    "arrivals": _arrivals,
    "run": _as_is,
}
"""The readers by the form of an option; for forms in _OMP, of each word of a list."""
_OMP = ("counts", "orders")
"""The forms that have the word omp, for what the environment says of OpenMP."""
