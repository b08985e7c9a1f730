# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The runs of a folder as they are now, and questions to the tables over them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeVar

from mpigauge.result.library import answered
from mpigauge.runs.store import run_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.result.library import Library

_T = TypeVar("_T")
PATIENCE_S = 20.0
"""A question that takes longer is given up."""


class RunsFolder:
    """Tables are kept beside the runs as `mpigauge sql` does; where that cannot be, as long as this
    is open. One question at a time."""

    def __init__(self, root: Path, keep: Path) -> None:
        self.root = root
        self._keep = keep
        self._lock = Lock()

    @classmethod
    @contextmanager
    def open(cls, root: Path) -> Iterator[RunsFolder]:
        whole = Path(os.path.normpath(root.absolute()))
        with tempfile.TemporaryDirectory(prefix="mpigauge-") as away:
            yield cls(whole, whole if os.access(whole, os.W_OK) else Path(away))

    def runs(self) -> Mapping[str, Path]:
        """The runs that are there now. UserError: the folder is gone."""
        return run_folders(self.root)

    def ask(
        self,
        question: Callable[[Library], _T],
        tell: Callable[[int, int], None] = lambda *_: None,
    ) -> _T:
        """What it brings. It can read nothing but the tables."""

        def go(library: Library) -> _T:
            library.shut()
            alarm = Timer(PATIENCE_S, library.con.interrupt)
            alarm.start()
            try:
                return question(library)
            finally:
                alarm.cancel()

        with self._lock:
            return answered(self.runs(), self._keep, go, tell)
