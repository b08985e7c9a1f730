# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Values put together by what they have in common, in the order in which they appear."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


def grouped(values: Iterable[Value], key: Callable[[Value], Key]) -> dict[Key, list[Value]]:
    """The values that have the same key, by this key; keys stand in the order of their firsts."""
    found: dict[Key, list[Value]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return found


def distinct(values: Iterable[Value], key: Callable[[Value], Key]) -> list[Key]:
    """The keys of the values, each once, in the order in which they appear."""
    return list(grouped(values, key))
