# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names in records that mean the same to what plans a run and to what reads it."""

from __future__ import annotations

CONTROL = "control"
"""The arm that is the default once more: what differs between the two is chance (A/A)."""
COMPILER = "compiler"
OURS = "ours"
"""The loops of the kernels, beside those of one compiler."""
ORDER = "thread-order"
"""An option of benchmarks whose threads share work."""
MEMORY_ON = "memory-on"
LOCAL = "local"
COMPUTE_ON = "numa:"
"""Before the number of a NUMA node: ranks and threads are on the cores of that one."""
CHASED = "Chase_huge"
"""The latency that is measured on threads and on NUMA nodes."""
COPIES = ("Copy_once", "Copy_twice", "Copy_once_fresh", "Copy_twice_fresh")
MESSAGE = "PingPong"
