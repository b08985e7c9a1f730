# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Open MPI: a PML, below which BTLs, UCX, or an MTL with libfabric carry the messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.transport import BETWEEN, WITHIN, Offers, Transport
from mpigauge.site.mpi.transports import ucx
from mpigauge.site.mpi.transports.registry import report_from, transports_of

SHARED = ("sm", "vader")
"""The BTL for shared memory: sm since version 5, vader before, when sm was an old one."""
UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
}
"""The settings that select UCX, which Open MPI otherwise uses only with certain network cards."""

WITHIN_A_NODE = ("shm", "sm2")
"""Providers that MTL ofi refuses, as they reach no other node."""
NOT_OF_ITSELF = ("tcp", "udp", "sockets", "net", "rstream", "usnic", "UDP")
"""Providers that MTL ofi uses only if they are named."""


@transports_of("openmpi")
def transports(mpi: Mpi, offers: Offers) -> Iterator[Transport]:
    if not offers.components:
        raise UserError(
            f"{mpi.label} does not list its components: there is no ompi_info beside "
            f"{mpi.mpiexec}, or it fails; give the settings with --set"
        )
    pml, btl = offers.components.get("pml", ()), offers.components.get("btl", ())
    if "ob1" in pml:
        if shared := _shared(mpi, btl):
            yield Transport("shm", f"PML ob1, BTL {shared}", _ob1(shared))
        if "tcp" in btl:
            yield Transport("tcp", "PML ob1, BTL tcp", _ob1("tcp"))
            for name in offers.interfaces:
                settings = {**_ob1("tcp"), **_mca({"btl_tcp_if_include": name})}
                yield Transport(f"tcp:{name}", f"PML ob1, BTL tcp on {name}", settings)
    if "ucx" in pml:
        yield from ucx.lanes(offers, "PML ucx", UCX)
    if "cm" in pml and "ofi" in offers.components.get("mtl", ()):
        yield from _ofi(offers)


def _shared(mpi: Mpi, btl: tuple[str, ...]) -> str:
    major = mpi.version.partition(".")[0]
    names = SHARED if major.isdigit() and int(major) >= 5 else SHARED[::-1]
    return next((name for name in names if name in btl), "")


def _ofi(offers: Offers) -> Iterator[Transport]:
    through = {"pml": "cm", "mtl": "ofi"}
    names = [name for name in offers.provider_names if name not in WITHIN_A_NODE]
    if any(name.partition(";")[0] not in NOT_OF_ITSELF for name in names):
        yield Transport("ofi", "PML cm, MTL ofi: the provider it chooses", _mca(through))
    for name in names:
        settings = {**_mca({**through, "mtl_ofi_provider_include": name}), "FI_PROVIDER": name}
        yield Transport(f"ofi:{name}", f"PML cm, MTL ofi, provider {name}", settings)


def _ob1(btl: str) -> dict[str, str]:
    return _mca({"pml": "ob1", "btl": f"self,{btl}"})


def _mca(parameters: Mapping[str, str]) -> dict[str, str]:
    return {f"OMPI_MCA_{name}": value for name, value in parameters.items()}


@report_from("openmpi", {"OMPI_MCA_ompi_display_comm": "mpi_finalize"})
def used(text: str) -> str:
    """Parses connections. Version 5 prints a table of them when a job ends and, below it, a line
    for each kind; a host with one rank has only that of the rank to itself."""
    kinds = {"on": WITHIN, "off": BETWEEN}
    pattern = r"^\s*(on|off)-host:\s*(?:all )?connections are (.+?)\s*$"
    connections = re.findall(pattern, text, re.MULTILINE)
    return ", ".join(
        f"{way} {kinds[where]}" for where, way in connections if way not in ("n/a", "self")
    )
