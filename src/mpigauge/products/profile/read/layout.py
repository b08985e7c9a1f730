# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The layout of the profiler's files as numpy types, as in profiler/layout.hpp.

A file has a head, then pieces that are rows of blocks. Their parts are documented there.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any, Literal

import numpy as np

MAGIC = b"mpigprof"
VERSION = 5
PAGE = 65536
MOST_PIECES = 128
STEPS = 1000
BINS = 312
MOST_CPUS = 63

ANY_SOURCE, NULL_PROCESS, NO_RANK = -1, -2, -3
"""The special values of ranks."""


class BlockKind(IntEnum):
    """The kind of a block in a file."""

    UNFINISHED = 0
    TEXT = 1
    CALL = 2
    MODULE = 3
    THREAD = 4
    SITE = 5
    CELLS = 6
    COMM = 7
    MEMBERS = 8
    REGION = 9
    TYPE = 10
    CPUS = 11
    INSTANCES = 12
    CHANNEL = 13
    KEPT = 14


class Counted(IntEnum):
    """The contents of a cell: bytes sent or received, or requests; NONE: a collective."""

    NONE = 0
    SENT = 1
    RECEIVED = 2
    REQUESTS = 3


class Takes(IntFlag):
    """The arguments that a call has among those stored on entry, and whom it waits for."""

    COMM = 1
    TO = 2
    FROM = 4
    ROOT = 8
    TO_TAG = 16
    FROM_TAG = 32
    REQUESTS = 64
    ANY_REQUEST = 128
    WAITS_FOR_ALL = 256
    WAITS_FOR_ROOT = 512
    WAITS_AT_ROOT = 1024


FINALIZED, EXITED = 1, 2
ABIS = {1: "mpich", 2: "ompi", 3: "std"}
LOSSES = {0: "", 1: "limit", 2: "disk"}
ABOUT_WORDS, ABOUT_LIBRARY = 0, 1


def _fields(text: str, *more: tuple[Any, ...]) -> np.dtype[Any]:
    """Returns a structure of the fields in `text`, names and types, and of `more` fields."""
    words = text.split()
    return np.dtype([*zip(words[::2], words[1::2], strict=True), *more])


def _block(text: str, *more: tuple[Any, ...]) -> np.dtype[Any]:
    """Returns a structure of fields that begins with the head of all blocks."""
    return _fields("kind u4 bytes u4 " + text, *more)


MOMENT = _fields("ticks u8 monotonic_ns u8 utc_ns u8")
USAGE = _fields(
    "user_us u8 system_us u8 peak_kib u8 minor_faults u8 major_faults u8 "
    "voluntary_switches u8 involuntary_switches u8"
)
PIECE = _fields("offset u8 bytes u8")
_HEAD_BEFORE = _fields(
    "magic S8 version u4 abi u4 pid u8 job u8 rank i4 ranks i4 thread_level i4 ended u4 frames u4 "
    "loss u4 lost_calls u8 lost_cells u8 cut u8 nested u8 resets u8 own_ticks u8 inner_ticks u8"
)
HEAD = np.dtype(
    [
        *_HEAD_BEFORE.descr,
        *(("start", MOMENT), ("latest", MOMENT), ("init_ticks", "u8"), ("finalize_ticks", "u8")),
        *(("on_ticks", "u8"), ("on_since", "u8"), ("usage_start", USAGE), ("usage", USAGE)),
        *(("pieces", "u8"), ("piece", PIECE, (MOST_PIECES,))),
        *(("handle_bits", "u8"), ("any_source", "i4"), ("null_process", "i4")),
        *(("any_tag", "i4"), ("root", "i4"), ("host", "S256"), ("executable", "S512")),
    ]
)
TEXT = _block("about u4 length u4")
CALL = _block("call u4 takes u4 name S48 group S32")
MODULE = _block("module u4 id_bytes u4 base u8 id V32 path_length u4 padding u4")
MOST_AWAITED = 8
NOT_KNOWN = 0xFFFFFFFF
"""The call of a request that nobody remembers."""
AWAITED = _fields("comm u8 peer i4 tag i4 call u4 unused u4")
PENDING = np.dtype(
    [
        *_fields("since u8 site u4 requests i4 comm u8 peer i4 tag i4").descr,
        *_fields("source i4 source_tag i4").descr,
        ("awaited", AWAITED, (MOST_AWAITED,)),
    ]
)
THREAD = _block(
    "thread u4 resets u4 latest u8",
    ("pending", PENDING),
    ("start", "u8"),
    ("step_ticks", "u8"),
    ("step", "u8", (STEPS,)),
    ("memory", "u4", (STEPS,)),
)
FRAME = _fields("offset u8 module u4 unused u4")
SITE = _block(
    "site u4 thread u4 call u2 region u2 frames u4 ticks u8 least u8 most u8 failures u8",
    ("times", "u8", (BINS,)),
)
CELL = _fields(
    "site u4 comm u4 peer i4 way u1 bin u1 type u2 count u8 amount u8 least u8 most u8 "
    "sends u4 unused u4"
)
CELLS = _block("thread u4 used u4")
COMM = _block(
    "comm u4 rank i4 size i4 remote_size i4 family u8 births u8 parent u4 members u4 "
    "handle u8 maker u2 unused u2 name S68"
)
MEMBERS = _block("members u4 count u4")
REGION = _block("region u4 parent u4 entered u8 ticks u8 name S96")
TYPE = _block("type u4 size u4 name S64 operation S48")
CPU = _fields("cpu u4 node u4 times u8")
CPUS = _block("thread u4 used u4", ("cpu", CPU, (MOST_CPUS,)))
OTHER_SIZES = 255
WAITS: dict[int, Literal["all", "for_root", "at_root"]] = {1: "all", 2: "for_root", 3: "at_root"}
INSTANCE = _fields(
    "index u4 thread u4 site u4 root i4 posted u8 entered u8 left u8 needs u4 unused u4"
)
KEPT_PLACES = 256
KEPT = _block("of u4 part u4", ("instance", INSTANCE, (KEPT_PLACES,)))
INSTANCES = _block(
    "comm u4 call u2 bin u1 waits u1 count u8 from u8 ticks u8 level u4 used u4 kept u4 unused u4"
)
CHANNEL = _block(
    "comm u4 peer i4 way u1 tags u1 unused u2 level u4 count u8 from u8 used u4 kept u4"
)
