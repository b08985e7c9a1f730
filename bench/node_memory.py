#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Is our plain loop over memory as fast as one by hand, and what does tuning bring?

Exit status: 0 plain within 5 %, 1 it is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError

MOST_APART = 0.05
HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
NODE = KERNELS / "suites" / "node"
LOOPS = ("-O3", "-fno-builtin")
"""As CMakeLists.txt builds the loops, with what each set of instructions needs."""
WIDER = {
    "avx2": ("-mavx2", "-mfma"),
    "avx512": ("-mavx512f", "-mfma", "-mprefer-vector-width=512"),
}
NOTES = """\
plain, native, tuned  median over rounds of speeds, over that of a loop by hand (-O3) with the same
              instructions as our plain one, measured in turn in one process. native: the loop by
              hand with -march=native, for which compilers may choose wider registers. All three go
              over the same arrays in usual pages, tuned over others in huge pages.
best          the same of the fastest rounds: where both differ, others were at work here.
Copying is left out: compilers make a call of memcpy of the loop by hand."""

Round = tuple[float, float, float, float]
"""Seconds by hand, native, plain, tuned."""
Rounds = dict[str, list[Round]]
"""By stream."""


def build(folder: Path) -> Path:
    """The program. Each file has flags of its own, so each is compiled by itself; which ones a loop
    like ours needs is known once the first build has told what our plain loops use."""
    objects = [
        _object(folder, path, LOOPS, _wider(path)) for path in sorted(NODE.glob("vectors_*.cpp"))
    ]
    objects.append(_object(folder, NODE / "vectors.cpp", ("-O2",)))
    objects.append(_object(folder, HERE / "node_memory.cpp", ("-O2",)))
    objects.append(_by_hand(folder, "by_hand_native", ("-march=native",)))
    program = folder / "node_memory"
    asked = _by_hand(folder, "by_hand", ())
    _compile(*objects, asked, "-o", str(program))
    words = [str(program), "--isa"]
    isa = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    _compile(*objects, _by_hand(folder, "by_hand", WIDER.get(isa, ())), "-o", str(program))
    return program


def _by_hand(folder: Path, name: str, flags: tuple[str, ...]) -> str:
    source = HERE / "node_memory_by_hand.cpp"
    return _object(folder, source, ("-O3", f"-DBY_HAND={name}"), flags, name)


def _object(
    folder: Path, path: Path, flags: tuple[str, ...], more: tuple[str, ...] = (), name: str = ""
) -> str:
    made = str(folder / f"{name or path.stem}.o")
    _compile("-std=c++20", *flags, *more, f"-I{KERNELS}", "-c", str(path), "-o", made)
    return made


def _wider(path: Path) -> tuple[str, ...]:
    on_x86 = platform.machine() in ("x86_64", "AMD64")
    return WIDER.get(path.stem.removeprefix("vectors_"), ()) if on_x86 else ()


def _compile(*words: str) -> None:
    compiler = os.environ.get("CXX", "g++")
    done = subprocess.run([compiler, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{compiler} could not build node_memory: {done.stderr.strip()}")


def read(text: str) -> Rounds:
    found: Rounds = {}
    for line in text.splitlines():
        name, hand, native, plain, tuned = line.split()
        found.setdefault(name, []).append((float(hand), float(native), float(plain), float(tuned)))
    return found


def ratios(rounds: Sequence[Round]) -> list[float]:
    """Of native, plain and tuned, as speeds over the loop by hand."""
    return [median(each[0] / each[i] for each in rounds) for i in (1, 2, 3)]


def best(rounds: Sequence[Round]) -> list[float]:
    """The same of the fastest rounds of each."""
    hand, *others = (min(times) for times in zip(*rounds, strict=True))
    return [hand / other for other in others]


def table(found: Rounds) -> list[str]:
    form = "{:8}" + "{:>8}{:>7}" * 3 + "{:>8}"
    lines = [form.format("stream", "native", "best", "plain", "best", "tuned", "best", "rounds")]
    for name, rounds in found.items():
        both = zip(ratios(rounds), best(rounds), strict=True)
        lines.append(form.format(name, *(f"{x:.2f}" for pair in both for x in pair), len(rounds)))
    return lines


def is_kept(found: Rounds) -> bool:
    """Whether the plain loops are within 5 % of those by hand."""
    return all(abs(ratios(rounds)[1] - 1) <= MOST_APART for rounds in found.values())


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=128 << 20, help="of each array (128 MiB)")
    parser.add_argument("--rounds", type=int, default=41, help="of each stream (41)")
    parser.add_argument("--quick", action="store_true", help="3 small rounds: does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    asked = arguments(words)
    size, rounds = (8 << 20, 3) if asked.quick else (asked.bytes, asked.rounds)
    try:
        conditions = common.machine()
        with tempfile.TemporaryDirectory() as folder:
            program = [str(build(Path(folder))), str(size), str(rounds)]
            done = subprocess.run(program, capture_output=True, text=True, check=True)
    except (UserError, subprocess.CalledProcessError) as error:
        print(f"node_memory: {error}", file=sys.stderr)
        return 2
    found = read(done.stdout)
    print(f"# {conditions}\n")
    print("\n".join(table(found)), NOTES, sep="\n\n")
    return 0 if is_kept(found) or asked.quick else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
