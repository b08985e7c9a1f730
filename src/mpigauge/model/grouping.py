# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Grouping of values by a key, in the order in which they appear."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


def grouped(values: Iterable[Value], key: Callable[[Value], Key]) -> dict[Key, list[Value]]:
    """The values by their key; keys are in the order of their first values."""
    groups: dict[Key, list[Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def distinct(values: Iterable[Value], key: Callable[[Value], Key]) -> list[Key]:
    """The keys of the values, each once, in the order in which they appear."""
    return list(grouped(values, key))
