# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Intel MPI: shared memory, or libfabric, whose provider mlx stands above UCX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mpigauge.model.mpi import Mpi
from mpigauge.model.transport import WITHIN, Offers, Transport
from mpigauge.site.mpi.transports import ucx
from mpigauge.site.mpi.transports.registry import report_from, transports_of


@transports_of("intel")
def transports(mpi: Mpi, offers: Offers) -> Iterator[Transport]:
    del mpi
    yield Transport("shm", "fabric shm", {"I_MPI_FABRICS": "shm"})
    names = offers.provider_names
    if "tcp" in names:
        yield Transport("tcp", "fabric ofi, provider tcp", _provider("tcp"))
        for name in offers.interfaces:
            settings = {**_provider("tcp"), "FI_TCP_IFACE": name}
            yield Transport(f"tcp:{name}", f"fabric ofi, provider tcp on {name}", settings)
    if "mlx" in names:
        yield from ucx.lanes(offers, "fabric ofi, provider mlx", _provider("mlx"))
    yield Transport("ofi", "fabric ofi: the provider it chooses", {"I_MPI_FABRICS": "ofi"})
    for name in names:
        yield Transport(f"ofi:{name}", f"fabric ofi, provider {name}", _provider(name))


def _provider(name: str) -> dict[str, str]:
    return {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": name, "FI_PROVIDER": name}


@report_from("intel", {"I_MPI_DEBUG": "4"})
def used(text: str) -> str:
    """Parses the provider of libfabric and its cards; shared memory alone has none."""
    if "MPI startup():" not in text:
        return ""
    provider = re.search(r"libfabric provider: (\S+)", text)
    table = text.partition("Pin nic")[2].partition("=====")[0]
    cards = dict.fromkeys(re.findall(r"MPI startup\(\): \d+\s+\d+\s+(\S+)", table))
    if provider is None:
        return f"shm {WITHIN}"
    return f"provider {provider[1]}" + (f" on {', '.join(cards)}" if cards else "")
