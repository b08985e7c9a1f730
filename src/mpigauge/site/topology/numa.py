# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads NUMA nodes, their memory and their distances from /sys."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.topology import Numa

if TYPE_CHECKING:
    from mpigauge.site.topology.files import Files

NODE = "sys/devices/system/node"


def numa_nodes(files: Files, total_bytes: int) -> tuple[Numa, ...]:
    """Returns the nodes in the order of their numbers. A node that is the only one has all of the
    machine's `total_bytes`: in virtual machines its own file may lack memory that was added."""
    names = (re.fullmatch(r"node(\d+)", name) for name in files.names(NODE))
    nodes = tuple(_node(files, number) for number in sorted(int(m[1]) for m in names if m))
    if len(nodes) == 1 and total_bytes:
        return (replace(nodes[0], bytes=total_bytes),)
    return nodes


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
