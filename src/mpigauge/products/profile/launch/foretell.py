# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Predicts before a program runs which calls its profile will miss. The program runs in any
case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import listed
from mpigauge.products.profile.launch.preload import PRELOAD
from mpigauge.site.mpi.programs import look
from mpigauge.site.mpi.programs.suits import WORDS

if TYPE_CHECKING:
    from mpigauge.site.mpi.programs import Look

STATIC = (
    "link it to a shared library of MPI, or to what `mpigauge profile --archive` names, to see them"
)


def foretold(
    programs: Sequence[Sequence[str]],
    env: Mapping[str, str],
    here: Mapping[str, str],
    folder: Path = Path(),
) -> list[str]:
    """Returns warnings about the programs of a line in their environment; none for missing
    programs. `here`: the environment before our changes."""
    sentences: dict[str, None] = {}
    for words in programs:
        try:
            program = look(words, env, folder)
        except UserError:
            continue  # the launcher says it better
        sentences |= dict.fromkeys(f"{words[0]} {each}" for each in _hidden(program))
    return [*sentences, *_preloaded(here)]


def unseen(programs: Sequence[Sequence[str]], env: Mapping[str, str]) -> list[str]:
    """Returns after a run without any rank which programs need no MPI, except those that
    `foretold` warned about."""
    sentences: dict[str, None] = {}
    for words in programs:
        try:
            program = look(words, env)
        except UserError:
            continue
        foretold_already = program.static or program.secure
        if program.kind == "binary" and not program.uses_mpi and not foretold_already:
            sentences[f"{words[0]} needs no library of MPI"] = None
    return [*sentences]


def _hidden(program: Look) -> Iterator[str]:
    """Yields what hides calls, as the end of a sentence that begins with the program's name."""
    if program.secure:
        yield "runs with another's rights (setuid), so nothing can be preloaded and no call is seen"
    elif program.holds_profiler:
        return
    elif program.static:
        yield f"is statically linked, so nothing can be preloaded and no call is seen; {STATIC}"
    elif program.holds_mpi:
        yield f"has its MPI linked into it, whose calls nothing preloaded can see; {STATIC}"
    elif program.unknown:
        yield (
            f"is made for {listed(program.unknown)}, whose ABI mpigauge does not support: its "
            "calls are not recorded"
        )
    elif len(program.abis) > 1:
        kinds = listed(WORDS[kind] for kind in program.abis)
        yield f"loads two MPIs ({kinds}); the one that is loaded first is profiled"


def _preloaded(env: Mapping[str, str]) -> Iterator[str]:
    if before := env.get(PRELOAD, "").strip():
        yield f"{PRELOAD} is set already ({before}): that is kept, behind the profiler's library"
