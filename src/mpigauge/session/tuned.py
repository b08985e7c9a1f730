# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Applies the rules of a tuning to what is measured or started, for --tuned."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL, calls_from_several
from mpigauge.runs.store.tunings import (
    check_build,
    check_files,
    digest,
    load_tuning,
    settings_of,
    sha256_of,
    tuned_by,
    variables_of,
)
from mpigauge.site.launch.lines import is_launcher
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.runs.store import Run
    from mpigauge.runs.store.tunings import MpiBuild, Tuned, Tuning
    from mpigauge.session.targets import Setup


def whole(folder: Path) -> Tuning:
    """UserError: there is no tuning, or its files are not what was written."""
    tuning = load_tuning(folder)
    check_files(folder, tuning)
    return tuning


def with_tuned(setup: Setup, folder: Path) -> Setup:
    """The settings that make the MPI follow its rules are the request's. UserError: the rules are
    of another build of the MPI, or a setting says something else."""
    tuning = whole(folder)
    check_build(tuning, setup.mpi)
    _tell_limits(folder, tuning, setup)
    settings, given = settings_of(folder, tuning), setup.request.settings
    for name, value in settings.items():
        for word in (name, f"OMPI_MCA_{name}"):
            if given.get(word, value) != value:
                raise UserError(
                    f"--tuned {folder} sets {name}={value}, --set {word}={given[word]}; leave "
                    "one of them out"
                )
    request = replace(setup.request, settings={**given, **settings})
    return replace(setup, request=request, tuned=tuned_by(folder, settings))


def tuned_line(
    folder: Path, words: Sequence[str], here: Mapping[str, str]
) -> tuple[Tuned, dict[str, str]]:
    """The record of a tuned launch line of the user, and the variables that its ranks need.
    UserError: its MPI is another build than the one that was tuned."""
    tuning = whole(folder)
    check_line(tuning, words, here)
    return tuned_by(folder, settings_of(folder, tuning)), variables_of(folder, tuning)


def check_line(tuning: Tuning, words: Sequence[str], here: Mapping[str, str]) -> None:
    """UserError: the launcher in these words is of another build of the MPI, or, where nobody can
    tell that by the launcher, the library that was tuned was replaced."""
    from mpigauge.site.mpi import find

    path = shutil.which(words[0], path=here.get("PATH")) if is_launcher(words[0]) else None
    mpi = None
    if path:
        with suppress(UserError):
            mpi = find(path)
    if mpi:
        check_build(tuning, mpi)
    else:
        check_library(tuning.mpi)


def check_library(mpi: MpiBuild) -> None:
    """UserError: the library was replaced since it was tuned."""
    if digest(Path(mpi.library)) != mpi.sha256:
        raise UserError(
            f"{mpi.library} is another build than the {mpi.label} that was tuned; tune again for it"
        )


def recorded_rules(stored: Run) -> Path | None:
    """The folder of the rules that a run was made with; None: the MPI followed its own. UserError:
    they are gone, or others now."""
    record = stored.header.get("tuned") or {}
    if not record:
        return None
    folder = Path(str(record.get("folder", "")))
    whole(folder)
    if sha256_of(folder) != record.get("sha256"):
        raise UserError(
            f"{stored.path} was made with other rules than {folder} holds now; going on would mix "
            "them: start a new run"
        )
    return folder


def _tell_limits(folder: Path, tuning: Tuning, setup: Setup) -> None:
    if not tuning.has_effect:
        setup.view.note(f"{folder} has no rule: everything is as it would be without it")
        return
    if len(setup.nodes) > 1:
        setup.view.note(
            f"the rules of {folder} were measured on one host, and these ranks are on several"
        )
    levels = setup.request.suite_options.get(THREAD_LEVEL, LEVELS[0]).split(",")
    for level in levels:
        if calls_from_several(level) != tuning.several_threads:
            setup.view.note(level_sentence(folder, tuning, level))


def level_sentence(folder: Path, tuning: Tuning, level: str) -> str:
    """The sentence on rules that were measured at another thread level than this one."""
    measured = f"the rules of {folder} were measured at thread level {tuning.thread_level}, "
    if rule_format_of(tuning.mpi.name).tells_threads:
        return f"{measured}and do not hold at {level}, where {tuning.mpi.label} follows its own"
    return f"{measured}and may not help at {level}"
