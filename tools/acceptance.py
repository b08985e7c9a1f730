# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs the tests that are too long for each change, before a release or on demand.

`make acceptance` runs all parts, `make acceptance PART="name name"` those. How each went is kept
in build/acceptance: NAME.jsonl has a line for each time it was run, with the place of its log. CI
runs a short case of each part, which is named here.

Exit status: 0 all parts passed, 1 one did not, 2 a part of that name is not there.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "acceptance"


@dataclass(frozen=True)
class Part:
    about: str
    in_ci: str
    """The short case that `make test` runs, or the test that it runs instead."""
    words: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


def pytest(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pytest", "-rs", *words)


def marked(name: str) -> tuple[str, ...]:
    """The tests that have the mark `acceptance` with this name."""
    return pytest(f"--acceptance={name}", "tests")


def program(*words: str) -> tuple[str, ...]:
    return (sys.executable, *words)


def bench(name: str, *words: str) -> tuple[str, ...]:
    """A program of bench/, with its result stored."""
    return program("bench/record.py", name, *words)


PARTS = {
    "older-mpis": Part(
        "a benchmark of every suite on all older MPIs that there are wheels or packages of",
        "on the oldest MPICH and Open MPI",
        marked("older-mpis"),
    ),
    "tuning": Part(
        "tunings for a program, and of Intel MPI, from their first launch to the last",
        "their steps, each alone, and whole tunings of MPICH and Open MPI",
        marked("tuning"),
    ),
    "fabric": Part(
        "faults planted in a network of 8 hosts are named in 9 of 10 runs, and nothing else",
        "a run with one slow host and one without a fault, with each MPI",
        marked("fabric"),
    ),
    "machines": Part(
        "tests of the kernels on emulated processors: x86 without AVX, aarch64",
        "those on x86 without AVX",
        marked("machines"),
    ),
    "programs": Part(
        "LAMMPS, and a program in Fortran, profiled with Debian's own Open MPI and compilers",
        "hpcc of Debian, and Fortran's functions called from C++",
        marked("programs"),
    ),
    "clean-root": Part(
        "a fresh clone sets itself up with nothing that was compiled or downloaded before",
        "the same, with what ccache and pip have kept",
        pytest("tests/e2e/test_readme.py"),
        {"CCACHE_DISABLE": "1", "PIP_NO_CACHE_DIR": "1"},
    ),
    "translation": Part(
        "programs of each ABI of MPI run translated on each MPI, and find nothing wrong",
        "three of the thirteen pairs of a program's ABI and an MPI",
        marked("translation"),
    ),
    "wheel": Part(
        "the wheel with kernels inside, built, looked into, and used without a compiler",
        "where kernels are looked for, and what asks for an extra (tests/process)",
        marked("wheel"),
    ),
    "aarch64": Part(
        "a benchmark of each suite by the wheel's kernels for aarch64, emulated, on three ABIs",
        "nothing of these kernels; the wheel for this machine is not built in CI either",
        marked("aarch64"),
    ),
    "debian-roots": Part(
        "the wheel in clean roots of Debian: each MPI and none, no network, no home, pipx and uv",
        "where kernels are looked for, and what cannot be written (tests/process)",
        marked("debian-roots"),
    ),
    "reproducible": Part(
        "the wheel built in two clones: the same bytes",
        "tests/unit/tools/test_release.py, on small wheels",
        program("tools/release.py", "--twice"),
    ),
    "kernels-translated": Part(
        "all kernels for each ABI of MPI on MPIs of the others, with checked data",
        "a benchmark of each suite, on Open MPI from MPICH and back",
        marked("kernels-translated"),
    ),
    "imb-translated": Part(
        "the programs of IMB in Intel's wheel on MPICH and Open MPI: all rows that they have there",
        "some benchmarks of three of them",
        marked("imb-translated"),
    ),
    "mpi4py": Part(
        "mpi4py's own tests under the profiler, and translated, on three MPIs",
        "tests/e2e/test_translation.py and tests/e2e/test_profiler.py, on programs of ours",
        bench("mpi4py_suite"),
    ),
    "mpich-suite": Part(
        "MPICH's own tests in C, built for MPICH and for Open MPI, on MPIs of the other ABI",
        "tests/e2e/test_translation.py, on programs of ours",
        bench("mpich_suite"),
    ),
    "mpich-suite-fortran": Part(
        "the same of its tests in Fortran, on Debian's MPICH and Open MPI",
        "tests/e2e/test_translation.py, calls of Fortran",
        bench("mpich_suite", "--fortran"),
    ),
    "made-and-freed": Part(
        "a million requests, types, communicators made and freed: no leak, no slow-down",
        "tests/e2e/test_translation.py, 20 000 of them",
        bench("made_and_freed"),
    ),
    "coverage-over-runs": Part(
        "what the ± for a machine covers over 20 runs: three MPIs, two budgets, idle and disturbed",
        "tests/replay/test_history_replay.py on recorded launches",
        bench("coverage_of_runs", "--anew"),
    ),
    "false-steps": Part(
        "how often a trend claims a step that is not there",
        "tests/unit/products/browse/test_trend.py on series that are fixed",
        bench("false_steps"),
    ),
    "false-differences": Part(
        "how often two runs of one thing are called different, and a real difference is found",
        "tests/unit/result/compare/test_compare.py on numbers that are fixed",
        bench("compare_truth"),
    ),
    "fuzzing": Part(
        "200 000 damaged texts for everything that reads, and 2000 damaged files of machine code",
        "tests/replay/test_fuzz.py, about a minute of them",
        bench("fuzz"),
    ),
    "inputs": Part(
        "all tests that draw their inputs, with new ones each time",
        "the same tests, with inputs that stay",
        pytest("-m", "hypothesis", "--hypothesis-profile=drawn", "tests/unit", "tests/replay"),
    ),
    "wrong-words": Part(
        "wrong command lines: each kind of wrong value for each option and argument, and pairs of "
        "options",
        "tests/e2e/test_wrong_words.py, some hundred of them",
        marked("wrong-words"),
    ),
    "mutation": Part(
        "small faults planted at random: the tests notice nine of ten, in Python and in C++",
        "tests/unit/tools/test_bench.py, how faults are drawn and counted",
        bench("mutation"),
    ),
    "soak": Part(
        "a hundred short runs, drawn at random, on three MPIs",
        "tests/e2e/test_soak.py, one on each",
        bench("soak", "--runs", "100"),
    ),
    "inner-loop": Part(
        "processor time from an edit of a kernel to its row",
        "tests/e2e/test_dropped_in_collective.py: with a file more nothing else is compiled",
        bench("inner_loop"),
    ),
    "stacks": Part(
        "a million stacks that the profiler has known again, against the compiler's own way",
        "the same with a hundred thousand, where the profiler's C++ is tested",
        bench("stack_audit"),
    ),
    "many-ranks": Part(
        "run, map and profile with 512 ranks of MPICH, 256 of Intel MPI and 128 of Open MPI on the "
        "cores that are there",
        "the same with 8 ranks of MPICH",
        marked("many-ranks"),
    ),
    "cost-of-ranks": Part(
        "seconds and bytes a rank of mpigauge itself at 64 to 10 000 ranks, 512 of them real",
        "tests/replay/test_scale.py, the growth of memory and records",
        bench("many_ranks"),
    ),
    "many-files": Part(
        "files of 64 to 10 000 ranks, made of recorded ones: seconds and memory of joining them",
        "tests/e2e/test_profiler_many_ranks.py, files of 8 ranks",
        bench("profile_scale"),
    ),
    "arrival-again": Part(
        "whether ranks come to a benchmark as they came to the program that was profiled",
        "tests/e2e/test_profile_again.py: how far apart they come when a profile is measured",
        bench("arrival_again"),
    ),
    "gpu": Part(
        "buffers on a GPU, NCCL and IMB-MPI1-GPU on a machine that has one",
        "the same options, refusals and trials on a driver for tests, over memory of the host",
        bench("gpu"),
    ),
    "planted-waiting": Part(
        "whether profiles tell lateness that is planted on real ranks, on an idle machine",
        "tests/process/test_profile_waiting.py, and "
        "tests/unit/products/profile/test_profile_later.py: made-up times",
        bench("planted_waiting"),
    ),
    "program-bounds": Part(
        "whether the first sentence of a profile names what bounds real programs, on three MPIs "
        "and an idle machine",
        "tests/unit/products/profile/test_profile_bound.py: made-up profiles",
        bench("program_bounds", "--mpi", "mpich", "--mpi", "openmpi", "--mpi", "intel"),
    ),
}


@dataclass(frozen=True)
class Outcome:
    part: str
    date: str
    commit: str
    verdict: str
    seconds: float
    cpu_seconds: float
    log: str


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="which (all)")
    parser.add_argument("--list", action="store_true", help="say which there are, and run none")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.parts if name not in PARTS]:
        print(wrong(unknown[0]), file=sys.stderr)
        return 2
    if given.list:
        print("\n".join(described(name) for name in PARTS))
        return 0
    outcomes = [run(name) for name in given.parts or PARTS]
    print("--- summary")
    for each in outcomes:
        print(f"{each.part:<18} {each.verdict:<7} {each.seconds:6.0f} s  {each.log}")
    return 0 if all(each.verdict == "passed" for each in outcomes) else 1


def wrong(name: str) -> str:
    near = difflib.get_close_matches(name, PARTS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"PART: there is no {name!r}{hint} `make acceptance-list` names all"


def run(name: str) -> Outcome:
    """Runs a part, with its output in a log that is kept with the verdict."""
    part, now = PARTS[name], datetime.now(timezone.utc)
    KEPT.mkdir(parents=True, exist_ok=True)
    log = KEPT / f"{name}-{now:%Y%m%dT%H%M%SZ}.log"
    print(f"--- {name}: {part.about}; log: {log.relative_to(KEPT.parents[1])}", flush=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with log.open("w") as output:
        status = subprocess.run(
            part.words,
            cwd=ROOT,
            env=os.environ | part.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = Outcome(
        part=name,
        date=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        commit=commit(),
        verdict="passed" if status == 0 else f"failed ({status})",
        seconds=round(time.monotonic() - start, 1),
        cpu_seconds=round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        log=str(log.relative_to(KEPT.parents[1])),
    )
    with (KEPT / f"{name}.jsonl").open("a") as results:
        results.write(json.dumps(vars(outcome)) + "\n")
    return outcome


def commit() -> str:
    """Returns HEAD; a + marks a tree that is modified, but for results of bench/."""
    head = _git("rev-parse", "--short=8", "HEAD")
    others = (".", ":(exclude)bench/results", ":(exclude)bench/README.md")
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", *others)
    return f"{head}{'+' * bool(changes)}" if head else "no git checkout"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def described(name: str) -> str:
    part, last = PARTS[name], last_outcome(name)
    went = (
        f"{last.verdict} at {last.date}, {last.commit}, {last.seconds:.0f} s ({last.log})"
        if last
        else "not run here yet"
    )
    return f"{name}\n    {part.about}\n    CI: {part.in_ci}\n    {went}"


def last_outcome(name: str) -> Outcome | None:
    results = KEPT / f"{name}.jsonl"
    if not results.exists():
        return None
    return Outcome(**json.loads(results.read_text().splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
