#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does everything that uses a GPU work on a real one, and agree with IMB-MPI1-GPU?

Ten minutes on a machine with one NVIDIA GPU, Intel MPI and Open MPI with UCX for CUDA, as
`mpigauge mpi install intel` and `mpigauge mpi install openmpi --cuda` put them in place. Two ranks
share the GPU, so times say what calls cost and not how fast GPUs talk. All outputs are kept; they
are what tests and documentation quote.
Exit status: 0 all steps went as they should, 1 some did not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi import find
from mpigauge.site.mpi.device_memory.libraries import driver_library

PROMISE = "all steps go as they should; the median ratio to IMB's times within 10 %"
ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "build" / "acceptance" / "gpu"
COMMAND = (sys.executable, "-c", "import sys; from mpigauge.cli import main; sys.exit(main())")
PATIENCE_S = 150.0
WITHIN = 0.10
"""The difference of the median ratio over sizes. At a single size IMB's own times differ by 40 %
from launch to launch."""
SHARED = ("-n", "2", "--gpu", "0,0")
FEW = ("--launches", "3")
SIZES = ("--sizes", "0,8,1Ki,64Ki,1Mi,4Mi")
WRONG_LIBRARY = "libm.so.6"


@dataclass(frozen=True)
class Done:
    """An ended command."""

    words: tuple[str, ...]
    status: int
    output: str
    seconds: float


@dataclass(frozen=True)
class Step:
    """A command with its expected outcome."""

    name: str
    words: tuple[str, ...]
    status: int = 0
    shows: tuple[str, ...] = ()
    """Regular expressions that its output has to match."""
    hides: tuple[str, ...] = ()
    """Regular expressions that its output must not match."""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Report:
    """The outcome of each step, in the order in which they ran."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    failed: int = 0

    def add(self, name: str, problem: str, seconds: float) -> None:
        self.failed += bool(problem)
        line = f"{name:<26} {seconds:6.1f} s  {problem or 'as it should'}"
        self.lines.append(line)
        print(line, flush=True)

    def write(self) -> None:
        (self.folder / "summary.txt").write_text("\n".join(self.lines) + "\n")


def run(words: Sequence[str], env: Mapping[str, str]) -> Done:
    """Runs a command to its end; one that hangs is ended with all its children."""
    start = time.monotonic()
    process = subprocess.Popen(
        words,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nended after {PATIENCE_S:.0f} s\n"
    return Done(tuple(words), process.returncode, output, time.monotonic() - start)


def keep(folder: Path, name: str, done: Done) -> None:
    shown = ["mpigauge" if word == COMMAND[2] else word for word in done.words if word != "-c"]
    text = f"$ {' '.join(shown)}\n{done.output}\nexit status {done.status}\n"
    (folder / f"{name}.txt").write_text(text)


def problem_of(step: Step, done: Done) -> str:
    """The difference from the expected outcome of a step; empty: none."""
    if done.status != step.status:
        last = done.output.strip().splitlines()[-1:] or [""]
        return f"exit status {done.status}, not {step.status}: {last[0][:100]}"
    for pattern in step.shows:
        if not re.search(pattern, done.output):
            return f"its output does not match {pattern!r}"
    for pattern in step.hides:
        if re.search(pattern, done.output):
            return f"its output matches {pattern!r}"
    return ""


def measured(name: str, folder: Path, *words: str, **more: object) -> Step:
    """A step that measures into a run of its own."""
    output = ("--output", str(folder / "runs" / name))
    return Step(name, ("run", *words, *FEW, *output), **more)  # type: ignore[arg-type]


def steps(folder: Path) -> Iterator[Step]:
    """All steps that are a command of mpigauge each."""
    yield Step("machine", ("topo",), shows=("NVIDIA",))
    yield Step("doctor", ("doctor", "gpus", "device-memory"))
    for mpi in ("intel", "openmpi"):
        yield Step(f"transports-{mpi}", ("transports", "--mpi", mpi))
    kinds = ("--memory", "host,pinned,device,managed,device:host")
    yield measured("intel-pingpong", folder, "PingPong", "--mpi", "intel", *kinds, *SHARED, *SIZES,
                   shows=("device>host|device:host", "managed"))  # fmt: skip
    yield measured("intel-collectives", folder, "Allreduce,Bcast,Alltoall,Reduce_scatter_block",
                   "--mpi", "intel", "--memory", "device", *SHARED, *SIZES,
                   hides=("not CUDA-aware",))  # fmt: skip
    yield measured("intel-other-suites", folder,
                   "NBC:Iallreduce,P2P:Birandom,RMA:Unidir_put,EXT:Unidir_Get", "--mpi",
                   "intel", "--memory", "device", *SHARED, "--sizes", "8,64Ki")  # fmt: skip
    yield measured("planted-byte", folder, "SELFTEST:Corrupt", "--mpi", "intel", "--memory",
                   "device", *SHARED, "--sizes", "1Mi", status=1, shows=("wrong",))  # fmt: skip
    yield measured("openmpi-ucx", folder, "PingPong,Bcast,Allreduce", "--mpi", "openmpi",
                   "--memory", "device", *SHARED, *SIZES, shows=("not CUDA-aware",))  # fmt: skip
    yield measured("nccl-one-rank", folder, "NCCL", "--mpi", "intel", "-n", "1", "--ranks", "1",
                   *SIZES, shows=("AllReduce", "SendRecv"))  # fmt: skip
    yield measured("nccl-two-ranks", folder, "NCCL:AllReduce", "Allreduce", "--mpi", "intel",
                   "--memory", "device", *SHARED, *SIZES,
                   shows=("Duplicate GPU|AllReduce",))  # fmt: skip
    yield Step("no-gpu-visible", ("run", "PingPong", "--mpi", "intel", "--memory", "device"),
               status=2, env={"CUDA_VISIBLE_DEVICES": ""})  # fmt: skip
    yield Step("wrong-driver", ("run", "PingPong", "--mpi", "intel", "--memory", "device",
               "--cuda", library_path(WRONG_LIBRARY)), status=2)  # fmt: skip
    yield Step("wrong-nccl", ("run", "NCCL:AllReduce", "--mpi", "intel", "--nccl",
               library_path(WRONG_LIBRARY)), status=2, shows=("is not NCCL",))  # fmt: skip
    yield Step("too-few-gpus", ("run", "Bcast", "--mpi", "intel", "--memory", "device", "-n", "4"),
               status=2)  # fmt: skip
    yield Step("too-large", ("run", "PingPong", "--mpi", "intel", "--memory", "managed", *SHARED,
               "--sizes", "4Ti"), status=2)  # fmt: skip
    for name in ("intel-pingpong", "openmpi-ucx"):
        yield Step(f"explain-{name}", ("explain", str(folder / "runs" / name)))


def library_path(name: str) -> str:
    """The path of a library of the system, which is neither a driver nor NCCL."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(name):
            return line.split(maxsplit=5)[-1]
    ctypes.CDLL(name)
    return library_path(name)


# --- beside IMB-MPI1-GPU --------------------------------------------------------------------------


def imb_rows(text: str) -> dict[int, float]:
    """The last time in microseconds of each size in IMB's table of PingPong or of a collective."""
    rows: dict[int, float] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 4 or not fields[0].isdigit():
            continue
        rows[int(fields[0])] = float(fields[2] if len(fields) == 4 else fields[4])
    return rows


def beside_imb(folder: Path, intel: Mpi, driver: Path, report: Report, is_quick: bool) -> None:
    """Runs IMB's program and ours in turn, in each kind of memory."""
    theirs = intel.prefix / "bin" / "IMB-MPI1-GPU"
    with tempfile.TemporaryDirectory() as place:
        installed = run((*COMMAND, "imb", "install", f"{place}/imb", "--mpi", "intel"), {})
        keep(folder, "imb-install", installed)
        runtime = runtime_folder(Path(place))
        if installed.status or not theirs.is_file() or runtime is None:
            why = "imb install failed" if installed.status else f"no {theirs}, or no libcudart.so"
            report.add("beside IMB-MPI1-GPU", why, installed.seconds)
            return
        env = offload(intel, driver, runtime)
        ours = Path(place) / "imb" / "IMB-MPI1-GPU"
        for memory in ("device", "host", "shared", "cpu"):
            for benchmark in ("PingPong", "Allreduce"):
                start = time.monotonic()
                words = (benchmark, "-mem_alloc_type", memory, "-iter", "100", "-iter_policy",
                         "off", "-msglog", "0:22", "-npmin", "2")  # fmt: skip
                problem = compared(folder, intel, (theirs, ours), words, env, is_quick)
                report.add(f"IMB {benchmark} {memory}", problem, time.monotonic() - start)
        no_word = ("PingPong", "-mem_alloc_type", "managed")
        done = run(started(intel, ours, no_word), env)
        keep(folder, "imb-unknown-word", done)
        is_refused = done.status != 0 and "device, host, shared, cpu" in done.output
        report.add("IMB unknown word", "" if is_refused else "it is not refused", done.seconds)


def compared(
    folder: Path,
    intel: Mpi,
    programs: tuple[Path, Path],
    words: tuple[str, ...],
    env: Mapping[str, str],
    is_quick: bool,
) -> str:
    """The ratio of the times, if it differs from 1 by more than it may; empty: it does not."""
    times: tuple[list[dict[int, float]], list[dict[int, float]]] = ([], [])
    for turn in range(1 if is_quick else 5):
        for number, program in enumerate(programs):
            done = run(started(intel, program, words), env)
            keep(folder, f"imb-{words[0]}-{words[2]}-{('theirs', 'ours')[number]}-{turn}", done)
            if done.status:
                return f"{program} ended with {done.status}"
            times[number].append(imb_rows(done.output))
    ratios: dict[int, float] = {}
    for size in times[0][0]:
        imb, our = (median(each.get(size, 0.0) for each in side) for side in times)
        if size and imb:
            ratios[size] = our / imb
    typical, worst = median(ratios.values()), max(ratios, key=lambda size: abs(ratios[size] - 1))
    ratio = f"{typical:.3f} of IMB's times, {ratios[worst]:.2f} at {worst} B"
    print(ratio, flush=True)
    return ratio if abs(typical - 1) > WITHIN else ""


def started(intel: Mpi, program: Path, words: Sequence[str]) -> tuple[str, ...]:
    return (str(intel.mpiexec), "-n", "2", str(program), *words)


def offload(intel: Mpi, driver: Path, runtime: Path) -> dict[str, str]:
    """The environment in which Intel MPI accepts device memory, and IMB finds CUDA's runtime."""
    libraries = [intel.env.get("LD_LIBRARY_PATH", ""), str(runtime)]
    return {
        **intel.env,
        "I_MPI_OFFLOAD": "1",
        "I_MPI_OFFLOAD_MODE": "cuda",
        "I_MPI_OFFLOAD_CUDA_LIBRARY": str(driver),
        "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
    }


def runtime_folder(place: Path) -> Path | None:
    """A folder with CUDA's runtime under the name by which IMB opens it; None: none."""
    toolkits = sorted(Path("/usr/local").glob("cuda*/lib64/libcudart.so.*"))
    packages = [path for folder in sys.path for path in Path(folder or ".").glob(
        "nvidia/*/lib/libcudart.so.*")]  # fmt: skip
    for library in (*toolkits, *packages):
        folder = place / "cudart"
        folder.mkdir(exist_ok=True)
        link = folder / "libcudart.so"
        link.unlink(missing_ok=True)
        link.symlink_to(library)
        return folder
    return None


# --- a shared and a full GPU ----------------------------------------------------------------------


@contextmanager
def multi_process_service(place: Path) -> Iterator[dict[str, str] | None]:
    """MPS while it is needed: the environment of its clients; None: it is not there."""
    control = shutil.which("nvidia-cuda-mps-control")
    if control is None:
        yield None
        return
    env = {"CUDA_MPS_PIPE_DIRECTORY": f"{place}/mps", "CUDA_MPS_LOG_DIRECTORY": f"{place}/mps-log"}
    for folder in env.values():
        Path(folder).mkdir()
    subprocess.run([control, "-d"], env={**os.environ, **env}, check=False, timeout=30)
    try:
        yield env
    finally:
        subprocess.run(
            [control], input="quit\n", text=True, env={**os.environ, **env}, check=False, timeout=60
        )


def with_mps(folder: Path, report: Report) -> None:
    with tempfile.TemporaryDirectory() as place, multi_process_service(Path(place)) as env:
        if env is None:
            report.add("MPS", "nvidia-cuda-mps-control is missing", 0)
            return
        step = measured("intel-pingpong-mps", folder, "PingPong", "--mpi", "intel", "--memory",
                        "device", *SHARED, *SIZES, env=env)  # fmt: skip
        carry_out(folder, step, report)


FILL = """
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
context, address = ctypes.c_void_p(), ctypes.c_uint64()
free, total = ctypes.c_size_t(), ctypes.c_size_t()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
left = int(sys.argv[2])
status = cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(0, free.value - left)))
print(status, flush=True)
sys.stdin.read()
"""
LEFT = 3 << 30
"""Bytes that a full GPU still has: contexts of two ranks, and small buffers."""


def on_a_full_gpu(folder: Path, driver: Path, report: Report) -> None:
    """Messages that do not fit are refused or skipped with a reason, and nothing hangs."""
    filler = subprocess.Popen(
        [sys.executable, "-c", FILL, str(driver), str(LEFT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert filler.stdout is not None
    try:
        filler.stdout.readline()
        step = Step("full-gpu", ("run", "PingPong", "--mpi", "intel", "--memory", "device", *SHARED,
                    "--sizes", "8,2Gi", "--launches", "1"), shows=("memory",))  # fmt: skip
        done = run((*COMMAND, *step.words), {})
        keep(folder, step.name, done)
        # Either is right: 2 Gi for two ranks is refused beforehand, or its rows say why they lack.
        is_told = done.status in (0, 2) and "memory" in done.output
        problem = "" if is_told else f"exit status {done.status}"
        report.add(step.name, problem, done.seconds)
    finally:
        filler.kill()
        filler.wait()


def carry_out(folder: Path, step: Step, report: Report) -> None:
    done = run((*COMMAND, *step.words), step.env)
    keep(folder, step.name, done)
    report.add(step.name, problem_of(step, done), done.seconds)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"where all is kept ({OUTPUT})")
    parser.add_argument("--only", metavar="TEXT", default="", help="steps with this in their names")
    parser.add_argument("--quick", action="store_true", help="one launch of IMB: does it work?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    driver = driver_library(os.environ)
    if driver is None:
        print("bench/gpu.py: there is no driver of an NVIDIA GPU here (libcuda.so.1)",
              file=sys.stderr)  # fmt: skip
        return 2
    try:
        intel = find("intel")
    except UserError as error:
        print(f"bench/gpu.py: {error}", file=sys.stderr)
        return 2
    folder = options.output.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    report = Report(folder)
    parts: tuple[tuple[str, Callable[[], None]], ...] = (
        *((step.name, lambda step=step: carry_out(folder, step, report)) for step in steps(folder)),
        ("imb", lambda: beside_imb(folder, intel, driver, report, options.quick)),
        ("mps", lambda: with_mps(folder, report)),
        ("full-gpu", lambda: on_a_full_gpu(folder, driver, report)),
    )
    try:
        for name, part in parts:
            if options.only in name:
                part()
    finally:
        report.write()
    figures = f"{len(report.lines) - report.failed} of {len(report.lines)} steps as they should"
    return common.conclude(not report.failed, figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
