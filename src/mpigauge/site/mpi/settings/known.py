# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All settings of an MPI: its own, those of the layers below it, and our descriptions of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.knob import Knob, Read
from mpigauge.site.mpi import tools
from mpigauge.site.mpi.settings import catalogue
from mpigauge.site.mpi.settings.control import Scope, Variable, variables
from mpigauge.site.mpi.settings.readers import read_fi_env, read_impi_info, read_ucx_config

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

BELOW = {
    "openmpi": ("ucx", "libfabric", "prrte"),
    "mpich": ("ucx", "libfabric", "hydra"),
    "intel": ("ucx", "libfabric"),
}
"""Layers below or next to an MPI that have settings of their own."""


def knobs(mpi: Mpi) -> tuple[Knob, ...]:
    """Returns every known setting of this MPI here. UserError: its library does not work."""
    layers = BELOW.get(mpi.name, ())
    own = [*_own(mpi), *_of_layers(mpi, layers)]
    return tuple(with_catalogue(own, mpi, layers))


def with_catalogue(own: Iterable[Knob], mpi: Mpi, layers: Iterable[str]) -> Iterator[Knob]:
    """Yields settings with our descriptions, and missing ones of layers from the catalogue."""
    entries = [
        entry
        for entry in catalogue.entries()
        if entry.of in (mpi.name, *layers) and entry.is_of_version(mpi.version)
    ]
    seen = set()
    for knob in own:
        seen.add(knob.variable)
        yield _explained(knob, entries)
    for entry in entries:
        if entry.of in layers and entry.variable not in seen and not entry.is_family:
            yield _by_name(entry)


def by_name(only: str | None = None) -> tuple[Knob, ...]:
    """Returns settings of MPIs that are not available for tests: all, or those of `only`."""
    mpis = [of for of in catalogue.BY_NAME if only in (None, of)]
    settings = []
    for entry in catalogue.entries():
        if entry.of in mpis:
            settings.append(_by_name(entry))
    return tuple(settings)


def search(own: Iterable[Knob], word: str, elsewhere: Iterable[Knob] = ()) -> tuple[Knob, ...]:
    """Returns knobs whose names contain this word, else those whose descriptions do; a complete
    name is alone, even if it is a setting of another MPI. UserError: it does not exist."""
    every, others = tuple(own), tuple(elsewhere)
    lowered = word.lower()
    exact = []
    for knob in every + others:
        if lowered in (knob.variable.lower(), knob.control.lower()):
            exact.append(knob)
    named = [knob for knob in every if lowered in f"{knob.variable} {knob.control}".lower()]
    named = named or [knob for knob in others if lowered in knob.variable.lower()]
    described = [knob for knob in every if lowered in f"{knob.meaning} {knob.about}".lower()]
    for some in (exact, named, described):
        if some:
            return tuple(some)
    raise UserError(
        f"no setting has '{word}' in its name or description{_near(word, every + others)}"
    )


def from_control(variable: Variable, mpi: Mpi) -> Knob:
    """Returns a control variable, with the environment variable that sets it."""
    return Knob(
        variable=_environment(variable.name, mpi),
        control=variable.name,
        kind=variable.kind,
        default=variable.value,
        choices=variable.choices,
        read=_read(variable.scope, mpi),
        level=variable.level,
        about=variable.about,
    )


def _own(mpi: Mpi) -> Iterator[Knob]:
    """Yields the MPI's own settings. Intel MPI's control variables have other names than its
    environment variables, which only its info program reports."""
    if mpi.name == "intel":
        program = str(mpi.prefix / "bin" / "impi_info")
        texts = [tools.output([program, option], mpi.env) for option in ("-a", "-e")]
        if reported := read_impi_info(*texts):
            yield from reported
            return
    for variable in variables(mpi):
        yield from_control(variable, mpi)


def _of_layers(mpi: Mpi, layers: Iterable[str]) -> Iterator[Knob]:
    if "ucx" in layers and (program := tools.program(mpi, "ucx_info", tools.UCT)):
        yield from read_ucx_config(tools.output([program, "-cf"], mpi.env))
    if "libfabric" in layers and (program := tools.program(mpi, "fi_info", tools.FABRIC_LIBRARY)):
        yield from read_fi_env(tools.output([program, "-e"], mpi.env))


def _by_name(entry: catalogue.SettingEntry) -> Knob:
    return Knob(
        variable=entry.variable,
        read=entry.read,
        meaning=entry.meaning,
        legal=entry.legal,
        of=catalogue.BY_NAME.get(entry.of, entry.of),
        tested=entry.tested,
    )


def _explained(knob: Knob, entries: Iterable[catalogue.SettingEntry]) -> Knob:
    """Adds the description of the catalogue, preferably of an entry with the complete name."""
    fitting = [entry for entry in entries if entry.fits(knob.variable)]
    if not fitting:
        return knob
    entry = min(fitting, key=lambda each: each.is_family)
    return replace(
        knob,
        meaning=entry.meaning,
        legal=entry.legal,
        read=entry.read or knob.read,
        family=entry.variable if entry.is_family else "",
    )


def _environment(control: str, mpi: Mpi) -> str:
    if mpi.abi == "ompi":
        return f"OMPI_MCA_{control}"
    if mpi.name == "intel":
        if "_INTEL_" in control:
            return re.sub(r"^MPIR_CVAR_INTEL_", "I_MPI_", control)
        return ""
    return control


def _read(scope: Scope, mpi: Mpi) -> Read:
    """Returns the time at which a setting is read. MPICH and its derivatives report the same scope
    for those read once and at each call."""
    if scope == "constant":
        return "never"
    if mpi.abi != "ompi":
        return ""
    if scope == "readonly":
        return "start"
    return "running"


def _near(word: str, every: Iterable[Knob]) -> str:
    """Returns a question for the name, or the part or end of one, that may have been meant."""
    names: set[str] = set()
    for knob in every:
        parts = knob.name.split("_")
        ends = ("_".join(parts[start:]) for start in range(len(parts)))
        names.update(text for text in (*parts, *ends) if len(text) > 2)
    return did_you_mean(word, sorted(names))
