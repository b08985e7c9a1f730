# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows where the ranks of a program stand that is profiled elsewhere; its files are only read."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from mpigauge.measuring.jobs.agent import Agent
from mpigauge.model.errors import UserError
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.launch.gather import copy_now, left_in
from mpigauge.products.profile.match.merge import standing_profile
from mpigauge.products.profile.read.files import SUFFIX, numbered, read_rank
from mpigauge.products.profile.read.rank_file import RankFile, ReturnAddress
from mpigauge.products.profile.read.symbols import Place, resolved
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.runs.store import load
from mpigauge.runs.store.writer import is_locked

LOOKS = 2
"""A run is there for a moment before its process holds it, and after it has let go of it."""


class RanksNow:
    """The ranks of one run, read again and again. Places in the sources are looked up once."""

    def __init__(self, run: Path, tell: Callable[[str], None]) -> None:
        self.run, self.tell = run, tell
        self._places: dict[ReturnAddress, tuple[Place, ...]] = {}
        self._problems: set[str] = set()

    def follow(self, every: float, show: Callable[[Sequence[Account]], None]) -> None:
        """Shows the ranks until the run has ended."""
        without = 0
        while without < LOOKS and not load(self.run).status:
            without = without + 1 if is_locked(self.run) is False else 0
            if accounts := self.accounts():
                show(accounts)
            time.sleep(every)

    def accounts(self) -> list[Account]:
        """Returns the jobs whose ranks are there now, with nothing but where these stand."""
        jobs: dict[int, list[RankFile]] = {}
        for file in numbered(self._files()):
            if file.rank is not None:
                jobs.setdefault(file.job, []).append(file)
        accounts = []
        for number, files in sorted(jobs.items()):
            profile = standing_profile(sorted(files, key=lambda file: file.rank or 0))
            frames = {frame for spot in profile.spots for frame in spot.frames}
            unknown = frames - self._places.keys()
            if unknown:
                self._places.update(dict.fromkeys(unknown, ()))
                self._places.update(resolved(unknown))
            places = {frame: self._places[frame] for frame in frames if self._places[frame]}
            accounts.append(Account(ProfiledJob(0, number, profile, places)))
        return accounts

    def _files(self) -> list[RankFile]:
        left = left_in(self.run)
        if left is None:
            return []
        folder, now = Path(left.folder), time.time()
        with tempfile.TemporaryDirectory() as others:
            agent = Agent(left.words, left.shell)
            for problem in copy_now(folder, (*left.hosts, left.host), agent, Path(others)):
                if problem not in self._problems:
                    self._problems.add(problem)
                    self.tell(problem)
            files = []
            for path in [*folder.glob(f"*{SUFFIX}"), *Path(others).glob(f"*{SUFFIX}")]:
                with suppress(UserError, OSError, ValueError):  # being made, or gone just now
                    files.append(read_rank(path, now))
        return files
