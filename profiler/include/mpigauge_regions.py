# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Regions: parts of a program with a name, by which `mpigauge profile` tells calls of MPI apart.

    from mpigauge_regions import mpigauge_begin, mpigauge_end, region

    mpigauge_begin("solve")
    mpigauge_end()

    with region("solve"):
        ...

Without the profiler they do nothing. This file needs nothing else of mpigauge, and may be copied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["mpigauge_begin", "mpigauge_end", "region"]


def _found(name: str) -> Callable[..., object] | None:
    """A function of the profiler; None: there is no profiler in this process."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function.restype = None
    return function


_begin = _found("mpigauge_begin")
_end = _found("mpigauge_end")


def mpigauge_begin(name: str) -> None:
    """What follows is in the region of this name, until its end."""
    if _begin is not None:
        _begin(name.encode())


def mpigauge_end() -> None:
    """Ends the region that was begun last."""
    if _end is not None:
        _end()


@contextmanager
def region(name: str) -> Iterator[None]:
    """What is within it is in the region of this name."""
    mpigauge_begin(name)
    try:
        yield
    finally:
        mpigauge_end()
