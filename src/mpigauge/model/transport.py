# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What carries messages: what a host offers, and what of it an MPI can be told to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WITHIN, BETWEEN = "within a host", "between hosts"
"""Which messages are meant, where an MPI tells what it uses for them."""


@dataclass(frozen=True)
class UcxLane:
    """A transport of UCX on a device."""

    transport: str
    """rc_mlx5, dc_mlx5, ud_verbs, tcp, posix, cma …"""
    device: str
    """mlx5_0:1, eth0, memory …: what UCX_NET_DEVICES takes."""
    kind: str
    """network, intra-node, accelerator or loopback"""


@dataclass(frozen=True)
class Provider:
    """A provider of libfabric that has connectionless endpoints, on a domain."""

    name: str
    """tcp, psm3, verbs;ofi_rxm …: what FI_PROVIDER takes."""
    domain: str


@dataclass(frozen=True)
class Offers:
    """What an MPI finds on a host; empty parts are not there, or cannot be asked."""

    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Of Open MPI, by framework: pml, btl, mtl, smsc."""
    netmods: tuple[str, ...] = ()
    """Of MPICH, its default first: ucx, ofi; tcp for ch3."""
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
    """What the MPI told of it in a trial on the same hosts; empty where it tells nothing."""


@dataclass(frozen=True)
class Transport:
    """What can be selected, by the same name for every MPI."""

    name: str
    """shm, tcp, tcp:eth0, ucx, ucx:mlx5_0:1, ucx:rc_mlx5@mlx5_0:1, ofi, ofi:psm3 …"""
    through: str
    """What of the MPI carries the messages then, in words."""
    settings: Mapping[str, str] = field(hash=False)
    """The environment variables that select it."""
    told: bool = True
    """Whether what the MPI tells of its transport is about this one."""
