# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files of the profiler as its library writes them, made without it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import BlockKind

GRAIN = 64
HZ = 2e9
SECOND = int(HZ)
START_UTC_S = 1_700_000_000


class Written:
    """One file: a head with what all have, and blocks as they come."""

    def __init__(self, **head: Any) -> None:
        self.head = np.zeros((), layout.HEAD)
        self.blocks = b""
        self.set(magic=layout.MAGIC, version=layout.VERSION, abi=1, pid=7, rank=0, ranks=1)
        self.set(init_ticks=SECOND, finalize_ticks=11 * SECOND, ended=layout.Ended.FINALIZED)
        self.head["start"] = (0, 0, START_UTC_S * 10**9)
        self.head["latest"] = (12 * SECOND, 12 * 10**9, (START_UTC_S + 12) * 10**9)
        self.set(**head)

    def set(self, **values: Any) -> None:
        for name, value in values.items():
            self.head[name] = value

    def block(self, kind: BlockKind, dtype: Any, more: bytes = b"", **values: Any) -> None:
        part = np.zeros((), dtype)
        for name, value in values.items():
            part[name] = value
        size = -(-(dtype.itemsize + len(more)) // GRAIN) * GRAIN
        part["kind"], part["bytes"] = kind, size
        self.blocks += (part.tobytes() + more).ljust(size, b"\0")

    def call(self, number: int, name: str, group: str) -> None:
        self.block(
            BlockKind.CALL, layout.CALL, call=number, name=name.encode(), group=group.encode()
        )

    def thread(self, number: int, resets: int = 0) -> None:
        self.block(BlockKind.THREAD, layout.THREAD, thread=number, resets=resets, step_ticks=SECOND)

    def site(self, number: int, call: int, ticks: Sequence[int], thread: int = 0) -> None:
        """One without frames, with calls that took so long: below 16 ticks each."""
        times = np.bincount(ticks, minlength=layout.BINS)
        self.block(
            BlockKind.SITE,
            layout.SITE,
            site=number,
            thread=thread,
            call=call,
            times=times,
            ticks=sum(ticks),
            least=min(ticks),
            most=max(ticks),
        )

    def cells(self, rows: Sequence[tuple[int, ...]], thread: int = 0) -> None:
        """In the order of layout.CELL."""
        table = np.array(rows, layout.CELL)
        self.block(BlockKind.CELLS, layout.CELLS, table.tobytes(), thread=thread, used=len(rows))

    def write(self, path: Path) -> Path:
        self.set(pieces=1)
        self.head["piece"][0] = (layout.PAGE, len(self.blocks) + GRAIN)
        path.write_bytes(self.head.tobytes().ljust(layout.PAGE, b"\0") + self.blocks + bytes(GRAIN))
        return path
