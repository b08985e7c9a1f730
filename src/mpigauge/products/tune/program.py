# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program of a stored run, that `tune --for` tunes for: its calls, and trials of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import tell
from mpigauge.cli.runs.kinds import kind_of
from mpigauge.model.errors import RunError, UserError
from mpigauge.products.tune.making import folder_for
from mpigauge.products.tune.plan import TUNED
from mpigauge.products.tune.show.text import trial_sentences
from mpigauge.products.tune.trial import ROUNDS, trial_of
from mpigauge.runs.store.tunings import (
    FILE,
    RUNS,
    Tuning,
    as_variables,
    load_tuning,
    save,
    variables_of,
)
from mpigauge.site.mpi import find

if TYPE_CHECKING:
    from mpigauge.cli.runs.kinds import Program
    from mpigauge.model.call_mix import CallMix
    from mpigauge.products.tune.measure.budget import TimeBudget

PROGRAM = "program"
"""The folder of the program's own runs."""


def program_of(word: str, values: dict[str, Any]) -> Program:
    """Returns the program of a profile, whose MPI is taken if none is named. UserError: it is of
    no profile, or an option has a value that the profile has."""
    for name in ("ranks", "sizes", "thread_level"):
        if values[name]:
            option = name.replace("_", "-")
            raise UserError(f"--for and --{option} contradict: the profile has its own; drop one")
    kind = kind_of(word)
    try:
        program = kind.program(word)
    except UserError as error:
        raise UserError(f"--for: {error}") from None
    if program is None:
        raise UserError(f"--for: {word} is not a folder of a profile; `mpigauge profile` makes one")
    values["mpi_spec"] = values["mpi_spec"] or program.mpi_spec()
    return program


def without_trial(mix: CallMix | None, values: Mapping[str, Any]) -> tuple[Path, Tuning] | None:
    """Returns the tuning for this program whose trial was interrupted, or failed, with its
    folder."""
    folder = folder_for(find(values["mpi_spec"]), values["output"])
    if not (folder / FILE).is_file():
        return None
    tuning = load_tuning(folder)
    lacks_trial = tuning.has_effect and tuning.trial is None
    if lacks_trial and mix is not None and tuning.mix == mix:
        return folder, tuning
    return None


def failing(
    program: Program, values: Mapping[str, Any]
) -> Callable[[Mapping[str, str]], str] | None:
    """Returns a function that returns why the program fails with settings, empty: it does not;
    None: the program cannot be started here, or not with the MPI that is tuned."""
    mix = program.mix
    if mix is None or not program.words or mix.mpi != find(values["mpi_spec"]).label:
        return None

    def why(settings: Mapping[str, str]) -> str:
        with TemporaryDirectory() as folder:
            variables = {TUNED: as_variables(settings)}
            try:
                program.launched_in_turn(variables, Path(folder), 1, 0, lambda _: None)
            except RunError as error:
                return str(error)
        return ""

    return why


def try_program(
    program: Program, folder: Path, tuning: Tuning, seed: int, budget: TimeBudget | None = None
) -> None:
    """Launches the program with the rules and without, and stores its gain; launches of an
    interrupted trial are not repeated. RunError: it fails."""
    if not program.words or not tuning.mix or tuning.mix.mpi != tuning.mpi.label:
        lacks = "the profile holds no command line"
        why = "the profile is of another MPI" if program.words else lacks
        tell(f"the program itself is not tried: {why}")
        return
    line = " ".join(program.words)
    rounds = budget.rounds(ROUNDS) if budget else ROUNDS
    about = 2 * rounds * tuning.mix.run_s
    tell(f"`{line}` with the rules and without, {rounds} launches each, about {about:.0f} s")
    arms = {"default": {}, TUNED: variables_of(folder, tuning)}
    runs = folder / RUNS / PROGRAM
    times = program.launched_in_turn(arms, runs, rounds, seed, tell)
    trial = trial_of(line, times["default"], times[TUNED])
    save(folder, replace(tuning, trial=trial))
    for sentence in trial_sentences(trial):
        click.echo(sentence)
