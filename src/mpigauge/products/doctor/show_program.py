# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The MPI that a program needs, and where it can run, on a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.model.units import many
from mpigauge.model.width import wrap
from mpigauge.show.tables.text_table import text_table

if TYPE_CHECKING:
    from mpigauge.site.mpi.programs import Look, Suits
    from mpigauge.site.mpi.programs.loader import LoadedLibrary

_LABEL = 10
_KINDS = {
    "script": "a script: which programs it starts is only seen when it runs",
    "python": "Python",
    "other": "neither machine code nor a script that names what runs it",
}


def page(
    look: Look,
    each: Sequence[Suits],
    libraries: Mapping[str, str],
    hindrances: Sequence[str],
    width: int,
) -> Iterator[str]:
    """`libraries`: what those say of themselves that would be loaded, by their paths.
    `hindrances`: what stands in the way of another MPI."""
    yield f"{look.path}: {about(look)}"
    for label, text in (*_loads(look, libraries), *_calls(look)):
        yield from _labelled(label, text, width)
    if each:
        rows = [[one.label, _runs(one), _how(one)] for one in each]
        yield ""
        yield from text_table(["MPI", "runs it", "how, or why not"], rows, width)
    if hindrances:
        yield ""
        for text in hindrances:
            yield from wrap(text, width, initial_indent="! ", subsequent_indent="  ")


def about(look: Look) -> str:
    """The kind of program and the MPI for which it was made, in a line."""
    elf = look.elf
    if look.kind == "python" and look.module is None:
        return "Python without mpi4py: it calls no MPI that can be seen beforehand"
    if look.kind != "binary":
        what = _KINDS[look.kind]
        if look.module:
            return f"{what} with mpi4py, {_made_for(look)}"
        return what
    assert elf is not None
    linked = "statically linked" if look.static else "dynamically linked"
    bits = "" if elf.bits == 64 else f" ({elf.bits} bits)"
    return f"{elf.machine}{bits}, {linked}, {_made_for(look)}"


def _made_for(look: Look) -> str:
    if look.holds_mpi:
        return "with an MPI in itself"
    if not look.mpi_libraries:
        return "without MPI"
    labels = dict.fromkeys(family.label for family in look.families)
    names = ", ".join(library.name for library in look.mpi_libraries)
    return f"made for {' and '.join(labels)} ({names})"


def _loads(look: Look, libraries: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    label = "would load"
    for library in look.mpi_libraries:
        yield label, _location(library, libraries)
        label = ""
    lost = [each for each in look.libraries if each.path is None and each not in look.mpi_libraries]
    if lost:
        yield "not found", ", ".join(f"{each.name} (for {each.by})" for each in lost)


def _location(library: LoadedLibrary, libraries: Mapping[str, str]) -> str:
    if library.path is None:
        return f"{library.name}: it is found nowhere here"
    version = libraries.get(str(library.path), "")
    return f"{library.path}, by {library.through}" + (f" ({version})" if version else "")


def _calls(look: Look) -> Iterator[tuple[str, str]]:
    if look.calls:
        count = many(len(look.calls), "function")
        data = f", {many(len(look.data), 'variable')} of its library" if look.data else ""
        yield "takes", f"{count} of MPI{data}"
    for each in look.runtimes:
        yield "Fortran", f"{each.name}, {each.path or 'which is not here'}"


def _runs(one: Suits) -> str:
    if one.translated:
        return "translated"
    if one.directly:
        return "yes"
    return "no"


def _how(one: Suits) -> str:
    return "; ".join([*one.ways, *([f"--mpi {one.spec}"] if one.runs else [])])


def _labelled(label: str, text: str, width: int) -> list[str]:
    start = f"  {label:<{_LABEL}}  "
    return wrap(text, width, initial_indent=start, subsequent_indent=" " * len(start))


def to_json(
    look: Look, each: Sequence[Suits], libraries: Mapping[str, str], hindrances: Sequence[str]
) -> dict[str, Any]:
    return {
        "path": str(look.path),
        "kind": look.kind,
        "about": about(look),
        "made_for": list(look.abis),
        "unknown_mpis": list(look.unknown),
        "static": look.static,
        "libraries": [
            {
                "name": library.name,
                "path": str(library.path) if library.path else None,
                "through": library.through,
                "says": libraries.get(str(library.path), ""),
            }
            for library in look.mpi_libraries
        ],
        "functions": sorted(look.calls),
        "extensions": sorted(look.extensions),
        "data": sorted(look.data),
        "mpis": [
            {
                "mpi": one.label,
                "spec": one.spec,
                "directly": one.directly,
                "translated": one.translated,
                "ways": list(one.ways),
                "lacking": list(one.lacking),
            }
            for one in each
        ],
        "hindrances": list(hindrances),
    }
