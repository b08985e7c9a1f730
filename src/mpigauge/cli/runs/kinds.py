# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kinds of runs, and what commands do with the runs of each.

A product whose runs differ from those of benchmarks has a file `kind.py` with a subclass of `Kind`
under `@kind`. It says by which runs it is recognised, and replaces what commands do otherwise with
them. Commands ask `kind_of` for the kind of a run, and none of them depends on a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeVar

from mpigauge.cli.options import PROFILE_FORMATS, USUAL_FORMAT
from mpigauge.cli.registry import files_of_products
from mpigauge.model.errors import UserError
from mpigauge.model.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mpigauge.model.call_mix import CallMix
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall
    from mpigauge.result.finding import Explanation
    from mpigauge.result.run_view import RunView

USUAL = "benchmarks"
"""The kind of all runs that are of no other."""
MEDIAN = "median"
Scaling = Literal["strong", "weak"]
Times = tuple[float, float]
"""The run time of a launch and its time in MPI, in seconds."""
_K = TypeVar("_K", bound="type[Kind]")


@dataclass(frozen=True)
class ShowOptions:
    """The options of `mpigauge show`."""

    form: str | None = None
    whole: bool = False
    """True for all that headings leave out."""
    only_remarks: bool = False
    pivot: str | None = None
    to: str | None = None
    limits_of: str | None = None
    job: int | None = None
    """The number of the job of a profile; None: the one with most calls."""


@dataclass(frozen=True)
class CompareOptions:
    """The options of `mpigauge compare`."""

    form: str = "table"
    by: str | None = None
    pivot: str | None = None
    to: str | None = None
    as_rows: bool = False
    only: Sequence[str] = ()
    tolerance: str | None = None
    response: str = MEDIAN
    scaling: Scaling | None = None
    fail_on: Sequence[str] = ()
    job: int | None = None


@dataclass(frozen=True)
class Listed:
    """A folder of one kind in a list of runs."""

    path: Path
    mpi: str = ""
    host: str = ""
    about: str = ""
    """Its contents in words, or why it cannot be read."""


class Program(Protocol):
    """The program whose run is stored, to be measured with other settings."""

    def mpi_spec(self) -> str:
        """Returns the MPI of the program. UserError: it is not installed here."""

    @property
    def mix(self) -> CallMix | None:
        """The calls on which it spends its time in MPI; None: it has none."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command line of the program; empty: it is not stored."""

    def launched_in_turn(
        self,
        arms: Mapping[str, Mapping[str, str]],
        folder: Path,
        rounds: int,
        seed: int,
        tell: Callable[[str], None],
    ) -> dict[str, list[Times]]:
        """Launches it with the variables of each arm once per round, and stores a run of each arm
        in `folder`. RunError: a launch fails."""


class Kind:
    """The acts of commands on runs of one kind; here, on those of benchmarks."""

    name: ClassVar[str]

    def is_this(self, word: str) -> bool:
        """True if the run that a word names is of this kind. UserError: there is no such run."""
        raise NotImplementedError

    def complete(self, word: str) -> None:
        """Stores what a command that was killed left behind."""

    def follow(self, word: str, every: float) -> bool:
        """Shows a run that is measured elsewhere until it ends. False: Ctrl-C ended that."""
        from mpigauge.cli.runs.following import followed
        from mpigauge.session.run_names import find_run

        return followed(find_run(word), every)

    def check_ended(self, word: str) -> None:
        """RunError: the process that measured the run was killed."""
        from mpigauge.cli.runs.following import check_ended
        from mpigauge.session.run_names import find_run

        check_ended(find_run(word))

    def show(self, word: str, how: ShowOptions) -> None:
        """Prints a run. UserError: an option does not apply to it."""
        from mpigauge.cli.output.showing import show_remarks, show_run
        from mpigauge.cli.runs.pivoting import show_pivot
        from mpigauge.session.run_names import open_run

        if how.only_remarks:
            show_remarks(word, how.whole)
        elif how.pivot or how.to:
            show_pivot([open_run(word)], how.pivot, how.to, how.form or USUAL_FORMAT)
        elif how.form in PROFILE_FORMATS:
            raise UserError(f"--format {how.form} is for profiles, and {word} is not one")
        else:
            show_run(word, how.form, how.limits_of, how.whole)

    def check_job(self, words: Sequence[str], job: int | None) -> None:
        """UserError: a job is selected that these runs do not have."""
        if job is not None:
            raise UserError(f"--job is for profiles, and {words[0]} is a run of another kind")

    def page(
        self,
        words: Sequence[str],
        limits_of: str | None = None,
        home: str = "",
        job: int | None = None,
    ) -> str:
        """Returns the page of the first run, beside the others. `home`: the page of all runs, for
        a link back. `job`: checked before. UserError: it is a page of one run."""
        del job
        from mpigauge.cli.runs.reporting import shown_of
        from mpigauge.show.web.report import report

        shown = shown_of(words, limits_of)
        explanation = self.explained(shown[0].view)
        return report(shown, explanation, shown.comparison, shown.across, home=home)

    def compare(
        self, words: Sequence[str], how: CompareOptions
    ) -> Sequence[ComparedNumber | Overall]:
        """Prints a comparison of runs with the first one, and returns its verdicts. UserError: they
        cannot be compared so."""
        from mpigauge.cli.output.terminal import TERMINAL
        from mpigauge.cli.runs.comparing import print_comparison, share_of, sides_of, sides_within
        from mpigauge.cli.runs.pivoting import ONLY_PIVOTS, pivoted, print_pivot, sides_across
        from mpigauge.result.compare.compare import compare
        from mpigauge.result.compare.match.only import only, read_only
        from mpigauge.session.run_names import open_runs

        if how.scaling:
            raise UserError("--scaling is for profiles, and these runs are none; leave it out")
        stored = open_runs(words, TERMINAL)
        varied = how.by or ""
        if how.pivot is not None:
            sides, varied = sides_across(stored, how.pivot)
        else:
            sides = sides_of(stored) if how.by is None else sides_within(stored[0], how.by)
        sides = only(sides, read_only(how.only))
        if how.pivot is not None or how.form in ONLY_PIVOTS or _is_wide(how, len(sides)):
            across = pivoted(sides, share_of(how.tolerance), varied, how.to)
            print_pivot(across, how.form, stored, [] if varied else [each.name for each in sides])
            return list(chain.from_iterable(each.verdicts for each in across.comparisons))
        comparison = compare(sides, share_of(how.tolerance), varied, how.response)
        if not comparison.tables:
            raise UserError(comparison.refusal)
        print_comparison(comparison, how.form, stored)
        return list(comparison.verdicts)

    def beside(self, words: Sequence[str]) -> Comparison | None:
        """Compares runs for a page; None: they are compared as runs of benchmarks are."""
        del words
        return None

    def explain(self, word: str) -> Explanation:
        """Returns what stands out in a run."""
        from mpigauge.result.run_view import RunView
        from mpigauge.session.run_names import open_run

        return self.explained(RunView.of(open_run(word)))

    def explained(self, view: RunView) -> Explanation:
        """Returns what stands out in measurements."""
        return KINDS[USUAL].explained(view)

    def causes(self) -> Sequence[tuple[str, str]]:
        """Returns the names of the causes that `explain` examines, each with a description."""
        return ()

    def program(self, word: str) -> Program | None:
        """Returns the program of a run; None: it is of none. UserError: it cannot be measured."""
        del word
        return None

    def folders(self, root: Path) -> Sequence[Listed]:
        """Returns the folders of this kind below a folder of runs, if they hold several runs."""
        del root
        return ()


def _is_wide(how: CompareOptions, sides: int) -> bool:
    """True if so many sides are a table with a column for each."""
    from mpigauge.cli.runs.comparing import MANY

    rows = how.as_rows or how.response != MEDIAN or sides < MANY
    return how.form == "table" and not rows


KINDS = Registry[Kind]("kind of run", lambda: files_of_products("kind"))


def kind(name: str) -> Callable[[_K], _K]:
    """Adds a class as the kind of this name."""

    def register(made: _K) -> _K:
        made.name = name
        KINDS.add(name, made())
        return made

    return register


def kind_of(word: str) -> Kind:
    """Returns the kind of the run that a word names. UserError: there is no such run."""
    return kind_among([word])


def kind_among(words: Sequence[str]) -> Kind:
    """Returns the kind that is asked about several runs: the first that is not the usual one."""
    special = [each for name, each in KINDS.items() if name != USUAL]
    for word in words:
        for each in special:
            if each.is_this(word):
                return each
    return KINDS[USUAL]
