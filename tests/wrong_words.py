# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A generator of wrong command lines: all commands, all their options and arguments, all kinds of
wrong value.

The kind of a value is its metavar, so that an option is tried as soon as it is there; one whose
metavar has no kind yet fails a test. Lines are tried in this process: where a command would start a
program, a server or a build, `Launched` is raised instead.
"""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import socketserver
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

import mpigauge
from mpigauge.cli import registry
from mpigauge.cli.main import group, run
from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.model.option_table import OFFERED
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.predict.calibrating import calibrated
from mpigauge.products.predict.calibration import to_text
from mpigauge.runs.store.imported import load_reference
from mpigauge.site.mpi import find
from tests import cells, profiles, runs, tunings
from tests.elf_files import Made

if TYPE_CHECKING:
    import pytest

HUGE = "9" * 5000
LONG = "x" * 5000
LONGEST_LINE = 1000
"""Characters of an error."""
RUN, PART, SWEEP = "a-run", "part-of-a-run", "a-sweep"
PROFILE, TUNING, PROGRAM = "a-profile", "a-tuning", "./a-program"
CALIBRATION, PUBLISHED = "machine.cal", "ref:oci-optimized3-36-intel"
PLAN, FILE, FOLDER = "plan.toml", "a-file", "a-folder"
"""What lies in the folder where the lines are tried."""
LOCKED = "/proc/mpigauge"
"""Nobody can make this, root neither."""


@dataclass(frozen=True)
class Kind:
    """A kind of value."""

    wrong: tuple[str, ...]
    right: str = ""
    """A value that some command accepts; empty: none."""


COUNT = ("nan", "inf", "-1", "0", "1.5", "1e3", "0x10", "x", "2,", HUGE, f"-{HUGE}")
TIME = ("nan", "inf", "-1", "0", "0s", "x", "5y", "1s2", "1e400", HUGE, f"{HUGE}h")
SHARE = ("nan", "inf", "-1%", "0", "x", "200%", "%", "5%%", HUGE, f"0.{HUGE}e9")
SIZE = ("nan", "-1", "x", "1.5", "64Pi", "8Q", "8..", HUGE, f"{HUGE}Ki")
READ = ("missing.txt", "no/folder/x", FOLDER, "/dev/zero", f"{FILE}/below", LONG, "with\nline")
WRITTEN = (
    LOCKED,
    f"{LOCKED}/below",
    FOLDER,
    f"{FILE}/below",
    LONG,
    "/dev/zero/x",
    "/dev/zero",
    "/dev/full",
)
NAME = ("nope", "--nope", "x\ny", "\udcff", LONG, HUGE)
A_RUN = (*NAME, "ref:nope", FOLDER, FILE, LOCKED, "/dev/zero", "missing/run")
AN_MPI = (*NAME, FOLDER, FILE, "mpich==0", "mpich==", "mpich@nope", "/missing/mpiexec")
HOSTS = ("a,,b", "a:x", "a:0", "a[", "a[3-1]", f"a:{HUGE}", f"a[1-{HUGE}]", "-rf", "a b\nc")
POLICY = ("nope", "ppr:0:core", "ppr:x:core", "ppr:1:nope", "cores:x", "cores:99999", "cores:0,0",
          "rankfile:missing", f"rankfile:{FOLDER}", f"ppr:{HUGE}:core", f"cores:{HUGE}",
          "core,nope", LONG)  # fmt: skip

KINDS: dict[str, Kind] = {
    "N": Kind(COUNT, "2"),
    "RANK": Kind((*COUNT[:3], *COUNT[4:]), "0"),
    "SECONDS": Kind(("nan", "-1", "x", "inf", HUGE), "1"),
    "MICROSECONDS": Kind(("nan", "inf", "-1", "0", "x", "1,2", HUGE), "2"),
    "TIME": Kind(TIME, "30s"),
    "SHARE": Kind(SHARE, "5%"),
    "SIZE": Kind(SIZE, "8"),
    "MPI": Kind(AN_MPI, "mpich"),
    "RUN": Kind(A_RUN, RUN),
    "PROFILE": Kind(A_RUN, PROFILE),
    "RUN|FILE.toml": Kind((*A_RUN, PLAN, "missing.toml"), RUN),
    "COLUMN": Kind(NAME),
    "COLUMN=VALUE": Kind(("x", "=x", "nope=1", "benchmark=", "=", "benchmark=nope", LONG),
                         "benchmark=PingPong"),
    "NAME=VALUE": Kind(("x", "=x", "1x=2", "a b=c", "="), "MPIR_CVAR_NOLOCAL=0"),
    "NAME[=VALUE]": Kind(("=x", "NOT_THERE", "1x=2", "a b=c"), "HOME"),
    "NAME=A,B": Kind(("x", "=x", "nope=", "sizes=x", "cache=nope", "=", f"np={HUGE}"),
                     "env:X=1,2"),
    "POLICY": Kind(POLICY, "core"),
    "FORMAT": Kind(NAME, "csv"),
    "READER": Kind(NAME, "imb"),
    "BENCHMARK": Kind((*NAME, "MPI1:nope", ":", "*nope"), "PingPong"),
    "TYPE": Kind(NAME, "float"),
    "OP": Kind(NAME, "sum"),
    "CORES": Kind(("x", "99999", "0-", "3-1", HUGE, "0,0"), "0,1"),
    "KIND,…": Kind((*NAME, "gpu", "host,nope", ",", "host:", ":host", "host:host:host", "8Q"),
                   "host"),
    "GPU,…": Kind((*NAME, "near,0", ",", "-1", "99999", "ffff:ff:ff.7")),
    "LEVEL": Kind(NAME, "single"),
    "LEVEL,…": Kind((*NAME, "single,nope", ","), "single"),
    "ORDER,…": Kind((*NAME, "compact,nope", ","), "compact"),
    "NODES,…": Kind((*NAME, "99", "local,nope", ",", HUGE), "local"),
    "PATTERN,…": Kind((*NAME, "late:nope:1", "profile:nope", "profile:", ",", f"late:0:{HUGE}")),
    "DIR,…": Kind(("missing", FILE, ",", f"{FOLDER},", f"{FILE}/x", LONG, LOCKED), FOLDER),
    "N,…": Kind(("x", "0,2", "1,2", "0,0", ",", "nan", f"0,{HUGE}"), "0,1"),
    "AxB…": Kind(("x", "0x2", "2x", "2xx2", "-1x2", "nan", f"{HUGE}x2"), "2x1"),
    "PxQ": Kind(("x", "0x2", "2x", "2xx2", "2", "nan", f"{HUGE}x2"), "2x1"),
    "BLAS": Kind((*NAME, FOLDER, FILE, "/missing.so"), "openblas"),
    "'PROGRAM FLAGS'": Kind(("nope", "'g++", FOLDER, FILE, "-O2", "/dev/zero", LONG), "g++"),
    "WORDS": Kind(("nope-ssh", "'ssh", "/dev/zero", FOLDER, LONG), "sh"),
    "PROGRAM": Kind(("missing", FOLDER, FILE, "/dev/zero", LONG), "/bin/true"),
    "DATE": Kind(("nope", "2026-13-01", "2026-02-30", "-1", "nan", HUGE), "2026-01-02"),
    "ADDRESS": Kind(("not an address", "999.1.1.1", "-1", "x" * 300, "a..b"), "127.0.0.1"),
    "WHICH": Kind(NAME, "all"),
    "EXPR": Kind(("nope =", "nope = 1", "1; DROP TABLE runs", "'", LONG)),
    "WORD": Kind(NAME),
    "COLLECTIVE": Kind(NAME, "Bcast"),
    "CHECK": Kind(NAME, "cpus"),
    "COMMAND": Kind(("nope", LONG), "run"),
    "PREFIX": Kind(("missing", FILE, LONG, LOCKED), FOLDER),
    "SUITE|BENCHMARK": Kind((*NAME, ":"), "PingPong"),
    "DIR|RUN": Kind(("nope", FILE, "ref:nope", "/dev/zero", LONG, LOCKED), RUN),
    "RUN | LOOP": Kind(NAME, "Triad"),
}  # fmt: skip
"""By metavar."""
SPECIAL: dict[str, Kind] = {
    "--hosts": Kind(HOSTS),
    "--ranks": Kind((*COUNT, "2,,3", "2,x", "2..", "4..2"), "2"),
    "--sizes": Kind((*SIZE, "8,,9", "8,x", "9..8", "..", ","), "8"),
    "--on": Kind((*READ, FILE, "bad.toml"), CALIBRATION),
    "--network": Kind((*NAME, "fattree:", "fattree:0x2", "torus:2x2/1", f"torus:{HUGE}",
                       "dragonfly:2x2", "fattree:1x1"), "fattree:2x2"),
    "--library": Kind(NAME, "openmpi-4.1"),
    "--nodes": Kind((*COUNT, "200001"), "2"),
    "calibrate -o": Kind(WRITTEN),
    "--trace": Kind((LOCKED, FILE, f"{FILE}/x", LONG)),
    "--seed": Kind(("nan", "-1", "1.5", "x", HUGE), "1"),
    "--stride": Kind(("nan", "-1", "1.5", "x", HUGE), "1"),
    "--frames": Kind(("nan", "-1", "1.5", "x", HUGE), "1"),
    "--port": Kind(("nan", "-1", "1.5", "x", "65536", HUGE), "0"),
    "--columns": Kind(("0", "3", "x"), "1"),
    "--pairs": Kind((*NAME, "neighbours:x"), "all"),
    "--noise": Kind(("nan", "-1", "x", "inf", "1e9", HUGE), "1"),
    "--every": Kind(("nan", "-1", "0", "x", "inf", "1e12", HUGE), "1"),
    "--transport": Kind((*NAME, "nope,shm"), ""),
    "--launcher": Kind((*NAME, "hydra:nope"), ""),
    "--benchmark": Kind((*NAME, "MPI1:nope"), "PingPong"),
    "--to": Kind(NAME),
    "--system": Kind(NAME, "slurm"),
    "--np": Kind((*COUNT, "16777217"), "2"),
    "--vary-block": Kind(("x", "[", "{}", LONG)),
    "--command-block": Kind(("x", "[", "{}", LONG)),
    "import --ranks": Kind(("nan", "-1", "1.5", "x", "1e3", HUGE, "16777217"), "2"),
    "topo --from": Kind((*READ, FILE)),
    "doctor --from": Kind((*READ, FILE)),
    "mpi install --from": Kind(("missing", FILE, LOCKED, f"{FILE}/x", LONG, "empty"), FOLDER),
    "export FORM": Kind(NAME, "csv"),
    "model BENCHMARK": Kind(NAME, "PingPong"),
    "ref show NAME": Kind(NAME),
    "sql QUERY": Kind(("nope", "SELECT", "SELECT nope FROM runs", "'", ";", "SELECT 1; SELECT 2",
                       "SELECT * FROM '/dev/zero'", "COPY runs TO 'x.csv'"), "SELECT 1"),
    "sql WHERE": Kind(("nope", FILE, "ref:nope", "/dev/zero", LONG), RUN),
    "imb install FOLDER": Kind((LOCKED, FILE, f"{FILE}/x", f"{LOCKED}/x", LONG)),
    "mpi front FOLDER": Kind((LOCKED, FILE, f"{FILE}/x", f"{LOCKED}/x", LONG)),
    "browse FOLDER": Kind(("missing", FILE, "/dev/zero", LONG, LOCKED), FOLDER),
    "runs FOLDER": Kind(("missing", FILE, "/dev/zero", LONG, LOCKED), FOLDER),
    "mpi build --into": Kind((LOCKED, FILE, f"{FILE}/x", f"{LOCKED}/x", LONG)),
    "kernels build --into": Kind((LOCKED, FILE, f"{FILE}/x", f"{LOCKED}/x", LONG)),
    "man -o": Kind((LOCKED, FILE, f"{FILE}/x", f"{LOCKED}/x", LONG)),
    "import FILES": Kind((*READ, FILE)),
    "plan WHAT": Kind(NAME, "check"),
    "plot WORDS": Kind(NAME, "latency"),
    "exec WORDS": Kind(("missing", FOLDER, FILE, "/dev/zero", LONG), "/bin/true"),
    "profile WORDS": Kind(("missing", FOLDER, "/dev/zero", LONG), "/bin/true"),
    "submit WORDS": Kind(("nope", "/dev/zero", LONG), "run"),
    "mpi install NAMES": Kind(("nope", "mpich==", "==5", LONG, "mpich=5", "--pre")),
    "plan WORDS": Kind(("missing.toml", FILE, FOLDER, "/dev/zero", "bad.toml", "huge.toml"), PLAN),
    "tune apply WORDS": Kind(("missing", FOLDER, "/dev/zero", LONG), "/bin/true"),
    "sweep BENCHMARKS": Kind((*NAME, "missing.toml", "bad.toml", "huge.toml"), "PingPong"),
}  # fmt: skip
"""Where an option or a command has another kind than its metavar says, by the option, or by the
command and the option or argument."""
FREE = {"--label", "--machine", "--queue", "--account", "--option",
        "settings WORD", "mpi settings WORD"}  # fmt: skip
"""Any text is right here."""
READS = {"--groups", "--hostfile", "--cuda", "--nccl", "--topology", "--sizes-file", "--env-script"}
FOLDERS_READ = {"--tuned"}

BASES: dict[str, tuple[str, ...]] = {
    "best": (SWEEP,),
    "calibrate": (PUBLISHED, "-o", "new.cal"),
    "check": (RUN, "--against", RUN),
    "compare": (RUN, RUN),
    "completion": ("bash",),
    "exec": ("--np", "2", PROGRAM),
    "explain": (RUN,),
    "export": ("csv", RUN),
    "history rebuild": (RUN,),
    "imb install": ("new-folder",),
    "import": ("printed.txt",),
    "model": (RUN,),
    "mpi front": ("new-folder", "--mpi", "mpich"),
    "mpi install": ("mpich",),
    "plan": ("check", PLAN),
    "plot": (RUN, "latency"),
    "predict": ("Allreduce", "--on", CALIBRATION, "--nodes", "2", "--ppn", "2", "--sizes", "8"),
    "profile": ("--np", "2", PROGRAM),
    "ref show": ("juno",),
    "report": (RUN,),
    "resume": (PART,),
    "run": ("PingPong",),
    "share": (RUN,),
    "show": (RUN,),
    "sql": ("SELECT 1", RUN),
    "submit": ("--system", "slurm", "--dry-run", "run", "PingPong"),
    "sweep": ("PingPong", "--vary", "env:X=1,2"),
    "tune apply": (TUNING, "--", "/bin/true"),
    "tune env": (TUNING,),
    "tune show": (TUNING,),
    "tune verify": (TUNING,),
    "validate": (PUBLISHED, "--on", CALIBRATION),
    "watch": (RUN,),
}
"""Right words of a command, which wrong ones are put to. Others need none."""


@dataclass(frozen=True)
class Line:
    """A command line to be tried."""

    words: tuple[str, ...]
    about: str
    value: str = ""
    wrong: bool = True
    """It has to be refused. Else it may be carried out."""

    @property
    def command(self) -> tuple[str, ...]:
        """The command that it is for, also where its name is misspelt."""
        return max((each for each in COMMANDS if self._begins(each)), key=len, default=COMMANDS[0])

    def _begins(self, command: tuple[str, ...]) -> bool:
        first = self.words[: len(command)]
        return first[:-1] == command[:-1] and bool(first) and first[-1].startswith(command[-1])

    def __str__(self) -> str:
        return " ".join(word if len(word) < 60 else f"{word[:9]}…" for word in self.words)


def commands_of(of: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, parts of groups among them."""
    if not isinstance(of, click.Group):
        yield words
        return
    context = click.Context(of)
    for name in registry.COMMANDS if of is group else of.list_commands(context):
        part = of.get_command(context, name)
        assert part is not None
        yield from commands_of(part, (*words, name))


def command_of(words: Sequence[str]) -> click.Command:
    command: click.Command = group
    for name in words:
        assert isinstance(command, click.Group)
        part = command.get_command(click.Context(command), name)
        assert part is not None
        command = part
    return command


COMMANDS = sorted(commands_of(group))


def name_of(param: click.Parameter) -> str:
    return param.opts[-1] if isinstance(param, click.Option) else str(param.name).upper()


def metavar_of(param: click.Parameter) -> str:
    """Those of arguments stand in brackets where one may be left out, and have dots for several."""
    metavar = param.metavar or ""
    if isinstance(param, click.Option):
        return metavar
    return metavar.replace("...", "").removeprefix("[").removesuffix("]")


def kind_of(command: tuple[str, ...], param: click.Parameter) -> Kind:
    """KeyError: nobody has said what is wrong for such a value."""
    name, metavar = name_of(param), metavar_of(param)
    for key in (f"{' '.join(command)} {name}", f"{command[0]} {name}", name):
        if key in FREE:
            return Kind((), "a")
        if key in SPECIAL:
            return SPECIAL[key]
    if isinstance(param.type, click.Choice):
        return Kind(NAME, str(param.type.choices[0]))
    if name in READS:
        return Kind(READ)
    if name in FOLDERS_READ or (metavar == "DIR" and isinstance(param, click.Argument)):
        return Kind(("missing", FILE, "/dev/zero", LONG, FOLDER))
    if name in ("--output", "--draw", "--junit", "--prometheus"):
        return Kind(WRITTEN)
    return KINDS[metavar]


REFUSED: tuple[tuple[str, ...], ...] = (
    ("run", "PingPong", "--sizes", "1Ti"),
    ("run", "PingPong", "--memory", "1"),
    ("run", "PingPong", "--memory-limit", "1Mi", "--sizes", "8,4Mi"),
    ("run", "PingPong", "--memory", "1Gi", "--memory-limit", "2Gi"),
    ("run", "PingPong", "--memory", "device", "--cache", "cold"),
    ("run", "PingPong", "--gpu", "0"),
    ("run", "Bcast", "--memory", "device:host"),
    ("map", "--memory", "device", "--benchmark", "NODE:Mailbox"),
    ("run", "PingPong", "--sizes", "8", "--sizes-file", "printed.txt"),
    ("node", "--sizes", "1Ti"),
    ("plot", RUN, "latency", "--size", "3"),
    ("plot", RUN, "map", "--benchmark", "PingPong"),
    ("check", RUN, "--against", RUN, "--only", "placement="),
    ("sql", "SELECT 1", "/dev/zero"),
    ("export", "csv", "/dev/zero"),
    ("import", "printed.txt", "--pivot", "nope"),
    ("import", "printed.txt", "--pivot", "setting", "--format", "imb"),
    ("tune", "make", "--output", FOLDER),
    ("show", RUN, "--json", "--format", "csv"),
)
"""Words that are right each, and wrong together."""


def lines() -> list[Line]:
    """All of them, always in one order."""
    together = [Line(words, words[0]) for words in REFUSED]
    return [*together, *_wrong_options(), *_wrong_arguments(), *_missing_and_unknown(), *_pairs()]


def certain() -> list[Line]:
    """Those that every change is tried with: contradictions, numbers of thousands of digits,
    outputs that cannot be written, and options that are only of plan files."""
    hidden = ("--vary-block", "--command-block")
    return [
        line
        for line in lines()
        if line.wrong
        and (
            line.words in REFUSED
            or line.about in hidden
            or line.value == LOCKED
            or (HUGE in line.value and line.words[0] in ("run", "import", "map"))
        )
    ]


def sample(seed: int, count: int) -> list[Line]:
    return random.Random(seed).sample(lines(), count)


def _options(command: tuple[str, ...]) -> list[click.Option]:
    return [each for each in command_of(command).params if isinstance(each, click.Option)]


def _with_value(command: tuple[str, ...]) -> list[click.Option]:
    return [each for each in _options(command) if not each.is_flag]


def line_of(command: tuple[str, ...], words: Sequence[str], option: str = "") -> tuple[str, ...]:
    """The command with its right words behind these, which suit the option."""
    base = BASES.get(" ".join(command), ())
    if command in (("run",), ("sweep",)) and option in _users():
        base = (_users()[option], *base[1:])
    if option in base:
        at = base.index(option)
        base = (*base[:at], *base[at + 2 :])
    return (*command, *words, *base)


@cache
def _users() -> dict[str, str]:
    """By each option that only some benchmarks have, one that has it."""
    benchmarks: dict[str, str] = {}
    for card in all_cards():
        for name in card.options:
            benchmarks.setdefault(f"--{name}", f"{card.suite}:{card.name}")
    return {row.flag: benchmarks[row.flag] for row in OFFERED if row.flag in benchmarks}


def _wrong_options() -> Iterator[Line]:
    for command in COMMANDS:
        for option in _with_value(command):
            name = option.opts[-1]
            for value in ("", " ", *kind_of(command, option).wrong):
                words = line_of(command, (name, value), name)
                yield Line(words, name, value)
            if not option.multiple:
                right = kind_of(command, option).right or "a"
                yield Line(line_of(command, (name, right, name, right), name), name)


def _wrong_arguments() -> Iterator[Line]:
    for command in COMMANDS:
        arguments = [
            each for each in command_of(command).params if isinstance(each, click.Argument)
        ]
        for at, argument in enumerate(arguments):
            before = BASES.get(" ".join(command), ())[:at]
            after = BASES.get(" ".join(command), ())[at + 1 :]
            for value in ("", *kind_of(command, argument).wrong):
                yield Line((*command, *before, value, *after), name_of(argument), value)
            if all(each.nargs == 1 for each in arguments):
                right = BASES.get(" ".join(command), ("a",))
                yield Line((*command, *right, *["a"] * len(arguments), "more"), "more")


def _missing_and_unknown() -> Iterator[Line]:
    for command in COMMANDS:
        name = " ".join(command)
        if any(each.required for each in command_of(command).params):
            yield Line(command, name)
        yield Line((*command, "--nonsense", "1"), "--nonsense")
        yield Line((*command[:-1], f"{command[-1]}x"), f"{command[-1]}x")
        for option in _with_value(command):
            base = () if option.nargs != 1 else BASES.get(name, ())
            if not command_of(command).context_settings.get("allow_interspersed_args", True):
                base = ()
            yield Line((*command, *base, option.opts[-1]), option.opts[-1])
        for option in _options(command):
            if option.is_flag and not option.hidden:
                yield Line(line_of(command, (f"{option.opts[-1]}=nope",)), option.opts[-1])


def _pairs() -> Iterator[Line]:
    """Two options with right values, which may contradict each other."""
    for command in COMMANDS:
        given = []
        for option in _options(command):
            right = () if option.is_flag else (kind_of(command, option).right,)
            if all(right):
                given.append((option.opts[-1], *right))
        for one, other in combinations(given, 2):
            yield Line(line_of(command, (*one, *other), one[0]), one[0], wrong=False)


# --- trying -----------------------------------------------------------------------------------


class Launched(BaseException):
    """A command would have started something."""


_PROBES = ("query", "look", "tools", "layout", "environment", "compilers", "cxx", "blas")
"""Modules below site/mpi that ask programs which are there, which is part of looking at a line."""


PACKAGE = Path(mpigauge.__file__).parent


def _check_probe(what: object) -> None:
    """Launched: the process does more than to ask a program what it is."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if PACKAGE in file.parents:
            if file.stem in _PROBES:
                return
            break
        frame = frame.f_back
    raise Launched(str(what)[:200])


def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that are more than a probe, servers and installs raise Launched."""
    usual = subprocess.Popen.__init__

    def popen(self: Any, *given: Any, **more: Any) -> None:
        _check_probe(given[0] if given else more)
        usual(self, *given, **more)

    def refuse(*given: Any, **_: Any) -> None:
        raise Launched(str(given)[:200])

    monkeypatch.setattr(subprocess.Popen, "__init__", popen)
    for name in ("execv", "execve", "execvp", "execvpe"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(socketserver.BaseServer, "serve_forever", refuse)


PLAN_TEXT = 'benchmarks = ["PingPong"]\n\n[[vary]]\ngrid = { "env:X" = ["1", "2"] }\n'
PRINTED = (
    Path(__file__).parent / "golden" / "printed" / "mpich-v2021.2-MPI1-pingpong-default-np2.txt"
)


def make_world(folder: Path) -> Path:
    """What right words name lies here."""
    mpi = find("mpich")
    part = PlanPart(("PingPong",), 2)
    plan = Plan(parts=(part,), mpi=mpi.spec, seed=1).to_json()
    runs.write(folder / RUN, header={"plan": plan})
    here = {"version": mpigauge.__version__, "mpi": {"name": mpi.name, "version": mpi.version}}
    runs.write(folder / PART, status=None, header={"plan": plan, **here})
    (folder / PART / "passport.json").unlink()  # it is of another machine
    runs.write(folder / SWEEP, _sweep())
    Made(needed=("libmpi.so.12",), wants=("MPI_Init",)).write(folder / PROGRAM)
    profiles.stored(folder / PROFILE, profiles.job())
    (folder / FILE).touch()
    (folder / FOLDER).mkdir()
    (folder / FOLDER / "something").write_text("x")
    (folder / "empty").mkdir()
    (folder / PLAN).write_text(PLAN_TEXT)
    (folder / "bad.toml").write_text("x = [")
    (folder / "huge.toml").write_text(f'benchmarks = ["PingPong"]\nlaunches = {HUGE}\n')
    shutil.copy(PRINTED, folder / "printed.txt")
    tunings.make(folder / TUNING, mpi)
    made = calibrated([load_reference(PUBLISHED.removeprefix("ref:"))], "machine").calibration
    (folder / CALIBRATION).write_text(to_text(made), encoding="utf-8")
    return folder


def _sweep() -> list[str]:
    """Launches of two arms, each with one cell."""
    found = []
    for number in range(6):
        arm = ("default", "X=1")[number % 2]
        found += [runs.launch(number), runs.cell(number, arm=arm), cells.end(number)]
    return found


@contextmanager
def copied(world: Path, to: Path) -> Iterator[Path]:
    shutil.copytree(world, to, symlinks=True)
    here = Path.cwd()
    os.chdir(to)
    try:
        yield to
    finally:
        os.chdir(here)
        shutil.rmtree(to)


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def complaint(line: Line, folder: Path) -> str:
    """What is wrong with how the line is answered; empty: nothing."""
    before, environment = listing(folder), dict(os.environ)
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, "utf-8", "backslashreplace") for each in written)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = run(list(line.words))
    except Launched as launch:
        return f"launches {launch}" if line.wrong else ""
    except SystemExit as end:
        return f"SystemExit {end.code}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        os.environ.clear()
        os.environ.update(environment)
    out.flush()
    err.flush()
    printed, said = (each.getvalue().decode("utf-8") for each in written)
    return _complaint(line, status, printed, said, listing(folder) - before)


def _complaint(line: Line, status: int, out: str, err: str, new: set[str]) -> str:
    if status != 2:
        said = f"status {status}: {(out + err)[:150]!r}"
        return said if line.wrong else ""
    if err.count("\n") != 1 or not err.startswith("mpigauge: "):
        return f"{err.count(chr(10))} lines: {err[:400]!r}"
    if len(err) > LONGEST_LINE:
        return f"{len(err)} characters: {err[:150]!r}"
    if out:
        return f"prints {out[:150]!r}"
    if new:
        return f"leaves {sorted(new)[:5]}"
    return _names_wrong(line, err)


def _names_wrong(line: Line, err: str) -> str:
    """The error has to say where the fault is: by the option, or by the value."""
    if not line.about.startswith("--"):
        return ""  # an argument has its place, and no name
    value = " ".join(line.value.encode("utf-8", "backslashreplace").decode().split())
    words = [word[:20] for word in re.split("[:=]", value) if word]
    if not line.wrong or line.about in err or any(word in err for word in words):
        return ""
    return f"does not name {line.about}: {err[:300]!r}"
