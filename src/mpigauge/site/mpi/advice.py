# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Advice for settings that select a transport by hand, if a launch with them fails."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import settings_in_words
from mpigauge.site.mpi.transports.choose import transports
from mpigauge.site.mpi.transports.probe import offers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.model.mpi import Mpi
    from mpigauge.model.transport import Transport

_MCA = "OMPI_MCA_"


def advice(mpi: Mpi, settings: Mapping[str, str]) -> str:
    """Returns the option that also sets what these settings need; empty: they select no transport,
    or nothing is missing, or the transports of this MPI are unknown."""
    if not settings:
        return ""
    with suppress(UserError):
        return advice_among(transports(mpi, offers(mpi)), settings)
    return ""


def advice_among(offered: Iterable[Transport], settings: Mapping[str, str]) -> str:
    """The advice if these transports are offered."""
    chosen = {name.removeprefix(_MCA): value for name, value in settings.items()}
    by_name: dict[str, dict[str, str]] = {}
    for each in offered:
        by_name[each.name] = {key.removeprefix(_MCA): v for key, v in each.settings.items()}
    selecting = chosen.keys() & {key for each in by_name.values() for key in each}
    if not selecting:
        return ""
    lacking: dict[str, dict[str, str]] = {}
    for name, needed in by_name.items():
        if all(needed.get(key) == chosen[key] for key in selecting):
            lacking[name] = {key: value for key, value in needed.items() if key not in chosen}
    if not lacking:
        return "`mpigauge mpi transports` lists what this MPI can use here, for --transport"
    name = min(lacking, key=lambda each: len(lacking[each]))
    if not lacking[name]:
        return ""
    return f"--transport {name} also sets {settings_in_words(lacking[name])}"
