# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first sentence of a profile: what bounds the program, whoever else uses its cores."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.causes import explained
from mpigauge.products.profile.launch.profiling import jobs_of
from mpigauge.products.profile.match.waiting import WAIT
from mpigauge.products.profile.read.rank_file import RankFile, Usage
from mpigauge.products.profile.show.sentences import MOST, sentences
from mpigauge.products.profile.show.text import lines_of, page
from mpigauge.products.profile.store.stored import ProfiledJob
from tests.profiles import MAIN, rank_file, site

RUN_S = 10.0
BLAMES = ("network", "balance", "waiting", "transfer")


def usage(cpu_s: float = RUN_S, voluntary: int = 20, involuntary: int = 40) -> Usage:
    return Usage(0.9 * cpu_s, 0.1 * cpu_s, 1 << 20, 0, 0, voluntary, involuntary)


def rank(number: int, mpi_s: float = 1.0, io_s: float = 0.0, **other: Any) -> RankFile:
    """A rank that runs for 10 s on a core of its own, in MPI for `mpi_s` of them."""
    sites = [site("MPI_Allreduce", "collective", (MAIN,), [mpi_s / 100] * 100)]
    if io_s:
        sites.append(site("MPI_File_write_at_all", "file", (MAIN,), [io_s / 10] * 10))
    file = replace(
        rank_file(number),
        host="node0",
        run_s=RUN_S,
        on_s=RUN_S,
        cpus={number: (0, 50)},
        usage=usage(),
        sites=tuple(sites),
        cells=rank_file(number).cells[:1],
        regions=(),
    )
    return replace(file, **other)


def of(*files: RankFile) -> ProfiledJob:
    (job,) = jobs_of(0, [replace(file, ranks=len(files)) for file in files])
    return job


def split(job: ProfiledJob, waiting: float) -> ProfiledJob:
    """The job with its collectives split, of which this share is waiting."""
    seconds = Account(job).mpi_s
    rows = np.zeros(len(seconds), WAIT)
    rows["rank"], rows["calls"], rows["kept"] = np.arange(len(seconds)), 100, 100
    for end in ("", "_low", "_high"):
        rows[f"waiting{end}_s"] = waiting * seconds
        rows[f"moving{end}_s"] = (1 - waiting) * seconds
    rows["seconds"], rows["resolved"] = seconds, waiting > 0.5
    return replace(job, profile=replace(job.profile, waits=rows))


def first(job: ProfiledJob) -> str:
    return sentences([Account(job)])[0]


def test_a_program_that_computes() -> None:
    assert first(of(rank(0), rank(1))) == (
        "Compute-bound; memory not examined: MPI takes 10 % of the run time on each rank."
    )


@pytest.mark.parametrize(
    ("mpi_s", "waiting", "limit"),
    [
        ((9, 9), 0.02, "transfer"),
        ((8, 8), 0.95, "serialisation"),
        ((0.5, 9.5), 0.99, "load balance"),
    ],
)
def test_a_program_in_mpi(mpi_s: tuple[float, float], waiting: float, limit: str) -> None:
    job = split(of(*(rank(number, each) for number, each in enumerate(mpi_s))), waiting)
    assert first(job).startswith(f"MPI-bound by {limit}: MPI takes ")
    assert ("tune --for" in sentences([Account(job)])[-1]) is (limit == "transfer")


@pytest.mark.parametrize(
    ("mpi_s", "waiting", "begin"),
    [
        ((0.2, 9.6), 0.99, "MPI-bound by load balance: MPI takes 49 % "),
        ((4.9, 4.9), 0.95, "MPI-bound by serialisation: MPI takes 49 % "),
        ((4.3, 4.3), 0.95, "Compute-bound; "),
    ],
)
def test_two_ranks_of_which_one_waits(
    mpi_s: tuple[float, float], waiting: float, begin: str
) -> None:
    job = split(of(*(rank(number, each) for number, each in enumerate(mpi_s))), waiting)
    assert first(job).startswith(begin)


def test_a_split_that_leaves_the_order_open_names_no_reason() -> None:
    job = split(of(rank(0, 9.0), rank(1, 9.0)), 0.3)
    waits = job.profile.waits.copy()
    for part in ("waiting", "moving"):
        waits[f"{part}_low_s"], waits[f"{part}_high_s"] = 0.0, waits["seconds"]
    job = replace(job, profile=replace(job.profile, waits=waits))
    assert first(job).startswith("MPI-bound: MPI takes 90 % ")
    assert "tune --for" in sentences([Account(job)])[-1]


def test_a_program_that_reads_and_writes() -> None:
    written = of(rank(0, io_s=7.0), rank(1, io_s=7.0))
    assert first(written).startswith("I/O-bound: 70 % of the run time is MPI-IO, ")
    blocked = usage(cpu_s=3.0, voluntary=5000, involuntary=30)
    read = of(rank(0, usage=blocked), rank(1, usage=blocked))
    assert first(read).startswith("I/O-bound: <0.1 % of the run time is MPI-IO, 70 % off the CPU")


@pytest.mark.parametrize(("io_s", "begin"), [(8.0, "I/O-bound: "), (2.0, "Starved: ")])
def test_cores_that_the_system_takes_to_write_files_are_not_lost(io_s: float, begin: str) -> None:
    taken = usage(cpu_s=8.0, involuntary=1500)
    assert first(of(*(rank(at, io_s=io_s, usage=taken) for at in range(2)))).startswith(begin)


def test_a_program_that_sleeps_between_few_calls_is_not_starved() -> None:
    asleep = usage(cpu_s=3.0, voluntary=5, involuntary=20)
    assert WhatBounds(Account(of(rank(0, usage=asleep), rank(1)))).bound != "starved"


STARVED = {
    "a burner on one core": [usage(), usage(cpu_s=5.0, involuntary=1500)],
    "burners on all cores": [usage(cpu_s=5.0, involuntary=1500)] * 2,
    "3 % of a core": [usage(cpu_s=0.3, involuntary=800)] * 2,
}


@pytest.mark.parametrize("name", STARVED)
@pytest.mark.parametrize("mpi_s", [0.5, 5.0, 9.5])
def test_ranks_that_were_kept_from_their_cores_are_named_first(name: str, mpi_s: float) -> None:
    files = [rank(at, mpi_s, usage=each) for at, each in enumerate(STARVED[name])]
    job = split(of(*files), 0.9)
    summary = sentences([Account(job)])
    assert summary[0].startswith("Starved: ranks had their cores for ")
    assert not any(word in sentence for sentence in summary[:1] + summary[2:] for word in BLAMES)
    assert "neither network nor balance is judged" in summary[1]
    assert {each.cause for each in explained([job]).findings} == {"lost-cores"}
    assert not any("POP" in line for line in page([job]))


def test_more_ranks_than_cores() -> None:
    taken = usage(cpu_s=10 / 16, involuntary=3000)
    files = [rank(at, 5.0, usage=taken, cpus={at % 2: (0, 9)}) for at in range(32)]
    assert first(of(*files)).startswith("Oversubscribed: 16 ranks share a core, so ranks had one ")


def test_reports_of_others_have_no_cpu_time_to_judge() -> None:
    unknown = Usage(*[-1] * 7)
    assert "lost cores not examined" in first(of(rank(0, usage=unknown), rank(1, usage=unknown)))


@pytest.mark.parametrize("waiting", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("mpi_s", [0.1, 5.0, 9.9])
def test_at_most_five_sentences_precede_the_first_table(mpi_s: float, waiting: float) -> None:
    job = split(of(rank(0, mpi_s), rank(1, mpi_s / 2)), waiting)
    summary = sentences([Account(job)])
    assert len(summary) <= MOST
    assert summary[-1].startswith("Next: `mpigauge ")
    begun = page([job])
    table = next(at for at, line in enumerate(begun) if line.startswith("#  call"))
    assert begun[table - 2] == summary[-1]


def test_programs_get_the_decision_and_the_efficiencies() -> None:
    job = split(of(rank(0, 9.0), rank(1, 9.0)), 0.95)
    (told,) = json.loads("\n".join(lines_of([job], "json")))["jobs"]
    assert (told["bound"], told["limit"]) == ("MPI", "serialisation")
    shares = told["computing_share"], told["messages_share"], told["io_share"]
    assert shares == pytest.approx((0.1, 0.9, 0.0))
    (whole,) = told["efficiencies"]
    assert whole["region"] == ""
    assert whole["parallel_efficiency"] == pytest.approx(0.1)
    factors = whole["serialisation"], whole["transfer"]
    assert factors == pytest.approx((1 / 9.55, 0.955))
