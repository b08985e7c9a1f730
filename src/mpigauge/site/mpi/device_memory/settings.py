# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings with which a launch measures device memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.device_memory.registry import SUPPORT, Support

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.mpi.device_memory.libraries import CudaLibraries

UCX_TLS = "UCX_TLS"
_CUDA = frozenset({"cuda", "cuda_copy"})
"""The transports of UCX without which it takes device memory for the host's."""
_PREFIX = "OMPI_MCA_"
_LIBRARIES = "LD_LIBRARY_PATH"
"""A variable that is no choice in the environment: the MPI's own value ends with that one."""
_UNKNOWN = Support("", {}, "give its settings for CUDA with --set", is_known=False)


def support_of(mpi: Mpi, cuda: CudaLibraries) -> Support:
    """Returns the support of device memory of an MPI with these libraries."""
    if mpi.name not in SUPPORT:
        return _UNKNOWN
    return SUPPORT[mpi.name](mpi, cuda)


def device_settings(
    mpi: Mpi,
    cuda: CudaLibraries,
    chosen: Mapping[str, str],
    env: Mapping[str, str],
    selected: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Returns the settings that this MPI needs for device memory, without those that the user set.

    `cuda` has the libraries of this host; without the driver's library there are no settings.
    `chosen` has the user's settings and variables for the launch, `env` the environment. Both take
    precedence, also if they name an MCA parameter in its other form (pml, OMPI_MCA_pml).
    `selected` has the settings of --transport, which take precedence too; but if they name
    transports of UCX, those of CUDA are added, so this result goes over them.
    UserError: the user's UCX_TLS leaves out CUDA, so UCX would read device memory on the CPU.
    """
    if cuda.driver is None:
        return {}
    _refuse_tls_without_cuda({**env, **chosen})
    given = {*chosen, *(env.keys() - {_LIBRARIES}), *(selected or {})}
    names = given | {f"{_PREFIX}{name}" for name in given}
    needed = support_of(mpi, cuda).settings
    settings = {name: value for name, value in needed.items() if name not in names}
    tls = (selected or {}).get(UCX_TLS, "")
    if tls and UCX_TLS not in {**env, **chosen} and not _names_cuda(tls):
        settings[UCX_TLS] = f"{tls},cuda"
    return settings


def _refuse_tls_without_cuda(settings: Mapping[str, str]) -> None:
    tls = settings.get(UCX_TLS, "")
    if tls and not _names_cuda(tls):
        right = f"{tls},cuda" if not tls.startswith("^") else "the list without cuda"
        raise UserError(
            f"{UCX_TLS}={tls} leaves out cuda, so UCX would read device memory on the CPU; "
            f"write {UCX_TLS}={right}, or leave it away"
        )


def _names_cuda(tls: str) -> bool:
    """True if a list of UCX's transports has those of CUDA; with ^ it excludes its words."""
    words = {word.strip().lstrip("\\") for word in tls.removeprefix("^").split(",")}
    if tls.startswith("^"):
        return not words & _CUDA
    return bool(words & {*_CUDA, "all"})
