# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from profiler/layout.hpp: change that file, not this one.
"""The layout of the profiler's files as numpy types; profiler/layout.hpp documents its fields."""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np

MAGIC = b"mpigprof"
VERSION = 6
PAGE = 65536
MOST_PIECES = 128
GRAIN = 64
MOMENT = np.dtype(
    [
        ("ticks", "u8"),
        ("monotonic_ns", "u8"),
        ("utc_ns", "u8"),
    ],
    align=True,
)
USAGE = np.dtype(
    [
        ("user_us", "u8"),
        ("system_us", "u8"),
        ("peak_kib", "u8"),
        ("minor_faults", "u8"),
        ("major_faults", "u8"),
        ("voluntary_switches", "u8"),
        ("involuntary_switches", "u8"),
    ],
    align=True,
)


class Loss(IntEnum):
    NONE = 0
    LIMIT = 1
    DISK = 2


class Ended(IntFlag):
    RUNNING = 0
    FINALIZED = 1
    EXITED = 2


PIECE = np.dtype(
    [
        ("offset", "u8"),
        ("bytes", "u8"),
    ],
    align=True,
)
HEAD = np.dtype(
    [
        ("magic", "S8"),
        ("version", "u4"),
        ("abi", "u4"),
        ("pid", "u8"),
        ("job", "u8"),
        ("rank", "i4"),
        ("ranks", "i4"),
        ("thread_level", "i4"),
        ("ended", "u4"),
        ("frames", "u4"),
        ("loss", "u4"),
        ("lost_calls", "u8"),
        ("lost_cells", "u8"),
        ("cut", "u8"),
        ("nested", "u8"),
        ("resets", "u8"),
        ("own_ticks", "u8"),
        ("inner_ticks", "u8"),
        ("start", MOMENT),
        ("latest", MOMENT),
        ("init_ticks", "u8"),
        ("finalize_ticks", "u8"),
        ("on_ticks", "u8"),
        ("on_since", "u8"),
        ("usage_start", USAGE),
        ("usage", USAGE),
        ("pieces", "u8"),
        ("piece", PIECE, (MOST_PIECES,)),
        ("handle_bits", "u8"),
        ("any_source", "i4"),
        ("null_process", "i4"),
        ("any_tag", "i4"),
        ("root", "i4"),
        ("host", "S256"),
        ("executable", "S512"),
        ("launched", "u8"),
    ],
    align=True,
)


class BlockKind(IntEnum):
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
    LINE = 15


BLOCK = np.dtype(
    [
        ("kind", "u4"),
        ("bytes", "u4"),
    ],
    align=True,
)


class About(IntEnum):
    WORDS = 0
    LIBRARY = 1


TEXT = np.dtype(
    [
        *BLOCK.descr,
        ("about", "u4"),
        ("length", "u4"),
    ],
    align=True,
)


class Takes(IntFlag):
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


CALL = np.dtype(
    [
        *BLOCK.descr,
        ("call", "u4"),
        ("takes", "u4"),
        ("name", "S48"),
        ("group", "S32"),
    ],
    align=True,
)
MODULE = np.dtype(
    [
        *BLOCK.descr,
        ("module", "u4"),
        ("id_bytes", "u4"),
        ("base", "u8"),
        ("id", "V32"),
        ("path_length", "u4"),
    ],
    align=True,
)
AWAITED = np.dtype(
    [
        ("comm", "u8"),
        ("peer", "i4"),
        ("tag", "i4"),
        ("call", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)
MOST_AWAITED = 8
PENDING = np.dtype(
    [
        ("since", "u8"),
        ("site", "u4"),
        ("requests", "i4"),
        ("comm", "u8"),
        ("peer", "i4"),
        ("tag", "i4"),
        ("source", "i4"),
        ("source_tag", "i4"),
        ("awaited", AWAITED, (MOST_AWAITED,)),
    ],
    align=True,
)
MOST_STEPS = 1000
THREAD = np.dtype(
    [
        *BLOCK.descr,
        ("thread", "u4"),
        ("resets", "u4"),
        ("latest", "u8"),
        ("pending", PENDING),
        ("start", "u8"),
        ("step_ticks", "u8"),
        ("step", "u8", (MOST_STEPS,)),
        ("sent", "u8", (MOST_STEPS,)),
        ("memory", "u4", (MOST_STEPS,)),
    ],
    align=True,
)
LINE = np.dtype(
    [
        *BLOCK.descr,
        ("line", "u4"),
        ("in_file", "u4"),
        ("function_length", "u4"),
        ("path_length", "u4"),
    ],
    align=True,
)
NO_MODULE = 0xFFFFFFFF
PYTHON_LINE = 0xFFFFFFFE
FRAME = np.dtype(
    [
        ("offset", "u8"),
        ("module", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)
BINS = 312
SITE = np.dtype(
    [
        *BLOCK.descr,
        ("site", "u4"),
        ("thread", "u4"),
        ("call", "u2"),
        ("region", "u2"),
        ("frames", "u4"),
        ("ticks", "u8"),
        ("least", "u8"),
        ("most", "u8"),
        ("failures", "u8"),
        ("times", "u8", (BINS,)),
    ],
    align=True,
)


class Counted(IntEnum):
    NONE = 0
    SENT = 1
    RECEIVED = 2
    REQUESTS = 3


ANY_SOURCE = -1
NULL_PROCESS = -2
NO_RANK = -3
CELL = np.dtype(
    [
        ("site", "u4"),
        ("comm", "u4"),
        ("peer", "i4"),
        ("way", "u1"),
        ("bin", "u1"),
        ("type", "u2"),
        ("count", "u8"),
        ("amount", "u8"),
        ("least", "u8"),
        ("most", "u8"),
        ("sends", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)
CELLS = np.dtype(
    [
        *BLOCK.descr,
        ("thread", "u4"),
        ("used", "u4"),
    ],
    align=True,
)
COMM = np.dtype(
    [
        *BLOCK.descr,
        ("comm", "u4"),
        ("rank", "i4"),
        ("size", "i4"),
        ("remote_size", "i4"),
        ("family", "u8"),
        ("births", "u8"),
        ("parent", "u4"),
        ("members", "u4"),
        ("handle", "u8"),
        ("maker", "u2"),
        ("unused", "u2"),
        ("name", "S68"),
    ],
    align=True,
)
MEMBERS = np.dtype(
    [
        *BLOCK.descr,
        ("members", "u4"),
        ("count", "u4"),
    ],
    align=True,
)
REGION = np.dtype(
    [
        *BLOCK.descr,
        ("region", "u4"),
        ("parent", "u4"),
        ("entered", "u8"),
        ("ticks", "u8"),
        ("name", "S96"),
    ],
    align=True,
)
TYPE = np.dtype(
    [
        *BLOCK.descr,
        ("type", "u4"),
        ("size", "u4"),
        ("name", "S64"),
        ("operation", "S48"),
    ],
    align=True,
)
CPU = np.dtype(
    [
        ("cpu", "u4"),
        ("node", "u4"),
        ("times", "u8"),
    ],
    align=True,
)
MOST_CPUS = 63
CPUS = np.dtype(
    [
        *BLOCK.descr,
        ("thread", "u4"),
        ("used", "u4"),
        ("cpu", CPU, (MOST_CPUS,)),
    ],
    align=True,
)
INSTANCE = np.dtype(
    [
        ("index", "u4"),
        ("thread", "u4"),
        ("site", "u4"),
        ("root", "i4"),
        ("posted", "u8"),
        ("entered", "u8"),
        ("left", "u8"),
        ("needs", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)
KEPT_PLACES = 256
KEPT = np.dtype(
    [
        *BLOCK.descr,
        ("of", "u4"),
        ("part", "u4"),
        ("instance", INSTANCE, (KEPT_PLACES,)),
    ],
    align=True,
)
INSTANCES = np.dtype(
    [
        *BLOCK.descr,
        ("comm", "u4"),
        ("call", "u2"),
        ("bin", "u1"),
        ("waits", "u1"),
        ("count", "u8"),
        ("from", "u8"),
        ("ticks", "u8"),
        ("level", "u4"),
        ("used", "u4"),
        ("kept", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)
OTHER_SIZES = 255
CHANNEL = np.dtype(
    [
        *BLOCK.descr,
        ("comm", "u4"),
        ("peer", "i4"),
        ("way", "u1"),
        ("tags", "u1"),
        ("unused", "u2"),
        ("level", "u4"),
        ("count", "u8"),
        ("from", "u8"),
        ("used", "u4"),
        ("kept", "u4"),
    ],
    align=True,
)
