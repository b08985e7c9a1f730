#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long is it from Enter on `mpigauge quick` to the first number, after installation?

In clean roots of Debian 12 that have python3-venv and one MPI, on a terminal, each time as a user
who has never called it before: from the start of the program to the first number with its ± on the
screen. Then in a root without any MPI how long the lines of README take, downloads included, each
once. It wants root, and a wheel with kernels: --wheel FILE, or the newest in dist/.

Exit status: 0 the median is below 10 s with each MPI, 1 it is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest

from mpigauge.model.errors import UserError
from tests.e2e.roots import Root, root
from tools import one_liners

PROMISE = "less than 10 s in the median, in clean roots of Debian 12 with one MPI"
GOAL_S = 10.0
SUITE = "bookworm"
PACKAGES = ("openmpi-bin", "mpich")
NUMBER = re.compile(r"\d\S*( [µn]?s)? ?±")
"""The pattern of a result, which no line has that only describes the machine."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TOOLS = "/opt/tools/bin"


def until_first_number_s(words: Sequence[str]) -> float:
    """Returns the seconds from a program's start to the first number on its terminal; ends it."""
    ours, its = pty.openpty()
    start = time.perf_counter()
    with subprocess.Popen(words, stdin=its, stdout=its, stderr=its, start_new_session=True) as job:
        os.close(its)
        try:
            return _seen(ours, start)
        finally:
            job.send_signal(signal.SIGINT)
            _drain(ours)
            job.wait()
            os.close(ours)


def _seen(terminal: int, start: float) -> float:
    text = ""
    while some := _some(terminal):
        now = time.perf_counter() - start
        text += some
        if NUMBER.search(_CONTROL.sub("", text)):
            return now
    raise UserError(f"it ended without a number: {_CONTROL.sub('', text)[-500:]}")


def _some(terminal: int) -> str:
    """Empty: its program has ended."""
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:
        return ""


def _drain(terminal: int) -> None:
    while _some(terminal):
        pass


def words_in(made: Root, user: str, *words: str) -> list[str]:
    path = f"/home/{user}/.local/bin:{TOOLS}:/opt/mpigauge/bin:/usr/bin:/bin"
    return made.words(*words, user=user, env={"PATH": path, "TERM": "xterm", "LANG": "C.UTF-8"})


def with_mpi(folder: Path, package: str, wheel: Path, rounds: int) -> list[float]:
    """Returns the seconds to the first number in one root, with a new user in each round."""
    took = []
    with root(folder, SUITE, package) as made:
        made.good("python3", "-m", "venv", "/opt/mpigauge", user="root")
        made.good("/opt/mpigauge/bin/pip", "install", "--quiet", made.put(wheel), user="root")
        for n in range(rounds):
            common.say_progress(f"{package}, round {n + 1} of {rounds}")
            made.add_user(f"user{n}")
            took.append(until_first_number_s(words_in(made, f"user{n}", "mpigauge", "quick")))
    common.end_progress()
    return took


def of_lines(folder: Path, wheel: Path) -> dict[str, float]:
    """Seconds of each line of README: to its end, or to its first number."""
    took = {}
    with root(folder, SUITE) as made:
        made.good("python3", "-m", "venv", "/opt/tools", user="root")
        made.good("/opt/tools/bin/pip", "install", "--quiet", "pipx", "uv", user="root")
        file = made.put(wheel)
        for n, line in enumerate(one_liners.lines(file)):
            common.say_progress(line)
            made.add_user(f"user{n}")
            shown = line.replace(file, "WHEEL")
            words = words_in(made, f"user{n}", *shlex.split(line))
            if line.endswith("quick"):
                took[shown] = until_first_number_s(words)
                continue
            took[shown] = _ended_s(words)
            quick = words_in(made, f"user{n}", "mpigauge", "quick")
            took[f"  and mpigauge quick after {line.split()[0]}"] = until_first_number_s(quick)
    common.end_progress()
    return took


def _ended_s(words: Sequence[str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"this ended with status {done.returncode}: {words}\n{done.stderr}")
    return time.perf_counter() - start


def newest_wheel() -> Path:
    machine = os.uname().machine
    folder = Path(__file__).resolve().parents[1] / "dist"
    wheels = sorted(folder.glob(f"mpigauge-*_{machine}.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise UserError(f"{folder} has no wheel for {machine}: `make wheel` makes one")
    return wheels[-1]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help="with kernels inside (the newest in dist/)")
    parser.add_argument("--rounds", type=int, default=10, help="with each MPI (10)")
    parser.add_argument("--quick", action="store_true", help="1 round: does it work at all?")
    options = parser.parse_args(words)
    took: dict[str, list[float]] = {}
    try:
        wheel = (options.wheel or newest_wheel()).absolute()
        conditions = common.machine()
        with tempfile.TemporaryDirectory() as folder:
            for package in PACKAGES:
                (place := Path(folder) / package).mkdir()
                rounds = 1 if options.quick else options.rounds
                took[package] = with_mpi(place, package, wheel, rounds)
            (place := Path(folder) / "none").mkdir()
            lines = of_lines(place, wheel)
    except (UserError, pytest.skip.Exception) as error:
        print(f"first_number: {error}", file=sys.stderr)
        return 2
    print(f"# {conditions}\n# {wheel.name}\n")
    print(f"{'to the first number with':<28}{'least s':>9}{'median s':>10}{'most s':>9}")
    for package, values in took.items():
        print(f"{package:<28}{min(values):>9.2f}{median(values):>10.2f}{max(values):>9.2f}")
    print("\nwithout any MPI, downloads included, once each")
    for line, seconds in lines.items():
        print(f"{line:<40}{seconds:>9.1f} s")
    figures = ", ".join(f"{package} {median(values):.2f} s" for package, values in took.items())
    return common.conclude(max(map(median, took.values())) < GOAL_S, figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
