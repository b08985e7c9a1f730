# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Our programs with the words of real runs of IMB: the same sections, heads and rows come out.

A run is NAME.cmd in real/ and NAME.txt there or in imb/. What is compared is what does not depend
on the machine: every heading and head as it is, sizes and repetitions of rows, widths, notes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import patience
from tests.cases.launching import PATIENCE_S, site, words

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.mpi, pytest.mark.heavy]

HERE = Path(__file__).parent
REAL = HERE / "real"
RUNS = sorted(path.stem for path in REAL.glob("*.cmd"))
MPIS = {"mpich": "mpich", "impi": "intel", "ompi": "openmpi"}

# Where IMB goes on with wrong input, or does nothing, we refuse it: status 2 and this in one line.
REFUSED = {
    "mpich-MPI1-err-msglen-missing": "-msglen: cannot read the file 'nofile'",
    "mpich-MPI1-err-msglog31": "-msglog: 2^31 bytes need more memory than -mem allows",
    "mpich-MPI1-err-msgsize-text": "-msgsize: 'abc' is not a number",
    "mpich-MPI1-err-unknown-option": "there is no option -foo",
    "mpich-MPI1-iter0-and-negative": "-iter: '0' is out of range: at least 1",
    "impi-MPI1-err-unknown-benchmark": "no benchmark of IMB-MPI1 is called 'Nonsense'",
}
# With -lenient these are as IMB's are.
LENIENT = (
    "mpich-MPI1-err-unknown-option",
    "mpich-MPI1-iter0-and-negative",
    "impi-MPI1-err-unknown-benchmark",
)
# Faults of IMB that we do not have, so that there are more tables than IMB has.
REPAIRED = {
    "mpich-MPI1-comma-list",  # all comma lists are understood
    "mpich-RMA-nondefault-np4",  # IMB's -npmin 4 leaves Compare_and_swap out, without a word
}
# What the list says about benchmarks and the computation, in words of each program's own.
OWN_WORDS = ("#     ", "MFlops", "CPU_Exploit", "nonblocking", "omputation", "Page cache")


def ranks_and_words(run: str) -> tuple[int, list[str]]:
    text = (REAL / f"{run}.cmd").read_text(encoding="utf-8").split()
    assert text[:2] == ["mpirun", "-n"]
    return int(text[2]), text[3:]


def real_output(run: str) -> str:
    paths = (REAL / f"{run}.txt", HERE / "imb" / f"{run}.txt")
    return next(p for p in paths if p.exists()).read_text(encoding="utf-8")


def started(run: str, *more: str) -> subprocess.CompletedProcess[str]:
    ranks, imb = ranks_and_words(run)
    argv, env = words(site(MPIS[run.split("-")[0]]), ranks, "--imb", *imb, *more)
    return patience.run(argv, env=env, cwd=REAL, seconds=PATIENCE_S)


def shape(text: str) -> Iterator[object]:
    """The lines from the list of benchmarks on, as far as they are the same on every machine."""
    lines = text.splitlines()
    heads = 0
    listing = True
    for line in lines[lines.index("# List of Benchmarks to run:") :]:
        fields = line.split()
        listing = listing and not line.startswith("#--")
        if listing and (not fields or any(word in line for word in OWN_WORDS)):
            continue
        if line.startswith(" ") and fields[0].startswith(("#", "Group")):
            heads = 2 if "#bytes" in fields else 1
            heads += fields[0] == "Group"
            yield line
        elif line.startswith(" ") and len(fields) > 1 and fields[1][-1] in ".;":
            yield (fields[0], fields[1])  # a note; its words are ours
        elif line.startswith(" "):
            yield (" ".join(fields[:heads]), len(line) % 13)
        else:
            yield line


def expected(run: str) -> list[object]:
    return list(shape(real_output(run)))


def own_errors(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("IMB-")]


@pytest.mark.parametrize("run", [r for r in RUNS if r not in REFUSED])
def test_the_same_words_give_the_same_tables(run: str) -> None:
    done = started(run)
    assert (done.returncode, own_errors(done)) == (0, [])
    ours = list(shape(done.stdout))
    if run in REPAIRED:
        assert {f for f in expected(run) if "Invalid" not in str(f)} <= set(ours)
    else:
        assert ours == expected(run)


@pytest.mark.parametrize("run", REFUSED)
def test_wrong_input_is_refused_in_one_line(run: str) -> None:
    done = started(run)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = own_errors(done)
    assert REFUSED[run] in line


@pytest.mark.parametrize("run", LENIENT)
def test_lenient_is_as_imb_is(run: str) -> None:
    done = started(run, "-lenient")
    assert (done.returncode, own_errors(done)) == (0, [])
    assert list(shape(done.stdout)) == expected(run)
