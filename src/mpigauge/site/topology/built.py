# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How a machine is built, from either source, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from mpigauge.model.topology import Topology
from mpigauge.site.topology.hwloc import read_xml
from mpigauge.site.topology.levels import Levels
from mpigauge.site.topology.passport import plain
from mpigauge.site.topology.read import read

if TYPE_CHECKING:
    from pathlib import Path


def built(file: Path | None = None) -> Topology:
    """The machine in an XML of hwloc, or in a record of /sys, or that we stand on."""
    if file is None:
        return read()
    if file.suffix == ".txt":
        return read(file)
    return read_xml(file)


def as_json(topology: Topology) -> dict[str, Any]:
    """All that is known of how it is built, and the groups of PUs of each level."""
    known = {name: value for name, value in asdict(topology).items() if name in _NAMES}
    groups = {}
    for name, found in Levels.of(topology).groups.items():
        groups[name] = [sorted(g) for g in found]
    known_as: dict[str, Any] = plain(known)
    return known_as | {"levels": groups}


_NAMES = frozenset(field.name for field in fields(Topology))
