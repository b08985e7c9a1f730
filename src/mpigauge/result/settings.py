# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings of a run's MPI, from the catalogue; statements name no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.site.mpi.settings.catalogue import entries
from mpigauge.site.mpi.settings.known import BELOW

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView
    from mpigauge.site.mpi.settings.catalogue import SettingEntry

_TELLING = {"ucx": ("ucx",), "libfabric": ("ofi", "provider", "libfabric", "fabric")}
"""Words in the transport that a launch reports, by the layer below the MPI."""


def entries_of(view: RunView) -> Iterator[SettingEntry]:
    """The settings of the run's MPI in its version, and of the layers below it that it may have
    used."""
    layers = [name for name in BELOW.get(view.mpi_name, ()) if _may_be_used(view, name)]
    for entry in entries():
        own = entry.of == view.mpi_name and entry.is_of_version(view.mpi_version)
        if own or entry.of in layers:
            yield entry


def existing(view: RunView, *variables: str) -> list[str]:
    """The variables, of these, that the run's MPI has."""
    all_entries = list(entries_of(view))
    return [name for name in variables if any(name in entry.variables() for entry in all_entries)]


def _may_be_used(view: RunView, layer: str) -> bool:
    """True if the layer may have been used: always if no transport was reported."""
    used = f"{view.transport} {view.run.used}".strip().lower()
    return not used or any(word in used for word in _TELLING.get(layer, ()))
