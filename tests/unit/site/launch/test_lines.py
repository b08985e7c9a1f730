# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launch lines of users: what they say, in our values and then in the words of other launchers.

The lines, and what is to be made of them, stand in tests/golden/lines, a file for each dialect.
`UPDATE=1 pytest tests/unit/site/launch/test_lines.py` writes what is made of them now.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost
from mpigauge.products.exec.front.to_job import job_of, untold
from mpigauge.products.profile.launch.preload import joined, with_variables
from mpigauge.site import launch
from mpigauge.site.launch.lines import DIALECTS, Line, Program, is_launcher, read
from mpigauge.site.launch.lines.line import Environment
from mpigauge.site.launch.lines.read import GRAMMARS, dialect_of
from tests.unit.site.launch.test_launch import INTEL, MPICH, OPENMPI4, OPENMPI5

GOLDEN = Path(__file__).parents[3] / "golden" / "lines"
FILES = {
    "hosts": "a slots=2\nb slots=3\n",
    "apps": "# one line each\n-n 1 ./first\n-n 2 \\\n  ./second x\n",
    "platform_apps": "-h a -np 2 -e A=1 ./first\n-h b -np 1 ./second x y\n",
    "quoted": "-np 1 -e 'A=x y' ./first \"a b\"\n-np 1 ./second\n",
    "open": "-np 1 ./first 'a\n",
    "platform_hosts": "a b:2  # two\nc,d\n",
    "programs": "0 ./first 'x y'\n1-2,3 ./second %t\n",
}
HERE = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "OMP_NUM_THREADS": "3",
    "LD_A": "1",
    "LD_PRELOAD": "h.so",
}
LIBRARY = {"LD_PRELOAD": "/m/ours.so", "WHERE": "/tmp/a b"}
BACK = {"mpich": MPICH, "intel": INTEL, "openmpi 4": OPENMPI4, "openmpi 5": OPENMPI5}


def text_of(name: str) -> str:
    if name not in FILES:
        raise UserError(f"cannot read {name}: No such file or directory")
    return FILES[name]


def told(line: Line) -> Iterator[str]:
    """What a line says, without what is as usual."""
    for program in line.programs:
        yield f"  {program_words(program)}"
    values = {
        "hosts": hosts(line.hosts),
        "ppn": line.ppn,
        "in turn": line.in_turn,
        "place": line.place,
        "unbound": line.unbound,
        "transport": line.transport,
        "oversubscribe": line.oversubscribe,
        "agent": shlex.join(line.agent),
        "settings": dict(line.settings),
        "environment": environment(line.env),
    }
    for name, value in values.items():
        if value:
            yield f"  {name}: {value}"


def program_words(program: Program) -> str:
    said = [f"{program.ranks or 'slots'} x {shlex.join(program.words)}"]
    said += [f"on {hosts(program.hosts)}"] if program.hosts else []
    said += [environment(program.env)] if environment(program.env) else []
    said += [f"in {program.wdir}"] if program.wdir else []
    return ", ".join(said)


def hosts(named: tuple[NamedHost, ...]) -> str:
    return ",".join(f"{host.name}:{host.slots}" if host.slots else host.name for host in named)


def environment(env: Environment) -> str:
    said = [f"{name}={value!r}" for name, value in env.sets.items()]
    said += [f"passes {name}" for name in env.passes]
    said += [] if env.inherits else ["nothing else"]
    return " ".join(said)


def back(line: Line) -> Iterator[str]:
    """The same in the words of all launchers, where the line says enough."""
    try:
        jobs = {name: job_of(line, mpi, HERE) for name, mpi in BACK.items()}
    except UserError as error:
        yield f"  ! {error}"
        return
    for each in untold(line, MPICH):
        yield f"  no counterpart: {each}"
    for name, job in jobs.items():
        yield f"  {name}: {shlex.join(launch.command(job).words)}"
    command = launch.command(replace(jobs["mpich"], launcher="srun", stem="f"))
    yield f"  srun: {shlex.join(command.words)}"
    for file, text in command.files.items():
        yield from (f"    {file}: {each}" for each in text.splitlines())


def block(typed: str, dialect: str) -> list[str]:
    try:
        line = read(shlex.split(typed), dialect, text_of)
    except UserError as error:
        return [f"$ {typed}", f"  ! {error}"]
    return [f"$ {typed}", *preloaded(typed, dialect), *told(line), *back(line)]


def preloaded(typed: str, dialect: str) -> list[str]:
    """The same line for ranks that load a library first."""
    if dialect == "platform":
        return []
    words = with_variables(shlex.split(typed), dialect, LIBRARY, HERE, text_of)
    return [f"  preloaded: {shlex.join(words)}"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_lines_are_read_and_said_in_the_words_of_other_launchers(dialect: str) -> None:
    file = GOLDEN / f"{dialect}.txt"
    text = file.read_text(encoding="utf-8")
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    made = "\n".join(each for typed in lines for each in block(typed, dialect)) + "\n"
    if os.environ.get("UPDATE"):
        file.write_text(made, encoding="utf-8")
    assert made == text


def test_a_library_is_preloaded_once_and_before_what_was_there() -> None:
    assert joined("/m/ours.so", "") == "/m/ours.so"
    assert joined("/m/ours.so", "a.so b.so") == "/m/ours.so:a.so:b.so"
    assert joined("/m/ours.so", "a.so:/m/ours.so") == "/m/ours.so:a.so"


def test_platform_mpi_cannot_be_told_variables_of_ours() -> None:
    with pytest.raises(UserError, match="cannot get variables by the options of platform"):
        with_variables(["mpirun", "-np", "2", "./app"], "platform", LIBRARY, {}, text_of)


def test_launchers_are_known_by_their_names() -> None:
    assert is_launcher("/opt/mpi/bin/mpiexec.hydra")
    assert not is_launcher("./mpirun.sh")
    assert dialect_of("/usr/bin/srun") == "srun"
    assert dialect_of("mpirun") == ""


def test_words_of_nobody_are_refused() -> None:
    with pytest.raises(UserError, match="did you mean 'openmpi'"):
        read(["mpirun", "./app"], "openmp")
    with pytest.raises(UserError, match="begins with a launcher"):
        read([], "hydra")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_option_of_a_launcher_is_lost(dialect: str) -> None:
    """Each option has a meaning or is named as one without a counterpart."""
    grammar = GRAMMARS[dialect]
    for name, option in grammar.options.items():
        if option.means is None:
            dashes = "--" if len(name) > 1 else "-"
            given = [f"{dashes}{name}", *["7"] * max(option.values, 0)]
            line = read(["mpirun", *given, "./app"], dialect, text_of)
            assert line.without == (" ".join(given),)
            assert line.programs[0].words == ("./app",)
