# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Waits until a file is created in one of several folders (inotify(7))."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_IN_CREATE = 0x100
_HEAD = struct.Struct("iIII")
_MOST_BYTES = 1 << 16


class Creations:
    """Reports the names of files that are created from now on; none if no watch can be added."""

    def __init__(self, folders: Iterable[Path]) -> None:
        system = ctypes.CDLL(None, use_errno=True)
        self._ended = os.eventfd(0, os.EFD_CLOEXEC)
        self._events = system.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._events >= 0:
            for folder in set(folders):
                system.inotify_add_watch(self._events, os.fsencode(folder), _IN_CREATE)

    def wait(self, seconds: float | None) -> list[str] | None:
        """Returns the names of new files, none if the time is over; None: `end` was called."""
        watched = [self._ended, *([self._events] if self._events >= 0 else [])]
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._ended in ready:
            return None
        return self._names() if ready else []

    def end(self) -> None:
        """Ends a wait, and those that follow."""
        os.eventfd_write(self._ended, 1)

    def close(self) -> None:
        for handle in (self._ended, self._events):
            with suppress(OSError):
                os.close(handle)

    def _names(self) -> list[str]:
        try:
            data = os.read(self._events, _MOST_BYTES)
        except BlockingIOError:
            return []
        names, at = [], 0
        while at < len(data):
            _, _, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            names.append(os.fsdecode(data[at : at + length].rstrip(b"\0")))
            at += length
        return names
