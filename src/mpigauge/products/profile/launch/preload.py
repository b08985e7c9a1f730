# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rewrites a launch line so that all of its ranks get certain variables, also on other hosts.

Nothing else changes. The line's own settings of such variables are removed, since launchers do not
agree whether the first or the last one counts.
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
    """A launcher's options for variables, before the program of each set of ranks."""

    says: tuple[str, ...]
    """Names of options that set variables."""
    words: Callable[[Environment, Mapping[str, str], Mapping[str, str]], list[str]]
    """Returns the options for variables, from the environment of a set of ranks, the variables to
    add, and the environment here."""


def with_variables(
    words: Sequence[str],
    dialect: str,
    variables: Mapping[str, str],
    here: Mapping[str, str],
    files: Files,
) -> list[str]:
    """Returns the words of a line whose ranks get these variables. A library to preload goes before
    those that the line, or else the environment `here`, preloads already.

    UserError: the words are not of this dialect, or it has no options for variables.
    """
    if dialect not in WAYS:
        raise UserError(f"{words[0]}: ranks cannot get variables by the options of {dialect}")
    way = WAYS[dialect]
    draft = GRAMMARS[dialect].draft(words, files)
    gone = {at for each in draft.spoken if _sets(draft, each, way, variables)
            for at in range(each.start, each.end)}  # fmt: skip
    made = [words[0]]
    for at, word in enumerate(draft.words):
        if at in draft.starts:
            made += _variable_options(draft, draft.starts.index(at), way, variables, here)
        if at not in gone:
            made.append(word)
    return made


def joined(library: str, before: str) -> str:
    """Returns the value of LD_PRELOAD with our library first, before those of `before`."""
    kept = [each for each in before.replace(" ", ":").split(":") if each and each != library]
    return ":".join([library, *kept])


def _variable_options(
    draft: LineDraft, number: int, way: _Way, variables: Mapping[str, str], here: Mapping[str, str]
) -> list[str]:
    """Returns the options that go before the first word of a program."""
    own, whole = draft.programs[number].env, draft.env.done()
    combined = dict(variables)
    if PRELOAD in combined:
        before = own.sets.get(PRELOAD, whole.sets.get(PRELOAD, here.get(PRELOAD, "")))
        combined[PRELOAD] = joined(combined[PRELOAD], before)
    return way.words(own, combined, here)


def _sets(draft: LineDraft, spoken: Spoken, way: _Way, variables: Mapping[str, str]) -> bool:
    """True if an option sets one of these variables; the only list of srun counts in any case."""
    if not set(spoken.names) & set(way.says):
        return False
    if way is WAYS["srun"]:
        return True
    option_words = draft.words[spoken.start : spoken.end]
    names = [each.partition("=")[0] for word in option_words for each in (word, word[2:])]
    return any(_means(name, variable) for name in names for variable in variables)


def _means(name: str, variable: str) -> bool:
    """True if a name is the variable, or a pattern that matches it: LD_*."""
    return name == variable or (name.endswith("*") and variable.startswith(name[:-1]))


def _openmpi(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Returns -x options. A pattern that matches one of ours is replaced by all its names."""
    stars = [name for name in env.passes if name.endswith("*")]
    stars = [star for star in stars if any(_means(star, variable) for variable in variables)]
    also = [each for each in here if each not in variables and any(_means(s, each) for s in stars)]
    exports = [*also, *(f"{name}={value}" for name, value in variables.items())]
    return [word for each in exports for word in ("-x", each)]


def _hydra(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    del env, here
    return [word for name, value in variables.items() for word in ("-env", name, value)]


def _srun(env: Environment, variables: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Returns one list for all variables; a value with a comma is quoted."""
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
