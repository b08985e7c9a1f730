# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Merges lists by taking one item of each in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

_T = TypeVar("_T")
_NOTHING = object()


def interleaved(lists: Sequence[Sequence[_T]]) -> list[_T]:
    """Returns the first item of each list, then the second, …; exhausted lists are skipped."""
    rounds = zip_longest(*lists, fillvalue=_NOTHING)
    return [each for row in rounds for each in row if each is not _NOTHING]  # type: ignore[misc]
