# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hands a script to a batch system, and follows the job without being a burden on it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.model.errors import RunError, UserError
from mpigauge.site.batch import BatchState, System

ASK_EVERY_S = 10.0
"""A batch system is asked no more often."""
LOOK_EVERY_S = 0.5
"""The interval in seconds at which we read our own files."""
PATIENCE = 3
"""So often in a row a system may not know a job before it is taken to be gone."""
ANSWER_S = 60.0
"""A program of a batch system that takes longer has not answered."""


@dataclass(frozen=True)
class Queue:
    """A batch system, as a process can use it."""

    system: System

    def submit(self, script: str, variables: Mapping[str, str] | None = None) -> str:
        """The number of the new job, which gets these variables with our environment. UserError:
        the system does not take it."""
        words = self.system.submit
        try:
            status, answer = _output_of(words, script, variables)
        except FileNotFoundError:
            raise UserError(
                f"there is no program {words[0]} here; submit from a login node of a cluster with "
                f"{self.system.name}, or name another --system"
            ) from None
        match = self.system.number.search(answer)
        if status or not match:
            why = (answer.strip().splitlines() or [f"exit status {status}"])[-1]
            raise UserError(f"{words[0]} refused the job: {why}")
        return match[1]

    def ask(self, job: str) -> BatchState:
        try:
            return self.system.state(*_output_of(self.system.ask(job)))
        except FileNotFoundError as error:
            raise RunError(
                f"cannot ask for job {job}: there is no program {error.filename}"
            ) from None


def follow(
    ask: Callable[[], BatchState],
    finished: Callable[[], bool],
    tell: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> BatchState:
    """Waits until the run has `finished`, or the job has ended, and says how it ended.

    `ask` asks the batch system, `finished` looks at a file. `tell` hears what is new.
    """
    asked_s, reported, unknown = clock() - ASK_EVERY_S, BatchState("unknown"), 0
    while not finished():
        if clock() - asked_s < ASK_EVERY_S:
            sleep(LOOK_EVERY_S)
            continue
        asked_s, now = clock(), ask()
        unknown = unknown + 1 if now.phase == "unknown" else 0
        if now.phase == "ended" or unknown == PATIENCE:
            return now
        if now.phase != "unknown" and now != reported:
            tell(f"is {now.phase}" + (f" ({now.why})" if now.why else ""))
            reported = now
    return BatchState("ended")


def _output_of(
    words: Sequence[str], text: str = "", variables: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Exit status, and all that a program says. A system that does not answer says nothing."""
    try:
        done = subprocess.run(
            words,
            input=text,
            env={**os.environ, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=ANSWER_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, f"{words[0]} did not answer within {ANSWER_S:g} s"
    return done.returncode, done.stdout
