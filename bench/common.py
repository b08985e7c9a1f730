# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The common parts of this folder's programs: both instruments on one MPI, and how to start them.

The other instrument is the IMB-MPI1 binary that comes with Intel MPI, so both run on that MPI.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import IO

from mpigauge.model import columns
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.record import CellRecord, End, parse
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.launch import Command, Job, command
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.make import headers

Cell = tuple[str, int]
"""Benchmark and bytes."""
LONGEST_LAUNCH_S = 600
MPIGAUGE = str(Path(sys.executable).with_name("mpigauge"))
"""The command that people type, of this Python."""
KEPT, MISSED, UNDECIDED = VERDICTS = ("kept", "MISSED", "UNDECIDED")


@dataclass(frozen=True)
class Site:
    """One MPI that has both: our kernels and the real IMB."""

    mpi: Mpi
    kernels: Kernels
    cores: str
    """Comma-separated, one a rank."""
    settings: Mapping[str, str]
    """Environment for both instruments."""

    @property
    def ranks(self) -> int:
        return self.cores.count(",") + 1


HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
FLAGS = ("-std=c++20", "-O2", "-fPIC")
"""The compiler flags of the kernels in CMakeLists.txt."""


def built(program: Path, mpi: Mpi, sources: Sequence[Path], link: Sequence[str]) -> Path:
    """Builds a program of this folder from its own sources and the kernels' core.

    UserError: the compiler fails; with its output.
    """
    own = [path for part in ("core", "platform") for path in (KERNELS / part).glob("*.cpp")]
    compiler = os.environ.get("CXX", "g++")
    abi = f'-DMPIGAUGE_ABI="{mpi.abi}"'
    standard = ("-DMPIGAUGE_STANDARD_ABI",) if mpi.abi == "std" else ()
    include = ("-I", str(KERNELS), "-I", str(headers(mpi)))

    def compiled(source: Path) -> str:
        object_file = str(program.with_name(f"{source.stem}.o"))
        compile_program(
            [compiler, *FLAGS, abi, *standard, *include, "-c", str(source), "-o", object_file]
        )
        return object_file

    with ThreadPoolExecutor(os.cpu_count()) as several:
        objects = list(several.map(compiled, [*sources, *own]))
    compile_program([compiler, *objects, "-o", str(program), "-ldl", *link])
    return program


def mpi_program(source: str, mpi: Mpi, folder: Path, *more: str) -> Path:
    """A program of one source of this folder, built for an MPI. UserError: the compiler fails."""
    program = folder / f"{source}-{mpi.abi}"
    words = [*compiler_words("this program"), "-std=c++20", "-O2", "-isystem", str(headers(mpi))]
    words += ["-DMPIGAUGE_STANDARD_ABI"] if mpi.abi == "std" else []
    words += [str(HERE / f"{source}.cpp"), *more, "-o", str(program)]
    compile_program([*words, str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}"])
    return program


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile of two values or more."""
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


def compile_program(words: Sequence[str]) -> None:
    """Runs a compiler. UserError: it fails; with its output."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{words[0]} failed: {done.stderr.strip()}")


def site(cores: str, settings: Mapping[str, str]) -> Site:
    """Intel MPI as `mpigauge mpi install intel` puts it in place."""
    mpi = find("intel")
    if not imb_program(mpi).exists():
        raise UserError(f"{mpi.label} has no {imb_program(mpi)}; install its wheel")
    return Site(mpi, kernels(mpi), cores, settings)


def imb_program(mpi: Mpi) -> Path:
    return mpi.prefix / "bin" / "IMB-MPI1"


def imb(here: Site, *words: str) -> Command:
    """The real IMB, bound to the cores by its MPI: it cannot bind itself."""
    env = {**here.mpi.env, **here.settings, "I_MPI_PIN_PROCESSOR_LIST": here.cores}
    start = (str(here.mpi.mpiexec), "-n", str(here.ranks), str(imb_program(here.mpi)))
    return Command((*start, *words), env)


def ours(here: Site, *words: str) -> Command:
    """Our kernel, which binds itself to the same cores."""
    built = here.kernels
    program = [built.executable, "--libmpi", here.mpi.library, "--plugin", built.plugin]
    all_words = (*map(str, program), "--bind", here.cores, *words)
    return command(Job(here.mpi, here.ranks, all_words, env=dict(here.settings)))


@dataclass(frozen=True)
class Line:
    at_s: float
    """The seconds from the start of the job to the arrival of the line in the pipe."""
    text: str


@dataclass(frozen=True)
class Output:
    lines: tuple[Line, ...]
    wall_s: float


def launch(what: Command, protect: bool = False) -> Output:
    """Runs a job to its end and notes when each line came."""
    with tempfile.TemporaryFile() as noise:
        start = time.perf_counter()
        child = subprocess.Popen(
            what.words,
            env={**os.environ, **what.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=noise,
            start_new_session=True,
        )
        with child, _Ended(child):
            if protect:
                give_way_to(child.pid)
            lines = tuple(_stamped(child, start))
            code = child.wait(LONGEST_LAUNCH_S)
        wall = time.perf_counter() - start
        noise.seek(0)
        if code != 0:
            last = noise.read().decode(errors="replace").strip()
            raise UserError(f"this ended with status {code}: {what}\n{last}")
    return Output(lines, wall)


def printed_by(job: Job) -> str:
    """Runs a job to its end, and returns its output. UserError: it fails; with its last errors."""
    started = command(job)
    done = subprocess.run(
        started.words,
        env={**os.environ, **started.env},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"{job.mpi.label}, {job.ranks} ranks: {done.stderr.strip()[-300:]}")
    return done.stdout


def run_mpigauge(
    *words: object, folder: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """Runs the command that people type. UserError: it fails; with its last errors."""
    line = [MPIGAUGE, *map(str, words)]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{shlex.join(line)}: {done.stderr.strip()[-400:]}")


def start(job: Job, output: IO[str], folder: Path) -> subprocess.Popen[bytes]:
    """Starts a job that leads a session of its own, with all its output in a file."""
    started = command(job)
    return subprocess.Popen(
        started.words,
        env={**os.environ, **started.env},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=folder,
    )


def end(launched: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Ends a job that leads a session of its own, at last by force."""
    os.killpg(launched.pid, signal.SIGTERM)
    try:
        launched.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(launched.pid, signal.SIGKILL)
        launched.wait()


class _Ended:
    """Leaves no job behind, whatever happens."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait(LONGEST_LAUNCH_S)


def _stamped(child: subprocess.Popen[bytes], start: float) -> Iterator[Line]:
    """Lines with the time at which their last byte came: read as it comes, never buffered."""
    assert child.stdout is not None
    rest = b""
    while some := os.read(child.stdout.fileno(), 1 << 16):
        now = time.perf_counter() - start
        *whole, rest = (rest + some).split(b"\n")
        for text in whole:
            yield Line(now, text.decode(errors="replace"))


def give_way_to(process: int, nice: int = -20) -> None:
    """Lets the processes of other sessions wait for this one's, where the system allows it."""
    try:
        Path(f"/proc/{process}/autogroup").write_text(str(nice))
    except OSError as error:
        raise UserError(f"--protect: cannot give the jobs priority: {error}") from error


@contextmanager
def protection(on: bool) -> Iterator[None]:
    """The same for ourselves while this lasts: whoever notes the times must not come late."""
    if not on:
        yield
        return
    before = int(Path("/proc/self/autogroup").read_text().split()[-1])
    give_way_to(os.getpid())
    try:
        yield
    finally:
        give_way_to(os.getpid(), before)


def imb_rows(lines: Sequence[Line]) -> dict[Cell, float]:
    """Microseconds of each row: the only time of transfers, t_max where there are three."""
    rows, benchmark = {}, ""
    for line in lines:
        words = line.text.split()
        if words[:2] == ["#", "Benchmarking"]:
            benchmark = words[2]
        elif benchmark and words and words[0].isdigit():
            rows[benchmark, int(words[0])] = float(words[2 if len(words) == 4 else 3])
    return rows


def imb_measuring_s(lines: Sequence[Line]) -> float:
    """Returns the seconds from the heading of the first table to the last row, without start-up."""
    heading = next(line.at_s for line in lines if line.text.startswith("# Benchmarking"))
    rows = [line.at_s for line in lines if line.text.split()[:1] and line.text.split()[0].isdigit()]
    return max(rows) - heading


def our_cells(lines: Sequence[Line]) -> list[columns.Cell]:
    """Returns the cells of a launch of ours. UserError: one has wrong data."""
    cells = [r.cell for line in lines if isinstance(r := parse(line.text), CellRecord)]
    if wrong := [c for c in cells if c.wrong_count]:
        raise UserError(f"{wrong[0].benchmark}: wrong data, so its times mean nothing")
    return cells


def our_rows(lines: Sequence[Line]) -> dict[Cell, float]:
    """Microseconds of each cell, as the table shows them."""
    return {(c.benchmark, c.message_bytes): c.latency_s * 1e6 for c in our_cells(lines)}


def our_measuring_s(lines: Sequence[Line]) -> float:
    """The same stretch as for IMB: after start-up, until all rows are out; checks included."""
    return next(r.measuring_s for line in lines if isinstance(r := parse(line.text), End))


STATE_WITHIN = 0.25


def in_one_state(latencies: Sequence[float]) -> list[bool]:
    """Returns for each launch, in order of time, whether the machine was in its usual state.

    Some machines change as a whole from second to second: a guest whose cores the host places now
    close together, now far apart has two latencies, a factor of two apart. A launch counts when
    its shortest latency, which noise does not move, and those just before and after are usual.
    """
    usual = median(latencies)
    good = [abs(latency / usual - 1) <= STATE_WITHIN for latency in latencies]
    return [all(good[max(0, i - 1) : i + 2]) for i in range(len(good))]


def machine() -> str:
    """The conditions, in one line."""
    cpus = len(os.sched_getaffinity(0))
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown processor",
    )
    load = os.getloadavg()[0]
    return f"{cpus} cores, {model}, load {load:.1f} at the start"


def conclude(is_kept: bool | None, figures: str) -> int:
    """Prints the last line of a program, which record.py stores, and returns the exit status.

    None: undecided. The figures are one line, short enough for the table of README.md.
    """
    verdict = UNDECIDED if is_kept is None else KEPT if is_kept else MISSED
    print(f"\n{verdict}: {figures}", flush=True)
    return 0 if is_kept else 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of all programs that start jobs."""
    parser.add_argument("--cores", default="0,1", help="one a rank (0,1)")
    parser.add_argument(
        "--protect", action="store_true", help="let other sessions wait for the jobs (root only)"
    )


def say_progress(text: str) -> None:
    """One line that the next overwrites; for people only."""
    if sys.stderr.isatty():
        print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    say_progress("")
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
