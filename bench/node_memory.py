#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Is our plain loop over memory as fast as one by hand, and tuned faster than likwid-bench's?

Exit status: 0 all is as it should be, 1 it is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError

MOST_APART = 0.05
TUNED_OVER_PLAIN = 1.5
TUNED_OVER_LIKWID = 1.1
HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
NODE = KERNELS / "suites" / "node"
STREAMS = ("scale", "add", "triad")
LOOPS = ("-O3", "-fno-builtin")
"""The flags of the loops in CMakeLists.txt; WIDER has those of each instruction set."""
WIDER = {
    "avx2": ("-mavx2", "-mfma"),
    "avx512": ("-mavx512f", "-mfma", "-mprefer-vector-width=512"),
}
OTHERS = (
    NODE / "vectors.cpp",
    NODE / "pool.cpp",
    *sorted((KERNELS / "platform").glob("*.cpp")),
    HERE / "node_memory.cpp",
)
BENCH, KERNEL = "likwid-bench", "stream_mem"
PROMISE = "plain within 5 % of a loop by hand; tuned triad 1.5 × plain and 1.1 × likwid-bench's"
NOTES = """\
plain, tuned  median over rounds of speeds, over that of a loop by hand (-O3 -march=native, as one
              builds STREAM), measured in turn in one process on as many threads. By hand and plain
              go over the same arrays in usual pages, tuned over others in huge pages. Who goes
              second over the same arrays finds their page tables in the caches, so these two take
              turns.
best          the same of the fastest rounds: where both differ, others were at work here.
likwid        tuned triad over the fastest stream_mem kernel of likwid-bench, which runs between
              blocks of rounds over arrays of the same size: of medians, and of the best.
Copying is left out: compilers make a call of memcpy of the loop by hand."""

Round = tuple[float, float, float]
"""Seconds by hand, plain, tuned."""


@dataclass
class Found:
    """The measurements with one number of threads."""

    rounds: dict[str, list[Round]] = field(default_factory=dict)
    """The rounds by stream."""
    kernel: str = ""
    """The fastest kernel of likwid-bench; empty: likwid-bench is not installed."""
    likwid: list[float] = field(default_factory=list)
    """Bytes per second of each of its runs."""


def build(folder: Path) -> Path:
    """The program. Each file has flags of its own, so each is compiled by itself."""
    loops = sorted(NODE.glob("vectors_*.cpp"))
    objects = [_object(folder, path, (*LOOPS, *_wider(path))) for path in loops]
    objects += [_object(folder, path, ("-O2",)) for path in OTHERS]
    by_hand = ("-O3", "-march=native", "-DBY_HAND=by_hand")
    objects.append(_object(folder, HERE / "node_memory_by_hand.cpp", by_hand))
    program = folder / "node_memory"
    common.compile_program([_compiler(), *objects, "-pthread", "-o", str(program)])
    return program


def _object(folder: Path, path: Path, flags: tuple[str, ...]) -> str:
    made = str(folder / f"{path.stem}.o")
    words = [_compiler(), "-std=c++20", *flags, f"-I{KERNELS}", "-c", str(path), "-o", made]
    common.compile_program(words)
    return made


def _compiler() -> str:
    return os.environ.get("CXX", "g++")


def _wider(path: Path) -> tuple[str, ...]:
    on_x86 = platform.machine() in ("x86_64", "AMD64")
    return WIDER.get(path.stem.removeprefix("vectors_"), ()) if on_x86 else ()


def read(text: str, into: dict[str, list[Round]]) -> None:
    for line in text.splitlines():
        name, hand, plain, tuned = line.split()
        into.setdefault(name, []).append((float(hand), float(plain), float(tuned)))


def likwid_kernels() -> list[str]:
    """All ways that it has to make a triad past the caches here; none: it is not installed."""
    if not shutil.which(BENCH):
        return []
    listed = subprocess.run([BENCH, "-a"], capture_output=True, text=True, check=False).stdout
    names = re.findall(rf"^({KERNEL}\w*) ", listed, re.MULTILINE)
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return [name for name in names if "avx512" not in name or "avx512f" in flags]


def likwid(kernel: str, size: int, threads: int) -> float:
    """Bytes per second, counted as STREAM does; 0: none printed (some kernels crash)."""
    words = [BENCH, "-t", kernel, "-w", f"N:{3 * size // 1000}kB:{threads}", "-s", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    match = re.search(r"^MByte/s:\s*([\d.]+)", done.stdout, re.MULTILINE)
    return float(match[1]) * 1e6 if match else 0.0


def fastest_of_likwid(size: int, threads: int) -> str:
    """Returns the fastest kernel of likwid-bench; empty: none works here."""
    speeds = {name: likwid(name, size, threads) for name in likwid_kernels()}
    name = max(speeds, key=lambda each: speeds[each], default="")
    return name if name and speeds[name] else ""


def compete(program: Path, size: int, rounds: int, threads: int, blocks: int) -> Found:
    """Blocks of rounds with a run of likwid-bench between them."""
    result = Found(kernel=fastest_of_likwid(size, threads))
    for _ in range(blocks):
        each = [str(program), str(size), str(max(1, rounds // blocks)), str(threads), *STREAMS]
        done = subprocess.run(each, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(done.stderr.strip())
        read(done.stdout, result.rounds)
        if result.kernel:
            result.likwid.append(likwid(result.kernel, size, threads))
    return result


def ratios(rounds: Sequence[Round]) -> list[float]:
    """Returns the median speeds of plain and tuned over the loop by hand."""
    return [median(each[0] / each[i] for each in rounds) for i in (1, 2)]


def best(rounds: Sequence[Round]) -> list[float]:
    """The same of the fastest rounds of each."""
    hand, *others = (min(times) for times in zip(*rounds, strict=True))
    return [hand / other for other in others]


def over_plain(rounds: Sequence[Round]) -> float:
    return median(each[1] / each[2] for each in rounds)


def over_likwid(result: Found, size: int) -> tuple[float, float]:
    """Tuned triad over likwid's, of medians and of the best."""
    speeds = [3 * size / each[2] for each in result.rounds["triad"]]
    return median(speeds) / median(result.likwid), max(speeds) / max(result.likwid)


def table(by_threads: dict[int, Found], size: int) -> Iterable[str]:
    form = "{:>7} {:8}{:>7}{:>7}{:>8}{:>7}{:>14}{:>8}{:>7}{:>8}"
    yield form.format(
        "threads", "stream", "plain", "best", "tuned", "best", "tuned/plain", "likwid", "best",
        "rounds",
    )  # fmt: skip
    for threads, each in by_threads.items():
        for name, rounds in each.rounds.items():
            (plain, tuned), (plain_best, tuned_best) = ratios(rounds), best(rounds)
            beside = [""] * 2
            if name == "triad" and each.likwid:
                beside = [f"{x:.2f}" for x in over_likwid(each, size)]
            both = [f"{x:.2f}" for x in (plain, plain_best, tuned, tuned_best, over_plain(rounds))]
            yield form.format(threads, name, *both, *beside, len(rounds))


def failures(by_threads: dict[int, Found], size: int) -> Iterable[str]:
    """Yields a sentence for each ratio outside its limit."""
    for threads, each in by_threads.items():
        where = f"on {threads} thread{'s' if threads > 1 else ''}"
        for name, rounds in each.rounds.items():
            if abs(ratios(rounds)[0] - 1) > MOST_APART:
                yield f"plain {name} {where} is not within 5 % of the loop by hand"
        if over_plain(each.rounds["triad"]) < TUNED_OVER_PLAIN:
            yield f"tuned triad {where} is less than {TUNED_OVER_PLAIN} × plain"
        if each.likwid and over_likwid(each, size)[0] < TUNED_OVER_LIKWID:
            yield f"tuned triad {where} is less than {TUNED_OVER_LIKWID} × likwid-bench's"


def figures(by_threads: dict[int, Found], size: int) -> Iterable[str]:
    for threads, each in by_threads.items():
        triad = each.rounds["triad"]
        beside = f", {over_likwid(each, size)[0]:.2f} × likwid's" if each.likwid else ""
        yield (
            f"triad on {threads}: plain {ratios(triad)[0]:.2f}, "
            f"tuned {over_plain(triad):.2f} × plain{beside}"
        )


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=256 << 20, help="of each array (256 MiB)")
    parser.add_argument("--rounds", type=int, default=40, help="of each stream (40)")
    parser.add_argument("--blocks", type=int, default=5, help="with likwid-bench between (5)")
    parser.add_argument("--quick", action="store_true", help="3 small rounds: does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    asked = arguments(words)
    size, rounds, blocks = asked.bytes, asked.rounds, asked.blocks
    if asked.quick:
        size, rounds, blocks = 8 << 20, 3, 1
    counts = [n for n in (1, 2) if n <= len(os.sched_getaffinity(0))]
    try:
        conditions = common.machine()
        with tempfile.TemporaryDirectory() as folder:
            program = build(Path(folder))
            by_threads = {n: compete(program, size, rounds, n, blocks) for n in counts}
    except UserError as error:
        print(f"node_memory: {error}", file=sys.stderr)
        return 2
    print(f"# {conditions}\n")
    print("\n".join(table(by_threads, size)), NOTES, sep="\n\n")
    kernels = ", ".join(f"{each.kernel} on {n}" for n, each in by_threads.items() if each.kernel)
    missing = f"{BENCH} gave no speed (Debian's package likwid), so nothing is said of it"
    print(f"\nlikwid-bench: {kernels}" if kernels else f"\n{missing}")
    wrong = list(failures(by_threads, size))
    print(*(f"not reached: {each}" for each in wrong), sep="\n")
    status = common.conclude(not wrong, "; ".join(figures(by_threads, size)))
    return 0 if asked.quick else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
