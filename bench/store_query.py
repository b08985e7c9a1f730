#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long do questions to ten million rows take, here and in pandas? And making tables of runs?

The rows are made up, in the layout of the table `cells`, and lie in Parquet files as the store
keeps them. Every question is asked of both in turn; medians over rounds are compared. pandas reads
the same files, and only the columns that it needs; it is timed with them in memory already, too.
With --runs, run folders are made, and the making and asking of their tables is timed instead.
Exit status: 0 all answers agree (and each took less than a second), 1 some did not.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import common
import duckdb

from mpigauge.result.library import ask, build, columns_of
from mpigauge.result.library.tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROMISE = "less than a second for each question, with the answers of pandas"
MOST_S = 1.0
FILES = 4
CELLS_OF_RUN = 100
BENCHMARKS = ["PingPong", "Sendrecv", "Exchange", "Allreduce", "Bcast", "Alltoall", "Barrier"]


class Question(NamedTuple):
    words: str
    query: str
    columns: tuple[str, ...]
    """The columns that pandas has to read."""
    pandas: Callable[[Any], Any]
    """The query on a frame with these columns; returns a frame or a series, sorted as the query."""


def _of_runs(frame: Any) -> Any:
    some = frame[(frame.benchmark == "PingPong") & (frame.message_bytes == 8)]
    return some.groupby("run").latency_s.min().sort_index()


def _disturbed(frame: Any) -> Any:
    some = frame[frame.tainted_ratio > 0.5]
    return some.groupby(["mpi", "benchmark"]).size().sort_index()


QUESTIONS = (
    Question(
        "median latency of each benchmark and size",
        "SELECT benchmark, message_bytes, median(latency_s) FROM cells GROUP BY ALL ORDER BY ALL",
        ("benchmark", "message_bytes", "latency_s"),
        lambda f: f.groupby(["benchmark", "message_bytes"]).latency_s.median().sort_index(),
    ),
    Question(
        "best latency of each run, PingPong, 8 B",
        "SELECT run, min(latency_s) FROM cells WHERE benchmark = 'PingPong' AND message_bytes = 8 "
        "GROUP BY run ORDER BY run",
        ("run", "benchmark", "message_bytes", "latency_s"),
        _of_runs,
    ),
    Question(
        "disturbed cells of each MPI and benchmark",
        "SELECT mpi, benchmark, count(*) FROM cells WHERE tainted_ratio > 0.5 GROUP BY ALL "
        "ORDER BY ALL",
        ("mpi", "benchmark", "tainted_ratio"),
        _disturbed,
    ),
    Question(
        "the ten slowest cells",
        "SELECT latency_s FROM cells ORDER BY latency_s DESC LIMIT 10",
        ("latency_s",),
        lambda f: f.latency_s.nlargest(10),
    ),
)


def make(con: DuckDBPyConnection, folder: Path, rows: int) -> list[Path]:
    """Files of made-up cells: runs of a thousand, times scattered over each size's own."""
    expressions = {
        "run": "'run-' || (i // 1000)",
        "created": "TIMESTAMP '2026-01-01' + INTERVAL 1 MINUTE * (i // 1000)",
        "mpi": "['mpich 5.0.2', 'openmpi 5.0.11', 'intel 2021.18'][1 + (i // 1000) % 3]",
        "host": "'node' || (i // 1000) % 64",
        "launch": "i % 6",
        "suite": "'MPI1'",
        "benchmark": f"{BENCHMARKS}[1 + (i // 144) % {len(BENCHMARKS)}]",
        "ranks": "2",
        "message_bytes": "CAST(2 ** ((i // 6) % 24) AS BIGINT)",
        "tainted_ratio": "round(random(), 2)",
        "samples": "CAST(100 + random() * 900 AS BIGINT)",
        "flags": "CASE WHEN i % 10 = 0 THEN ['tainted'] ELSE [] END",
    }
    time_s = "(1e-6 + 1e-10 * 2 ** ((i // 6) % 24)) * (1 + random() / 5)"
    columns = ", ".join(_column(field, expressions, time_s) for field in TABLES["cells"])
    made = []
    for number in range(FILES):
        common.say_progress(f"making file {number + 1} of {FILES}")
        made.append(folder / f"{number}.parquet")
        first, last = rows * number // FILES, rows * (number + 1) // FILES
        build.copy(con, f"SELECT {columns} FROM range({first}, {last}) AS r(i)", made[-1])
    common.end_progress()
    return made


def _column(field: Any, expressions: dict[str, str], time_s: str) -> str:
    measured = ("time_p50_s", "time_min_s", "time_avg_s", "time_max_s", "latency_s")
    value = expressions.get(field.name, time_s if field.name in measured else "NULL")
    return f'CAST({value} AS {field.type}) AS "{field.name}"'


def seconds(act: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = act()
    return time.perf_counter() - start, result


def same(ours: Sequence[Sequence[Any]], theirs: Any) -> bool:
    """True if the last column of the answer agrees with the values from pandas."""
    values = theirs.tolist()
    return len(ours) == len(values) and all(
        abs(row[-1] - value) <= 1e-9 * abs(value) for row, value in zip(ours, values, strict=True)
    )


def compare(rows: int, rounds: int) -> int:
    pd = _pandas()
    if pd is None:
        print("pandas is not installed (pip install pandas pyarrow): only our times are shown")
    good, longest = True, 0.0
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con:
        files = make(con, Path(folder), rows)
        listed = ", ".join(map(build.quoted, files))
        con.execute(f"CREATE VIEW cells AS SELECT * FROM read_parquet([{listed}])")
        size = sum(file.stat().st_size for file in files)
        print(
            f"{rows:,} rows of {len(columns_of('cells'))} columns, {size / 1e6:.0f} MB of Parquet"
        )
        print(
            f"{common.machine()}; duckdb {duckdb.__version__}"
            + (f", pandas {pd.__version__}" if pd else "")
        )
        print(f"\nmedians of {rounds} in seconds, and theirs by ours")
        print(
            f"{'':<42} {'ours':>6}   {'pandas':>10}  {'ratio':>8}   {'in memory':>10}  {'ratio':>8}"
        )
        for question in QUESTIONS:
            ours, read, held, agreed = _times(con, question, files, rounds, pd)
            good = good and agreed and median(ours) < MOST_S
            longest = max(longest, median(ours))
            print(_line(question.words, ours, read, held) + ("" if agreed else "  ANSWERS DIFFER"))
    return common.conclude(good, f"at most {longest:.2f} s for {rows} rows")


def _pandas() -> Any:
    """The module, or None: nothing else of the project needs it."""
    try:
        return importlib.import_module("pandas")
    except ImportError:
        return None


def _times(
    con: DuckDBPyConnection, question: Question, files: Sequence[Path], rounds: int, pd: Any
) -> tuple[list[float], list[float], list[float], bool]:
    """Returns times of ours, pandas from files, pandas from memory, and whether answers agree."""
    ours: list[float] = []
    read: list[float] = []
    held: list[float] = []
    agreed = True
    for _ in range(rounds):
        took, answer = seconds(lambda: ask(con, question.query).rows)
        ours.append(took)
        if pd is None:
            continue
        took, frame = seconds(lambda: pd.read_parquet(list(files), columns=list(question.columns)))
        more, result = seconds(partial(question.pandas, frame))
        read.append(took + more)
        held.append(more)
        agreed = agreed and same(answer, result)
    return ours, read, held, agreed


def _line(words: str, ours: list[float], read: list[float], held: list[float]) -> str:
    own = median(ours)
    line = f"{words:<42} {own:6.2f}"
    for theirs in (read, held):
        line += f"   {median(theirs):10.2f}  {median(theirs) / own:8.1f}" if theirs else ""
    return line


def tables(runs: int) -> int:
    """Makes run folders and prints the time of their tables: all, none changed, one changed."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from mpigauge.result.library import answered
    from mpigauge.runs.store import run_folders
    from tests import runs as made_up

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        lines = [made_up.launch(), *map(made_up.cell, range(CELLS_OF_RUN))]
        for number in range(runs):
            common.say_progress(f"making run {number + 1} of {runs}")
            made_up.write(root / f"run-{number:05}", lines, host=f"node{number}")
        common.end_progress()

        def look() -> list[tuple[Any, ...]]:
            return answered(
                run_folders(root),
                root,
                lambda library: ask(library.con, "SELECT count(*) FROM cells").rows,
            )

        print(f"{runs} runs of {CELLS_OF_RUN} cells; {common.machine()}")
        figures = []
        for words in ("all are read", "none has changed", "one has changed"):
            took, rows = seconds(look)
            print(f"{words:<20} {took:6.2f} s")
            figures.append(f"{words} {took:.2f} s")
            with (root / "run-00000" / "records.jsonl").open("a", encoding="utf-8") as file:
                if words == "none has changed":
                    file.write(made_up.cell(CELLS_OF_RUN) + "\n")
        is_right = rows == [(runs * CELLS_OF_RUN + 1,)]
        return common.conclude(is_right, f"{runs} runs: {', '.join(figures)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, help="time the tables of so many run folders instead")
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    given = parser.parse_args()
    if given.runs:
        return tables(given.runs)
    return compare(100_000 if given.quick else given.rows, 1 if given.quick else given.rounds)


if __name__ == "__main__":
    sys.exit(main())
