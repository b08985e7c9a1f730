# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measurements and stored runs for programs and notebooks.

`mpigauge.measure` makes a run, `mpigauge.open` opens stored ones, `mpigauge.compare` compares runs.
Results are values: rows with their intervals, curves, findings, comparisons. Wrong input raises
mpigauge.UserError, whose text is the line that the command line would print.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from mpigauge.model.errors import UserError, no_such
from mpigauge.model.option_table import GENERAL, OFFERED, OptionRow
from mpigauge.model.run_options import RunOptions
from mpigauge.result.stats.verdicts import TOLERANCE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mpigauge.model.row import Row
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.finding import Explanation, Finding
    from mpigauge.result.run_result import RunResult
    from mpigauge.result.run_view import Curve
    from mpigauge.runs.store import Run

__all__ = ["OpenedRun", "OpenedRuns", "RunOptions", "compare_runs", "measure", "open_stored"]


@overload
def measure(
    *benchmarks: str,
    mpi: str | None = None,
    output: str | Path | None = None,
    progress: bool = False,
    **options: Unpack[RunOptions],
) -> OpenedRun: ...
@overload
def measure(
    *benchmarks: str,
    mpi: list[str] | tuple[str, ...],
    output: str | Path | None = None,
    progress: bool = False,
    **options: Unpack[RunOptions],
) -> OpenedRuns: ...
def measure(
    *benchmarks: str,
    mpi: str | list[str] | tuple[str, ...] | None = None,
    output: str | Path | None = None,
    progress: bool = False,
    **options: Unpack[RunOptions],
) -> OpenedRun | OpenedRuns:
    """Measures benchmarks, like `mpigauge run`, and returns the stored run.

    `mpi` is one MPI as `--mpi` names it, or several, whose launches then alternate and whose runs
    are returned together; None: the MPI that is found. `output` is the folder of the run; None: a
    new one below mpigauge-runs. With `progress`, notes and a line for each launch go to standard
    error. The other options are those of RunOptions.

    UserError: an option is wrong, or cannot be measured here; nothing was launched. RunError: a
    launch failed or the run was interrupted; its message names the folder of what was measured.
    """
    from mpigauge.cli.output.begun import forget
    from mpigauge.cli.output.terminal import TerminalView
    from mpigauge.cli.run_options import read_words
    from mpigauge.session.measuring import measure as measure_runs
    from mpigauge.session.measuring import plan_benchmarks
    from mpigauge.session.targets import CommandOptions
    from mpigauge.session.view import SilentView

    forget()
    specs = [mpi] if isinstance(mpi, str) else list(mpi or ())
    words = [word for spec in specs for word in ("--mpi", spec)]
    words += _in_words(options)
    words += [] if output is None else ["--output", str(output)]
    values = read_words(words) | {"benchmarks": benchmarks}
    chosen = CommandOptions.taken(values)
    command = ("mpigauge", "run", *benchmarks, *words)
    view = TerminalView(command) if progress else SilentView(command)
    planned = plan_benchmarks(values, chosen, view)
    measured = measure_runs(planned, chosen.output, "-".join(planned[0].plan.benchmarks))
    measured.raise_problems()
    runs = [OpenedRun(run, run.path.name) for run in measured.runs]
    return runs[0] if len(specs) < 2 else OpenedRuns(runs)


def _in_words(options: RunOptions) -> list[str]:
    """The options in the words of the command line; None is no value. UserError: there is no such
    option."""
    rows = {row.python: row for row in (*GENERAL, *OFFERED) if row.python}
    words: list[str] = []
    for name, value in options.items():
        if name not in rows:
            raise no_such("option", name, tuple(rows))
        flag = rows[name].flag
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:  # 0 is a value
            words += [word for each in _texts(rows[name], value) for word in (flag, each)]
    return words


def _texts(row: OptionRow, value: Any) -> list[str]:
    """The values of an option, which is repeated for each of them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [f"{key}={each}" for key, each in value.items()]
    if isinstance(value, Iterable):
        texts = list(map(str, value))
        return texts if row.several else [",".join(texts)]
    is_time = row.form == "duration" and isinstance(value, (int, float))
    return [f"{value:g}s" if is_time else str(value)]


def compare_runs(
    first: str | Path | OpenedRun, *others: str | Path | OpenedRun, tolerance: float = TOLERANCE
) -> Comparison:
    """Compares runs with the first one, like `mpigauge compare`: `mpigauge.compare`. Each is an
    opened run, or what `mpigauge.open` takes. `tolerance` is the relative difference that counts as
    the same. UserError: one is no run, or they have nothing in common."""
    runs = [each if isinstance(each, OpenedRun) else _one(each) for each in (first, *others)]
    return runs[0].compare(*runs[1:], tolerance=tolerance)


def _one(what: str | Path) -> OpenedRun:
    opened = open_stored(what)
    if isinstance(opened, OpenedRuns):
        raise UserError(f"{what} holds {len(opened)} runs; name one of them")
    return opened


def open_stored(what: str | Path) -> OpenedRun | OpenedRuns:
    """Opens a run, or all runs of a folder: `mpigauge.open`.

    `what` is a run as commands take it: the folder of a run, its name below mpigauge-runs or the
    beginning of it, `last`, a file made by `mpigauge share`, `ref:NAME`; also a folder that holds
    runs, and a file with the output of IMB or another program that `mpigauge import` reads, which
    is not stored. UserError: it does not exist, or it cannot be read.
    """
    from mpigauge.runs.store.pack import is_pack
    from mpigauge.session.run_names import open_run

    path = Path(what)
    if path.is_dir() and not (path / "run.json").exists():
        return OpenedRuns.in_folder(path)
    if path.is_file() and not is_pack(path):
        return OpenedRun(_imported(path), path.name)
    run = open_run(str(what))
    return OpenedRun(run, run.path.name)


def _imported(file: Path) -> Run:
    """The run that `mpigauge import` would make of a file."""
    from mpigauge.products.imported.importing import read_files
    from mpigauge.runs.store import load
    from mpigauge.runs.store.imported import write_imported

    reading = read_files([file], None, "")
    with tempfile.TemporaryDirectory() as folder:
        return load(write_imported(reading, [str(file)], Path(folder) / "run", file.stem))


class OpenedRun:
    """A stored run and its results, which are computed on demand."""

    def __init__(self, run: Run, name: str) -> None:
        self.name = name
        self.run = run

    def __repr__(self) -> str:
        return f"<mpigauge run {self.name}: {len(self.rows)} rows>"

    @cached_property
    def _shown(self) -> RunResult:
        from mpigauge.result.run_result import RunResult
        from mpigauge.session.limiting import with_limits

        shown = RunResult.of(self.name, self.run)
        return RunResult(self.name, self.run, with_limits(shown.document, self.run), shown.view)

    @property
    def rows(self) -> Sequence[Row]:
        """A row for each cell, over all launches: `benchmark`, `ranks`, `message_bytes`, and as
        estimates with `value`, `low` and `high` `latency` (s), `bandwidth` (B/s), `rate` (1/s)."""
        return self._shown.document.rows

    @property
    def curves(self) -> Sequence[Curve]:
        """Rows that differ in their message size only, sizes ascending."""
        return self._shown.view.curves

    @cached_property
    def explanation(self) -> Explanation:
        """The findings of `mpigauge explain`, with those that could not be checked."""
        from mpigauge.products.explain.registry import explained

        return explained(self._shown.view)

    @property
    def findings(self) -> Sequence[Finding]:
        """Anomalies of the run, most expensive first."""
        return self.explanation.findings

    @property
    def sentences(self) -> Sequence[str]:
        """Remarks on suspicious numbers."""
        return self._shown.document.sentences

    def compare(self, *others: OpenedRun, tolerance: float = TOLERANCE) -> Comparison:
        """Compares others with this run, like `mpigauge compare`: each number, each curve, and all
        times together, with ratios, their intervals and verdicts. `tolerance`: the relative
        difference that counts as the same. UserError: they have nothing in common."""
        from mpigauge.cli.runs.comparing import sides_of
        from mpigauge.result.compare.compare import compare

        if not others:
            raise UserError("name a run to compare with: run.compare(other)")
        comparison = compare(sides_of([self.run, *(other.run for other in others)]), tolerance)
        if not comparison.tables:
            raise UserError(comparison.refusal)
        return comparison

    def table(self) -> str:
        """The output of `mpigauge show`, without colours."""
        from mpigauge.model.screen import screen_of
        from mpigauge.show.formats import render

        plain = screen_of({"NO_COLOR": "1", "LC_ALL": "C.UTF-8"}, False, "utf-8", (80, 24))
        return render("table", self._shown.document, plain)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return OpenedRuns([self]).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        from mpigauge.show.web.notebook import in_notebook

        return in_notebook(self._shown)


class OpenedRuns(Sequence[OpenedRun]):
    """Runs, oldest first. As Arrow, which pandas.DataFrame, polars.DataFrame and pyarrow.table
    take, they are the table `rows` of `mpigauge sql` over all of them."""

    def __init__(self, runs: Sequence[OpenedRun]) -> None:
        self._runs = tuple(runs)

    @classmethod
    def in_folder(cls, folder: Path) -> OpenedRuns:
        """The runs of a folder. UserError: it holds none."""
        from mpigauge.runs.store import list_runs, load

        runs = [OpenedRun(load(each.path), each.path.name) for each in list_runs(folder)]
        if not runs:
            raise UserError(f"{folder} holds no run; `mpigauge run` makes one")
        return cls(runs)

    @overload
    def __getitem__(self, place: int) -> OpenedRun: ...
    @overload
    def __getitem__(self, place: slice) -> OpenedRuns: ...
    def __getitem__(self, place: int | slice) -> OpenedRun | OpenedRuns:
        if isinstance(place, slice):
            return OpenedRuns(self._runs[place])
        return self._runs[place]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<mpigauge runs: {', '.join(run.name for run in self._runs)}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream. UserError: the extra `sql` is missing, or a run is not
        stored in a folder."""
        relation: Any = self._relation
        return relation.__arrow_c_stream__(requested_schema)

    @cached_property
    def _relation(self) -> object:
        """The rows of all runs; DuckDB's data for them is released with this object."""
        from mpigauge.model.extras import require
        from mpigauge.result.library import Library

        require("sql", "a table as Arrow")
        for run in self._runs:
            if not run.run.path.exists():
                raise UserError(f"{run.name} is not stored; `mpigauge import` makes a run of it")
        stack = ExitStack()
        weakref.finalize(self, stack.close)
        library = stack.enter_context(Library.open({run.name: run.run.path for run in self._runs}))
        return library.con.sql("SELECT * FROM rows")
