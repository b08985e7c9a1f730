# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""MPICH: a netmod between nodes, shared memory within; all but shm use the netmod."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from mpigauge.model.mpi import Mpi
from mpigauge.model.transport import Offers, Transport
from mpigauge.site.mpi.transports import ucx
from mpigauge.site.mpi.transports.registry import report_from, transports_of

NETWORK_ALONE = {"MPIR_CVAR_NOLOCAL": "1"}
"""The setting that disables shared memory, also within a node."""


@transports_of("mpich")
def transports(mpi: Mpi, offers: Offers) -> Iterator[Transport]:
    del mpi
    netmods = offers.netmods
    yield Transport("shm", "shared memory of MPICH", {"MPIR_CVAR_NOLOCAL": "0"}, is_reported=False)
    yield from _tcp(netmods, offers)
    if "ucx" in netmods:
        yield from ucx.lanes(offers, "netmod ucx", _netmod("ucx"))
    if "ofi" in netmods:
        yield Transport("ofi", "netmod ofi: the provider it chooses", _netmod("ofi"))
        for name in offers.provider_names:
            settings = {**_netmod("ofi"), "FI_PROVIDER": name}
            yield Transport(f"ofi:{name}", f"netmod ofi, provider {name}", settings)


def _tcp(netmods: tuple[str, ...], offers: Offers) -> Iterator[Transport]:
    """Yields TCP through the first netmod that has it."""
    if "tcp" in netmods:
        variable = "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE"
        yield from _over("netmod tcp", NETWORK_ALONE, variable, offers.interfaces)
    elif "ucx" in netmods and (devices := ucx.tcp_devices(offers)):
        settings = {**_netmod("ucx"), "UCX_TLS": "tcp,self"}
        yield from _over("netmod ucx, tcp", settings, "UCX_NET_DEVICES", devices)
    elif "ofi" in netmods and "tcp" in offers.provider_names:
        settings = {**_netmod("ofi"), "FI_PROVIDER": "tcp"}
        yield from _over("netmod ofi, provider tcp", settings, "FI_TCP_IFACE", offers.interfaces)


def _over(
    words: str, settings: Mapping[str, str], variable: str, interfaces: Iterable[str]
) -> Iterator[Transport]:
    yield Transport("tcp", words, dict(settings))
    for name in interfaces:
        yield Transport(f"tcp:{name}", f"{words} on {name}", {**settings, variable: name})


def _netmod(name: str) -> Mapping[str, str]:
    return {"MPIR_CVAR_CH4_NETMOD": name, **NETWORK_ALONE}


@report_from("mpich", {"MPIR_CVAR_DEBUG_SUMMARY": "1"})
def used(text: str) -> str:
    """Parses the netmod, which reports itself even if shared memory leaves it nothing to do."""
    if match := re.search(r"^libfabric provider: (\S+)", text, re.MULTILINE):
        return f"netmod ofi, provider {match[1]}"
    if "UCX netmod" in text:
        return "netmod ucx"
    return ""
