# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports settings that an MPI would silently ignore, before anything starts.

A setting that is varied has to be known, else a sweep has arms that do not differ; others cause a
remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.site.mpi.settings import catalogue

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob
    from mpigauge.model.mpi import Mpi


def refuse_unknown(names: Iterable[str], every: Iterable[Knob], mpi: Mpi) -> None:
    """Raises a UserError if neither the MPI nor our catalogue of its layers has such a setting."""
    for name, hint in unknown(names, every, mpi):
        raise UserError(
            f"{mpi.label} has no setting {name}{hint}; `mpigauge mpi settings --mpi {mpi.spec}` "
            "lists them; --env sets any other variable, and a sweep varies one as env:NAME"
        )


def unknown(names: Iterable[str], every: Iterable[Knob], mpi: Mpi) -> Iterator[tuple[str, str]]:
    """Yields the unknown names, each with a question for the name that may have been meant."""
    existing = {name for knob in every for name in (knob.variable, knob.control) if name}
    for name in names:
        if name not in existing and not _in_catalogue(name, mpi):
            yield name, did_you_mean(name, sorted(existing))


def _in_catalogue(name: str, mpi: Mpi) -> bool:
    """True if the catalogue has the name, also by a star for names that the MPI does not report."""
    return any(
        entry.fits(name) for entry in catalogue.entries() if entry.of in _LAYERS | {mpi.name}
    )


_LAYERS = {"ucx", "libfabric"}
