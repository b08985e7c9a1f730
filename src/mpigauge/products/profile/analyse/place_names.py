# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The names of places in a program, short and distinct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mpigauge.products.profile.read.symbols import Place

_MPI4PY = ["mpi4py", "MPI"]
_OF_MODULE = "<module>"
"""The function of lines of Python outside all functions."""
METHOD = "__pyx_pw_"
"""The prefix that Cython gives to the names of functions that Python calls."""


def distinct_names(place: str, stacks: Sequence[Sequence[str]]) -> list[str]:
    """Returns distinct names for call sites of one place: the callers at which their stacks differ,
    or numbers if they do not, as of two calls in one line."""
    if len(stacks) == 1:
        return [place]
    level = _first_difference(stacks)
    callers = [stack[level] if level < len(stack) else "" for stack in stacks]
    if len(set(callers)) == 1:
        return [f"{place} ({number})" for number in range(1, len(stacks) + 1)]
    names = [""] * len(stacks)
    for caller in dict.fromkeys(callers):
        group = [at for at, each in enumerate(callers) if each == caller]
        longer = f"{place} from {caller}" if caller else place
        for at, name in zip(
            group, distinct_names(longer, [stacks[at] for at in group]), strict=True
        ):
            names[at] = name
    return names


def _first_difference(stacks: Sequence[Sequence[str]]) -> int:
    """Returns the first level at which stacks differ, or the length of the longest if none does."""
    longest = max(len(stack) for stack in stacks)
    for level in range(longest):
        callers = {stack[level] if level < len(stack) else None for stack in stacks}
        if len(callers) > 1:
            return level
    return longest


def short(place: Place) -> str:
    """Returns a function with its place; of a Python method only the function."""
    function = readable(place.function)
    if place.function.startswith(METHOD):
        return function
    if place.file:
        where = f"{Path(place.file).name}:{place.line}"
        return where if function == _OF_MODULE else f"{function} at {where}"
    return f"{function}+{place.offset:#x}"


def _without_arguments(function: str) -> str:
    """Returns a C++ name up to the parenthesis of its arguments, outside template brackets."""
    name = function.replace("(anonymous namespace)::", "")
    depth = 0
    for place, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and place and depth <= 0:
            return name[:place]
    return name


def readable(function: str) -> str:
    """Returns a function name without C++ arguments and compiler suffixes, and the Python name of a
    function made by Cython."""
    name = _without_arguments(function)
    name = re.sub(r"\.(constprop|isra|part|cold)\b.*", "", name)
    if not (made := re.match(r"__pyx_[a-z]+_", name)):
        return name
    rest, parts = name[made.end() :], []
    while match := re.match(r"(\d+)(.*)", rest):
        size = int(match[1])
        if size >= len(match[2]):
            rest = match[2]  # the number of the method
            break
        parts.append(match[2][:size])
        rest = match[2][size:].removeprefix("_")
    return ".".join([*(parts[2:] if parts[:2] == _MPI4PY else parts), rest])
