# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A query that comes from elsewhere, in a process of its own: it ends at a limit of memory and at a
limit of time, whatever it does, and keeps nobody else waiting."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError
from mpigauge.result.library.ask import QueryResult, ask
from mpigauge.result.library.library import answered
from mpigauge.result.library.memory import TOO_MUCH, limited_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.result.library.library import Library

MEMORY_BYTES = 1 << 30
THREADS = 2
_SPILL = "1GB"
"""The most that a query writes to disk."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from mpigauge.products.browse.apart import main; main()"
)


def ask_apart(
    runs: Mapping[str, Path], root: Path, query: str, tables: Sequence[str], seconds: float
) -> QueryResult:
    """The answer of a query over the tables of these runs, which are kept below `root`. It reads
    nothing else. UserError: it is wrong, or takes more time or memory than it may."""
    question = {
        "runs": {name: str(path) for name, path in runs.items()},
        "root": str(root),
        "query": query,
        "tables": list(tables),
        "seconds": seconds,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            input=json.dumps(question).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(timeout_message(seconds)) from None
    return _answer(done.stdout, done.returncode, seconds)


def _answer(text: bytes, status: int, seconds: float) -> QueryResult:
    if status == -signal.SIGALRM:
        raise UserError(timeout_message(seconds))
    if status:
        raise UserError(f"{TOO_MUCH}, or its process was ended (status {status})")
    answer = json.loads(text)
    if "error" in answer:
        raise UserError(answer["error"])
    return QueryResult(tuple(answer["columns"]), [tuple(row) for row in answer["rows"]])


def timeout_message(seconds: float) -> str:
    return f"the query was given up after {seconds:g} s"


def main() -> None:
    """Answers the question on standard input. The alarm ends the process even if the one that
    started it is gone."""
    from pathlib import Path

    question = json.load(sys.stdin)
    output = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # DuckDB shows there how far a long query is
    signal.setitimer(signal.ITIMER_REAL, question["seconds"])
    runs = {name: Path(path) for name, path in question["runs"].items()}

    def go(library: Library) -> QueryResult:
        library.con.execute(f"SET threads = {THREADS}")
        library.con.execute(f"SET max_temp_directory_size = '{_SPILL}'")
        with limited_memory(library.con, MEMORY_BYTES):
            library.shut()
            return ask(library.con, question["query"], question["tables"])

    try:
        result = answered(runs, Path(question["root"]), go)
        answer: dict[str, Any] = {"columns": result.columns, "rows": result.rows}
    except UserError as error:
        answer = {"error": str(error)}
    with output:
        json.dump(answer, output, default=str)
