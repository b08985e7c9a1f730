# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The hardware of a machine from either source, and its JSON form."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from mpigauge.model.topology import Topology
from mpigauge.site.topology.levels import Levels
from mpigauge.site.topology.passport import plain
from mpigauge.site.topology.read import read

if TYPE_CHECKING:
    from pathlib import Path


def built(file: Path | None = None) -> Topology:
    """Reads the machine from an hwloc XML file, from a record of /sys (.txt), or this one if no
    file is given."""
    if file is None:
        return read()
    if file.suffix == ".txt":
        return read(file)
    from mpigauge.site.topology.hwloc import read_xml

    return read_xml(file)


def as_json(topology: Topology) -> dict[str, Any]:
    """Returns the topology and the groups of PUs of each level as JSON."""
    members = {name: value for name, value in asdict(topology).items() if name in _NAMES}
    groups = {}
    for name, level_groups in Levels.of(topology).groups.items():
        groups[name] = [sorted(g) for g in level_groups]
    as_plain: dict[str, Any] = plain(members)
    return as_plain | {"levels": groups}


_NAMES = frozenset(field.name for field in fields(Topology))
