# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs a script on many hosts at once, through the launch agent, and collects the answers."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import mpigauge
from mpigauge.model.errors import UserError

Result = TypeVar("Result")

AT_A_TIME = 32
SSH = ("ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")


@dataclass(frozen=True)
class Agent:
    """The program that runs a command on a host: its words, then the host, then a line for the
    shell."""

    words: tuple[str, ...] = SSH
    shell: tuple[str, ...] = ()
    """Words before that line, for an agent that takes separate words."""

    def command(self, host: str, script: str) -> list[str]:
        if is_here(host):
            return ["sh", "-c", script]
        return [*self.words, host, *self.shell, f"sh -c {shlex.quote(script)}"]


@dataclass(frozen=True)
class HostAnswer:
    """The result of a command on one host."""

    status: int | None
    """The exit status; None: it did not end in time."""
    output: str
    errors: str

    @property
    def last_words(self) -> str:
        """The line that most likely explains why there is no better answer."""
        last = (self.errors.strip().splitlines() or self.output.strip().splitlines() or [""])[-1]
        return last or f"the launch agent ended with status {self.status} and printed nothing"


def all_answers(
    hosts: Sequence[str], script: str, agent: Agent | None, seconds: float
) -> list[HostAnswer]:
    """An answer from each host, in their order; one that takes longer than `seconds` has no
    status."""
    return on_all(hosts, lambda host: answer_of(host, script, agent, seconds))


def on_all(hosts: Sequence[str], action: Callable[[str], Result]) -> list[Result]:
    """The results of an action for each host, in their order; it runs for several at the same
    time."""
    from concurrent.futures import ThreadPoolExecutor  # a run on this host has no use for it

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(action, hosts))


def refuse_problems(results: Iterable[object]) -> None:
    """UserError: an entry is a sentence, which explains why a host cannot be used."""
    problems = [problem for problem in results if isinstance(problem, str)]
    if problems:
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UserError(problems[0] + others)


def python_line(program: str, env: Mapping[str, str]) -> str:
    """A shell line that runs these lines of Python, with mpigauge's own modules importable."""
    package = str(Path(mpigauge.__file__).resolve().parents[1])
    lines = f"import sys\nsys.path.insert(0, {package!r})\n{program}"
    words = shlex.join(["env", *(f"{name}={value}" for name, value in sorted(env.items()))])
    return f"exec {words} {shlex.quote(sys.executable)} -c {shlex.quote(lines)}"


def is_here(host: str) -> bool:
    own = os.uname().nodename
    return host in ("localhost", own, own.partition(".")[0])


def answer_of(
    host: str, script: str, agent: Agent | None, seconds: float, output: IO[bytes] | None = None
) -> HostAnswer:
    """The answer from one host. `output`: a file for the script's output, which the answer then
    lacks."""
    words = (agent or Agent()).command(host, script)
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output or subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # so that ssh asks nobody, and all of it can be ended
        )
    except OSError as error:
        return HostAnswer(127, "", f"cannot run {words[0]}: {error.strerror}")
    try:
        text, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return HostAnswer(None, "", f"nothing came within {seconds:g} s")
    return HostAnswer(process.returncode, text or "", errors)
