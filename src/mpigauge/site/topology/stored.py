# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A topology from a passport, as it was when the run was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpigauge.model.topology import Cache, Device, Numa, Pu, Topology


def stored(data: Mapping[str, Any]) -> Topology:
    """Reverses topology.passport.plain. KeyError or TypeError: the data are not a topology."""
    try:
        topology = _topology(data)
    except (AttributeError, ValueError) as error:
        raise TypeError(str(error)) from None
    if not all(isinstance(pu.number, int) for pu in topology.pus):
        raise TypeError("it has a processor without a number")
    if not all(_is_cache(cache) for cache in topology.caches):
        raise TypeError("it has a cache without a level or a size")
    if not topology.pus or not all(each.pus for each in topology.caches):
        raise TypeError("it has a part without processors")
    return topology


def _topology(data: Mapping[str, Any]) -> Topology:
    return Topology(
        hostname=data["hostname"],
        architecture=data["architecture"],
        cpu_model=data["cpu_model"],
        pus=tuple(Pu(**each) for each in data["pus"]),
        caches=tuple(Cache(**_with_pus(each)) for each in data["caches"]),
        numa=tuple(Numa(**_with_pus(each)) for each in data["numa"]),
        distances=tuple(tuple(row) for row in data["distances"]),
        devices=tuple(
            Device(
                **_with_pus(each)
                | {"also": tuple(each["also"]), "bridges": tuple(each.get("bridges", ()))}
            )
            for each in data["devices"]
        ),
        allowed=frozenset(data["allowed"]),
        allowed_numa=frozenset(data["allowed_numa"]),
        left_out=frozenset(data["left_out"]),
    )


def _is_cache(cache: Cache) -> bool:
    values: tuple[object, ...] = (cache.level, cache.bytes)
    return all(isinstance(value, int) for value in values)


def _with_pus(data: Mapping[str, Any]) -> dict[str, Any]:
    return dict(data) | {"pus": frozenset(data["pus"])}
