# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All settings of an MPI: what it tells of itself, what is below it, and what we know of them."""

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
"""What is below or beside an MPI and has settings of its own."""


def knobs(mpi: Mpi) -> tuple[Knob, ...]:
    """Every setting that is known of this MPI here. UserError: its library does not answer."""
    layers = BELOW.get(mpi.name, ())
    own = [*_own(mpi), *_of_layers(mpi, layers)]
    return tuple(with_catalogue(own, mpi, layers))


def with_catalogue(own: Iterable[Knob], mpi: Mpi, layers: Iterable[str]) -> Iterator[Knob]:
    """Each with our words; what is below the MPI and cannot be asked comes from the catalogue."""
    known = [
        entry
        for entry in catalogue.entries()
        if entry.of in (mpi.name, *layers) and entry.is_of_version(mpi.version)
    ]
    seen = set()
    for knob in own:
        seen.add(knob.variable)
        yield _explained(knob, known)
    for entry in known:
        if entry.of in layers and entry.variable not in seen and not entry.is_family:
            yield _by_name(entry)


def by_name(only: str | None = None) -> tuple[Knob, ...]:
    """Settings of MPIs that cannot be had here, and so cannot be asked or tried; none where `only`
    is none of them."""
    wanted = [of for of in catalogue.BY_NAME if only in (None, of)]
    found = []
    for entry in catalogue.entries():
        if entry.of in wanted:
            found.append(_by_name(entry))
    return tuple(found)


def search(found: Iterable[Knob], word: str, elsewhere: Iterable[Knob] = ()) -> tuple[Knob, ...]:
    """Knobs whose names hold this word, else those whose words do; a whole name is alone, also
    where it is that of a setting of another MPI. UserError: there is none."""
    every, others = tuple(found), tuple(elsewhere)
    wanted = word.lower()
    exact = []
    for knob in every + others:
        if wanted in (knob.variable.lower(), knob.control.lower()):
            exact.append(knob)
    named = [knob for knob in every if wanted in f"{knob.variable} {knob.control}".lower()]
    named = named or [knob for knob in others if wanted in knob.variable.lower()]
    told = [knob for knob in every if wanted in f"{knob.meaning} {knob.about}".lower()]
    for some in (exact, named, told):
        if some:
            return tuple(some)
    raise UserError(
        f"no setting has '{word}' in its name or description{_near(word, every + others)}"
    )


def from_control(variable: Variable, mpi: Mpi) -> Knob:
    """A control variable, with the environment variable that sets it."""
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
    """Intel MPI's control variables have other names than its environment variables, and the
    latter are told by its info program only."""
    if mpi.name == "intel":
        program = str(mpi.prefix / "bin" / "impi_info")
        texts = [tools.output([program, option], mpi.env) for option in ("-a", "-e")]
        if found := read_impi_info(*texts):
            yield from found
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


def _explained(knob: Knob, known: Iterable[catalogue.SettingEntry]) -> Knob:
    """An entry with the whole name counts more than one with a star."""
    fitting = [entry for entry in known if entry.fits(knob.variable)]
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
    """MPICH and those made from it tell the same scope for what is read once and at each call."""
    if scope == "constant":
        return "never"
    if mpi.abi != "ompi":
        return ""
    if scope == "readonly":
        return "start"
    return "running"


def _near(word: str, every: Iterable[Knob]) -> str:
    """The name, or the part or end of one, that the word may have been meant for."""
    known: set[str] = set()
    for knob in every:
        parts = knob.name.split("_")
        ends = ("_".join(parts[start:]) for start in range(len(parts)))
        known.update(text for text in (*parts, *ends) if len(text) > 2)
    return did_you_mean(word, sorted(known))
