# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The blocks of the file of one process, and the tables of names in it."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import BlockKind
from mpigauge.products.profile.read.rank_file import Comm, Module, Region, ReturnAddress, Type


class Blocks:
    """The blocks of a file, which are scanned once and indexed by kind."""

    def __init__(
        self, data: npt.NDArray[np.uint8], head: Any, ended_utc_s: float | None = None
    ) -> None:
        self.data, self.head, self.ended_utc_s = data, head, ended_utc_s
        self.blocks: dict[int, list[int]] = {kind: [] for kind in BlockKind}
        for kind, offset in self._all_blocks():
            self.blocks.setdefault(kind, []).append(offset)
        self.hz = self._rate()
        self.outdated = set(self._outdated())

    def _outdated(self) -> Iterator[int]:
        """Yields threads without a call since the last reset of the profile."""
        for part, _ in self._each(BlockKind.THREAD, layout.THREAD):
            if int(part["resets"]) < int(self.head["resets"]):
                yield int(part["thread"])

    def _all_blocks(self) -> Iterator[tuple[int, int]]:
        for piece in self.head["piece"][: int(self.head["pieces"])]:
            at, end = int(piece["offset"]), int(piece["offset"] + piece["bytes"])
            end = min(end, self.data.size)
            while at + 8 <= end:
                kind, size = (int(word) for word in self.data[at : at + 8].view("u4"))
                if size == 0 or at + size > end:
                    break
                yield kind, at
                at += size

    def _rate(self) -> float:
        """Returns the ticks per second, from the two moments at which all clocks were read."""
        start, latest = self.head["start"], self.head["latest"]
        span_ns = int(latest["monotonic_ns"]) - int(start["monotonic_ns"])
        ticks = int(latest["ticks"]) - int(start["ticks"])
        if span_ns > 0 and ticks > 0:
            return ticks * 1e9 / span_ns
        return 1e9

    def _each(self, kind: BlockKind, dtype: np.dtype[Any]) -> Iterator[tuple[Any, int]]:
        """Yields the fixed part of each block of a kind, and its end offset."""
        for at in self.blocks[kind]:
            end = at + dtype.itemsize
            if end <= self.data.size:
                yield self.data[at:end].view(dtype)[0], end

    def _text(self, at: int, length: int) -> str:
        return sys.intern(self.data[at : at + length].tobytes().decode("utf-8", "replace"))

    def _seconds(self, ticks: int) -> float:
        return float(ticks) / self.hz

    def _texts(self) -> dict[int, str]:
        parts = self._each(BlockKind.TEXT, layout.TEXT)
        return {int(part["about"]): self._text(at, int(part["length"])) for part, at in parts}

    def _calls(self) -> dict[int, tuple[str, str]]:
        parts = self._each(BlockKind.CALL, layout.CALL)
        return {
            int(part["call"]): (text_of(part["name"]), text_of(part["group"])) for part, _ in parts
        }

    def _modules(self) -> dict[int, Module]:
        modules = {}
        for part, at in self._each(BlockKind.MODULE, layout.MODULE):
            identity = bytes(part["id"])[: int(part["id_bytes"])]
            path = self._text(at, int(part["path_length"]))
            modules[int(part["module"])] = Module(path, identity.hex())
        return modules

    def _lines(self) -> dict[int, ReturnAddress]:
        """Returns the lines of Python by their numbers."""
        lines = {}
        for part, at in self._each(BlockKind.LINE, layout.LINE):
            middle = at + int(part["function_length"])
            function = self._text(at, middle - at)
            path = self._text(middle, int(part["path_length"]))
            module = Module(path, "", function or "<unknown>")
            lines[int(part["line"])] = ReturnAddress(module, int(part["in_file"]))
        return lines

    def _regions(self) -> dict[int, Region]:
        regions: dict[int, Region] = {}
        for part, _ in self._each(BlockKind.REGION, layout.REGION):
            around = regions.get(int(part["parent"]))
            path = f"{around.path}/{text_of(part['name'])}" if around else text_of(part["name"])
            seconds = self._seconds(int(part["ticks"]))
            regions[int(part["region"])] = Region(path, int(part["entered"]), seconds)
        return regions

    def _comms(self) -> dict[int, Comm]:
        calls = self._calls()
        members = self._members()
        comms: dict[int, Comm] = {}
        for part, _ in self._each(BlockKind.COMM, layout.COMM):
            comms[int(part["comm"])] = Comm(
                number=int(part["comm"]),
                name=text_of(part["name"]),
                rank=int(part["rank"]),
                size=int(part["size"]),
                remote_size=int(part["remote_size"]),
                members=members.get(int(part["members"]), ()),
                family=int(part["family"]),
                births=int(part["births"]),
                parent=int(part["parent"]),
                maker=calls.get(int(part["maker"]), ("", ""))[0],
            )
        return comms

    def _members(self) -> dict[int, tuple[int, ...]]:
        members = {}
        for part, at in self._each(BlockKind.MEMBERS, layout.MEMBERS):
            ranks = self.data[at : at + 4 * int(part["count"])]
            members[int(part["members"])] = _ranks_in(ranks.tobytes())
        return members

    def _types(self) -> dict[int, Type]:
        types = {}
        for part, _ in self._each(BlockKind.TYPE, layout.TYPE):
            name, operation = text_of(part["name"]), text_of(part["operation"])
            types[int(part["type"])] = Type(name, operation, int(part["size"]))
        return types

    def _cpus(self) -> dict[int, tuple[int, int]]:
        seen: dict[int, tuple[int, int]] = {}
        for part, _ in self._each(BlockKind.CPUS, layout.CPUS):
            if int(part["thread"]) in self.outdated:
                continue
            for each in part["cpu"][: int(part["used"])]:
                cpu = int(each["cpu"])
                before = seen.get(cpu, (0, 0))[1]
                seen[cpu] = (int(each["node"]), before + int(each["times"]))
        return dict(sorted(seen.items()))


@lru_cache(maxsize=256)
def _ranks_in(content: bytes) -> tuple[int, ...]:
    """Returns ranks of 32 bits. Files of one job have equal lists, which share their memory."""
    return tuple(np.frombuffer(content, "i4").tolist())


@lru_cache(maxsize=4096)
def shared(value: Hashable) -> Any:
    """Returns the first one of equal values, as the files of one job have many in common."""
    return value


def text_of(text: Any) -> str:
    return sys.intern(bytes(text).split(b"\0")[0].decode("utf-8", "replace"))
