# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Calls of all families: the profiler counts what an independent counter counts."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.mpi.make import headers
from tests.profiled import HERE, build, profiled, started
from tests.profiled.zoo_counter import write_counter

pytestmark = pytest.mark.mpi
RANKS = 3
BYTES_OF_FILES = 2 * 64 * RANKS
"""Each rank writes and reads 64 bytes, first waiting for them, then by a request."""


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(mpi, "zoo.c", tmp_path_factory.mktemp(mpi.name), "-fpermissive")


def test_the_profiler_counts_what_an_independent_counter_counts(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "counts"
    folder.mkdir()
    counter = counter_of(mpi, tmp_path)
    settings = {"LD_PRELOAD": str(counter), "ZOO_COUNTS": str(folder)}
    plain = started(mpi, RANKS, [program, tmp_path / "file"], settings)
    assert plain.returncode == 0, plain.stdout + plain.stderr
    done = profiled(mpi, RANKS, [program, tmp_path / "file"], tmp_path / "profile")
    assert done.status == 0, done.output + done.errors
    account = Account(ProfiledJob(0, 0, merged(done.files), {}))
    expected = counts_in(folder)
    calls: Counter[tuple[int, str]] = Counter()
    sent: Counter[tuple[int, str]] = Counter()
    profile = account.profile
    for row in profile.rows:
        calls[int(row["rank"]), profile.spots[row["site"]].call] += int(row["calls"])
    for cell in profile.cells:
        key = int(cell["rank"]), profile.spots[cell["site"]].call
        sent[key] += int(cell["amount"]) * int(cell["sends"])
    assert calls == {key: number for key, (number, _) in expected.items()}
    assert +sent == {key: sums for key, (_, sums) in expected.items() if sums}
    assert sum(each.sent for each in account.sites) == sum(sums for _, sums in expected.values())
    assert account.file_bytes == (BYTES_OF_FILES, BYTES_OF_FILES)


def counter_of(mpi: Mpi, folder: Path) -> Path:
    source, library = folder / "counter.c", folder / "libcounter.so"
    define = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    preprocess = [
        *compiler_words("a test"),
        *define,
        "-I",
        str(headers(mpi)),
        "-E",
        "-P",
        "-x",
        "c++",
    ]
    header = subprocess.run(
        [*preprocess, str(headers(mpi) / "mpi.h")], check=True, capture_output=True, text=True
    )
    write_counter(header.stdout, HERE / "zoo.c", source)
    words = [*compiler_words("a test"), "-fpermissive", "-w", "-shared", "-fPIC"]
    words += [*define, "-isystem", str(headers(mpi)), str(source), "-o", str(library)]
    subprocess.run([*words, str(mpi.library)], check=True)
    return library


def counts_in(folder: Path) -> dict[tuple[int, str], tuple[int, int]]:
    counts = {}
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            call, calls, sent = line.split()
            counts[int(path.name), call] = int(calls), int(sent)
    return counts
