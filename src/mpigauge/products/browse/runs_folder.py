# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lists the current runs of a folder, and queries the tables over them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock, Timer
from typing import TYPE_CHECKING, TypeVar

from mpigauge.model.errors import UserError
from mpigauge.products.browse.apart import ask_apart, timeout_message
from mpigauge.result.library import answered
from mpigauge.runs.store import run_folders

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.result.library import Library
    from mpigauge.result.library.ask import QueryResult

_T = TypeVar("_T")
PATIENCE_S = 20.0
"""The time limit of a query, in seconds."""
WAIT_S = 20.0
"""The seconds that a user's query waits for other queries to end."""
MOST_QUERIES = 2
"""The maximum number of concurrent user queries, each with its own memory limit."""


class RunsFolder:
    """A folder of runs with its tables, stored next to the runs as by `mpigauge sql`, or in a
    temporary folder. Internal queries run one at a time; user queries run in parallel."""

    def __init__(self, root: Path, keep: Path) -> None:
        self.root = root
        self._keep = keep
        self._lock = Lock()
        self._places = BoundedSemaphore(MOST_QUERIES)

    @classmethod
    @contextmanager
    def open(cls, root: Path) -> Iterator[RunsFolder]:
        whole = Path(os.path.normpath(root.absolute()))
        with tempfile.TemporaryDirectory(prefix="mpigauge-") as away:
            yield cls(whole, whole if os.access(whole, os.W_OK) else Path(away))

    def runs(self) -> Mapping[str, Path]:
        """Returns the runs that exist now. UserError: the folder is gone."""
        return run_folders(self.root)

    def ask(
        self,
        question: Callable[[Library], _T],
        tell: Callable[[int, int], None] = lambda *_: None,
    ) -> _T:
        """Returns the result of a query function, which can only read the tables. UserError: it
        exceeds its time limit."""
        from duckdb import InterruptException

        def go(library: Library) -> _T:
            library.shut()
            alarm = Timer(PATIENCE_S, library.con.interrupt)
            alarm.start()
            try:
                return question(library)
            except InterruptException:
                raise UserError(timeout_message(PATIENCE_S)) from None
            finally:
                alarm.cancel()

        with self._lock:
            return answered(self.runs(), self._keep, go, tell)

    def ask_for_user(self, query: str, tables: Sequence[str]) -> QueryResult:
        """Runs a user's query without blocking internal queries. UserError: it is wrong, exceeds
        its time or memory limit, or too many queries are running."""
        self.ask(lambda _: None)  # has all tables made, which may take longer than a query may
        if not self._places.acquire(timeout=WAIT_S):
            raise UserError(f"{MOST_QUERIES} other queries are running; try again")
        try:
            return ask_apart(self.runs(), self._keep, query, tables, PATIENCE_S)
        finally:
            self._places.release()
