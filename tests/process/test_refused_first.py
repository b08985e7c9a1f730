# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks without cores, unknown hosts and wrong values are refused before a build, by every command
that starts jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mpi_fakes, wrong_words
from tests.process.test_probe import ELSEWHERE
from tests.wrong_words import COMMANDS, Line, command_of, line_of


def refusal(words: tuple[str, ...], folder: Path) -> str:
    """What is said where no kernels are built yet."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "mpigauge"), *words, "--mpi", "mpich"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MPIGAUGE_CACHE": str(folder / "cache")},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "building" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "cache" / "kernels").exists()
    return done.stderr


@pytest.mark.parametrize(
    "words", [("run", "Barrier", "--np", "9999"), ("run", "Barrier", "--ranks", "9999"),
              ("map", "--np", "9999")]
)  # fmt: skip
def test_too_many_ranks_are_refused_before_a_build(words: tuple[str, ...], tmp_path: Path) -> None:
    assert "9999 ranks are more than the" in refusal(words, tmp_path)


CORES = "--ppn 9999 is more than the "
WRONG = (("--ppn", "0"), ("--timeout", "5y"), ("--launches", "x"), ("--set", "=1"),
         ("--sizes", "8,,9"), ("--launcher", "nope"))  # fmt: skip
"""A wrong value of options that jobs have."""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "Barrier", "--ppn", "9999", "--np", "19998"), CORES),
        (("run", "Barrier", "--place", "core", "--np", "19998"), "the job has 19998"),
        (("map", "--np", "19998"), "19998 ranks are more than the "),
        (("fabric", "--ppn", "9999"), CORES),
    ],
)
def test_too_many_ranks_of_hosts_are_too(
    words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    agent = mpi_fakes.program(tmp_path / "agent", f"#!/bin/sh\n{ELSEWHERE}\n")
    said = refusal((*words, "--hosts", "far,away", "--rsh", str(agent)), tmp_path)
    assert sentence in said


# --- every command of the registry


STARTS = {("calibrate",): ("--measure", "-o", "new.cal")}
"""Words with which a command starts jobs, if its usual ones do not."""


def options_of(command: tuple[str, ...]) -> set[str]:
    return {name for each in command_of(command).params for name in each.opts}


def with_option(name: str) -> list[tuple[str, ...]]:
    """The commands that start jobs, by a launcher or as a launcher, and have the option."""
    return [
        each
        for each in COMMANDS
        if {"--mpi", name} <= options_of(each)
        and {"--launcher", "--oversubscribe"} & options_of(each)
    ]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that right words name, and no kernels."""
    return wrong_words.make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def no_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The cache, in which a build would make a folder."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("MPIGAUGE_CACHE", str(cache))
    monkeypatch.delenv("MPIGAUGE_HISTORY", raising=False)
    wrong_words.nothing_starts(monkeypatch)
    return cache


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for option in ("--np", "--ranks") for command in with_option(option)],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_every_command_refuses_too_many_ranks_first(
    command: tuple[str, ...], option: str, world: Path, no_kernels: Path, tmp_path: Path
) -> None:
    """`complaint` names what would start: a build, or a launch."""
    line = Line(line_of(command, (option, "9999"), option), option, "9999")
    with wrong_words.copied(world, tmp_path / "here") as here:
        assert not wrong_words.complaint(line, here)
    assert not (no_kernels / "kernels").exists()


def _with_hosts(command: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    if command in STARTS:
        return (*command, *words, *STARTS[command])
    return line_of(command, words, "--hosts")


@pytest.mark.parametrize("command", with_option("--hosts"), ids=" ".join)
def test_every_command_refuses_an_unknown_host_first(
    command: tuple[str, ...], world: Path, tmp_path: Path
) -> None:
    """The agent is the only program that starts, and it reaches no host."""
    agent = mpi_fakes.program(tmp_path / "agent", "#!/bin/sh\necho no such host >&2\nexit 1\n")
    words = ("--hosts", "far,away", "--rsh", str(agent))
    with wrong_words.copied(world, tmp_path / "here") as here:
        done = subprocess.run(
            [sys.executable, "-c", "from mpigauge.cli import main; main()",
             *_with_hosts(command, words)],
            capture_output=True, text=True, cwd=here, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "MPIGAUGE_CACHE": str(tmp_path / "cache")},
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "far does not answer: no such host" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "cache" / "kernels").exists()


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for option, _ in WRONG for command in with_option(option)],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_every_command_refuses_a_wrong_value_first(
    command: tuple[str, ...], option: str, world: Path, no_kernels: Path, tmp_path: Path
) -> None:
    value = dict(WRONG)[option]
    line = Line(line_of(command, (option, value), option), " ".join(command), value)
    with wrong_words.copied(world, tmp_path / "here") as here:
        assert not wrong_words.complaint(line, here)
    assert not (no_kernels / "kernels").exists()
