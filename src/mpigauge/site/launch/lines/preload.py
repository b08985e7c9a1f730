# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The same launch line with variables that all of its ranks find, also those on other hosts.

Nothing else of the line changes. What it says itself of such a variable is taken out, since
launchers do not agree whether the first or the last word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines import hydra, openmpi, srun
from mpigauge.site.launch.lines.grammar import Files, LineDraft, Spoken
from mpigauge.site.launch.lines.line import Environment
from mpigauge.site.launch.lines.read import GRAMMARS

PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True)
class _Way:
    """How a launcher is told variables: before the program of each set of ranks."""

    says: tuple[str, ...]
    """Options that do so."""
    words: Callable[[Environment, Mapping[str, str], Mapping[str, str]], list[str]]
    """Those for these variables, beside what the set of ranks is told already; the last are the
    variables here."""


def with_variables(
    words: Sequence[str],
    dialect: str,
    variables: Mapping[str, str],
    here: Mapping[str, str],
    files: Files,
) -> list[str]:
    """The words of a line whose ranks find these variables. A library to be preloaded goes before
    what the line, or else the environment `here`, has preloaded already.

    UserError: they are not words of this dialect, or it cannot be told variables.
    """
    if dialect not in WAYS:
        raise UserError(f"{words[0]}: ranks cannot be told variables in the words of {dialect}")
    way = WAYS[dialect]
    draft = GRAMMARS[dialect].draft(words, files)
    gone = {at for each in draft.spoken if _sets(draft, each, way, variables)
            for at in range(each.start, each.end)}  # fmt: skip
    made = [words[0]]
    for at, word in enumerate(draft.words):
        if at in draft.starts:
            made += _told(draft, draft.starts.index(at), way, variables, here)
        if at not in gone:
            made.append(word)
    return made


def joined(library: str, before: str) -> str:
    """What is preloaded where something is preloaded already: ours is asked first."""
    kept = [each for each in before.replace(" ", ":").split(":") if each and each != library]
    return ":".join([library, *kept])


def _told(
    draft: LineDraft, number: int, way: _Way, variables: Mapping[str, str], here: Mapping[str, str]
) -> list[str]:
    """What is said before the first word of a program."""
    own, whole = draft.programs[number].env, draft.env.done()
    wanted = dict(variables)
    if PRELOAD in wanted:
        before = own.sets.get(PRELOAD, whole.sets.get(PRELOAD, here.get(PRELOAD, "")))
        wanted[PRELOAD] = joined(wanted[PRELOAD], before)
    return way.words(own, wanted, here)


def _sets(draft: LineDraft, spoken: Spoken, way: _Way, variables: Mapping[str, str]) -> bool:
    """Whether an option says something of these variables that we say ourselves."""
    if not set(spoken.names) & set(way.says):
        return False
    if way is WAYS["srun"]:
        return True
    said = draft.words[spoken.start : spoken.end]
    names = [each.partition("=")[0] for word in said for each in (word, word[2:])]
    return any(_means(name, variable) for name in names for variable in variables)


def _means(name: str, variable: str) -> bool:
    """LD_PRELOAD itself, or LD_*."""
    return name == variable or (name.endswith("*") and variable.startswith(name[:-1]))


def _openmpi(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """What a name with a star stood for is told by its own name where it could mean ours."""
    stars = [name for name in env.passes if name.endswith("*")]
    stars = [star for star in stars if any(_means(star, variable) for variable in variables)]
    also = [each for each in here if each not in variables and any(_means(s, each) for s in stars)]
    told = [*also, *(f"{name}={value}" for name, value in variables.items())]
    return [word for each in told for word in ("-x", each)]


def _hydra(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    del env, here
    return [word for name, value in variables.items() for word in ("-env", name, value)]


def _srun(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """One list holds all; a value with a comma stands in quotes."""
    del here
    sets = {**env.sets, **variables}
    listed = ["ALL"] if env.inherits else []
    listed += [name for name in env.passes if name not in variables]
    listed += [f"{name}={_quoted(value)}" for name, value in sets.items()]
    return [f"--export={','.join(listed)}"]


def _quoted(value: str) -> str:
    return f"'{value}'" if "," in value else value


WAYS = {
    openmpi.GRAMMAR.name: _Way(("x",), _openmpi),
    hydra.GRAMMAR.name: _Way(("genv", "env"), _hydra),
    srun.GRAMMAR.name: _Way(("export",), _srun),
}
