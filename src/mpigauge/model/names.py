# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names in records with the same meaning for the planner and for readers of results."""

from __future__ import annotations

DEFAULT = "default"
"""The name of the settings that a sweep compares others with."""
CONTROL = "control"
"""The arm that repeats the default: a difference between the two is chance (A/A)."""
COMPILER = "compiler"
OURS = "ours"
"""The loops of the kernels, next to those of one compiler."""
ORDER = "thread-order"
"""An option of benchmarks whose threads share work."""
MEMORY_ON = "memory-on"
LOCAL = "local"
COMPUTE_ON = "numa:"
"""The prefix of a NUMA node's number: ranks and threads are on the cores of that node."""
CHASED = "Chase_huge"
"""The latency that is measured on threads and on NUMA nodes."""
COPIES = ("Copy_once", "Copy_twice", "Copy_once_fresh", "Copy_twice_fresh")
MESSAGE = "PingPong"
