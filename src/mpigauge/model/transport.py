# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Transports: those of a host, and those that an MPI can be configured to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WITHIN, BETWEEN = "within a host", "between hosts"
"""The kinds of messages for which an MPI reports its transport."""


@dataclass(frozen=True)
class UcxLane:
    """A transport of UCX on a device."""

    transport: str
    """rc_mlx5, dc_mlx5, ud_verbs, tcp, posix, cma …"""
    device: str
    """The device as UCX_NET_DEVICES takes it: mlx5_0:1, eth0, memory …"""
    kind: str
    """network, intra-node, accelerator or loopback."""


@dataclass(frozen=True)
class Provider:
    """A provider of libfabric that has connectionless endpoints, on a domain."""

    name: str
    """The provider as FI_PROVIDER takes it: tcp, psm3, verbs;ofi_rxm …"""
    domain: str


@dataclass(frozen=True)
class Offers:
    """The transports that an MPI finds on a host; parts that are missing or unknown are empty."""

    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Components of Open MPI, by framework: pml, btl, mtl, smsc."""
    netmods: tuple[str, ...] = ()
    """Netmods of MPICH, its default first: ucx, ofi; tcp for ch3."""
    ucx: tuple[UcxLane, ...] = ()
    providers: tuple[Provider, ...] = ()
    interfaces: tuple[str, ...] = ()
    """Network interfaces that are up."""

    @property
    def ucx_network(self) -> tuple[UcxLane, ...]:
        return tuple(lane for lane in self.ucx if lane.kind == "network")

    @property
    def provider_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(provider.name for provider in self.providers))


@dataclass(frozen=True)
class Selected:
    """The transport of a run."""

    name: str
    settings: Mapping[str, str] = field(hash=False)
    used: str
    """The transport that the MPI reported in a trial on the same hosts; empty: it reports none."""


@dataclass(frozen=True)
class Transport:
    """A transport that can be selected, by the same name for every MPI."""

    name: str
    """shm, tcp, tcp:eth0, ucx, ucx:mlx5_0:1, ucx:rc_mlx5@mlx5_0:1, ofi, ofi:psm3 …"""
    through: str
    """The part of the MPI that then carries messages, in words."""
    settings: Mapping[str, str] = field(hash=False)
    """The environment variables that select it."""
    is_reported: bool = True
    """True if the transport that the MPI reports corresponds to this one."""
