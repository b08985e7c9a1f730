# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs the user's command transparently: input, output, signals and status are its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from types import FrameType

from mpigauge.measuring.jobs.bystander import Bystander
from mpigauge.measuring.jobs.deaths import BY_SIGNAL, cause_by_status, conditions
from mpigauge.model.errors import UserError
from mpigauge.site.launch.left_session import remove_left_session
from mpigauge.site.launch.leftovers import Watched

FOR_PROGRAM = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals to mpigauge that are meant for the program."""
OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal also sends to the program; only those for mpigauge alone are
forwarded."""
_END = 0
"""The value that stands for the end of signals."""


@dataclass(frozen=True)
class Ended:
    status: int
    """The exit status as a shell reports it: 128 plus the number of a signal that ended it."""
    seconds: float
    cause: str = ""
    """The limit of this machine that ended it; empty: there is no evidence for one."""


def run(
    words: Sequence[str],
    env: Mapping[str, str],
    output: int | None = None,
    started: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> Ended:
    """Runs a command to its end. `output`: file descriptor of its output, without input then; None:
    it inherits mpigauge's streams. `started` gets the process. UserError: it cannot be started."""
    import time

    begun, before = time.monotonic(), conditions()
    try:
        process = subprocess.Popen(
            list(words),
            env=dict(env),
            stdin=None if output is None else subprocess.DEVNULL,
            stdout=output,
            preexec_fn=lambda: remove_left_session(os.getpid(), env),  # noqa: PLW1509
        )
    except OSError as error:
        raise UserError(f"cannot start {words[0]}: {error.strerror}") from None
    watched = Watched(process.pid, env)
    if started:
        started(process)
    with _passed_on(process, watched):
        status = process.wait()
    seconds = time.monotonic() - begun
    shown = status if status >= 0 else BY_SIGNAL - status
    cause = cause_by_status(shown, before)  # before what filled /dev/shm is removed
    watched.remove()
    return Ended(shown, seconds, cause)


@contextmanager
def _passed_on(process: subprocess.Popen[bytes], watched: Watched) -> Iterator[None]:
    """Forwards signals that would end mpigauge to the program, until its end."""
    received: SimpleQueue[int] = SimpleQueue()

    def receive(number: int, frame: FrameType | None) -> None:
        del frame
        received.put(number)

    before = {number: signal.signal(number, receive) for number in (*FOR_PROGRAM, *OF_TERMINAL)}
    try:
        with Bystander() as bystander:
            courier = Thread(target=_pass_on, args=(received, process, watched, bystander))
            courier.start()
            try:
                yield
            finally:
                received.put(_END)
                courier.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _pass_on(
    received: SimpleQueue[int],
    process: subprocess.Popen[bytes],
    watched: Watched,
    bystander: Bystander,
) -> None:
    """Forwards signals from a thread of its own: a handler would be interrupted by the next one."""
    while (number := received.get()) != _END:
        if number in OF_TERMINAL and bystander.was_hit():
            continue
        watched.look()
        process.send_signal(number)
