# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads NUMA nodes, their memory and their distances from /sys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.topology import Numa

if TYPE_CHECKING:
    from mpigauge.site.topology.files import Files

NODE = "sys/devices/system/node"


def numa_nodes(files: Files) -> tuple[Numa, ...]:
    names = (re.fullmatch(r"node(\d+)", name) for name in files.names(NODE))
    return tuple(_node(files, number) for number in sorted(int(m[1]) for m in names if m))


def distances(files: Files, nodes: tuple[Numa, ...]) -> tuple[tuple[int, ...], ...]:
    """Returns the matrix of distances, in the order of the nodes; empty if a row is missing."""
    texts = [files.text(f"{NODE}/node{node.number}/distance") or "" for node in nodes]
    rows = tuple(tuple(map(int, text.split())) for text in texts)
    if all(len(row) == len(nodes) for row in rows):
        return rows
    return ()


def _node(files: Files, number: int) -> Numa:
    folder = f"{NODE}/node{number}"
    total = re.search(r"MemTotal:\s*(\d+) kB", files.text(f"{folder}/meminfo") or "")
    return Numa(
        number=number,
        bytes=int(total[1]) * 1024 if total else None,
        pus=frozenset(parse_list((files.text(f"{folder}/cpulist") or "").strip())),
    )
