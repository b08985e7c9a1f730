# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What can be said of a profile before its program runs: a sentence for each thing that will hide
calls. The program runs in any case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import listed
from mpigauge.site.launch.lines.preload import PRELOAD
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
    """What is to be known of these programs of a line, in the environment that they will have;
    nothing of those that are not there. `here`: the environment before anything of ours."""
    said: dict[str, None] = {}
    for words in programs:
        try:
            found = look(words, env, folder)
        except UserError:
            continue  # the launcher says it better
        said |= dict.fromkeys(f"{words[0]} {each}" for each in _hidden(found))
    return [*said, *_preloaded(here)]


def unseen(programs: Sequence[Sequence[str]], env: Mapping[str, str]) -> list[str]:
    """After a run in which nobody was seen: which of its programs need no MPI, but for those
    of which more was said before."""
    said: dict[str, None] = {}
    for words in programs:
        try:
            found = look(words, env)
        except UserError:
            continue
        foretold_already = found.static or found.secure
        if found.kind == "binary" and not found.uses_mpi and not foretold_already:
            said[f"{words[0]} needs no library of MPI"] = None
    return [*said]


def _hidden(found: Look) -> Iterator[str]:
    """What hides calls, as what follows the program's name in a sentence."""
    if found.secure:
        yield "runs with another's rights (setuid), so nothing can be preloaded and no call is seen"
    elif found.holds_profiler:
        return
    elif found.static:
        yield f"is statically linked, so nothing can be preloaded and no call is seen; {STATIC}"
    elif found.holds_mpi:
        yield f"has its MPI linked into it, whose calls nothing preloaded can see; {STATIC}"
    elif found.unknown:
        yield (
            f"is made for {listed(found.unknown)}, whose ABI mpigauge does not know: its calls "
            "pass unseen"
        )
    elif len(found.abis) > 1:
        kinds = listed(WORDS[kind] for kind in found.abis)
        yield f"loads two MPIs ({kinds}); the one that is loaded first is profiled"


def _preloaded(env: Mapping[str, str]) -> Iterator[str]:
    if before := env.get(PRELOAD, "").strip():
        yield f"{PRELOAD} is set already ({before}): that is kept, behind the profiler's library"
