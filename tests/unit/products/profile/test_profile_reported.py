# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Imported reports of mpiP and perfcatcher are shown and explained as our own profiles are."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.jobs import main_jobs
from mpigauge.products.profile.show.text import lines_of, page
from mpigauge.products.profile.store.reported import NOT_LISTED, SUMS, job_of, reported_jobs
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.readers import READERS, Text
from tests.profiles import job

if TYPE_CHECKING:
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"
MPIP, PERFCATCH = "ember-mpip-report", "ember-perfcatch-report"
WHOLE = """@ mpiP
@ Command : ./heat --steps 10
@ Version                  : 3.5.0
@ Start time               : 2024 03 14 05:00:00
@ MPI Task Assignment      : 0 node1
@ MPI Task Assignment      : 1 node2
---------------------------------------------------------------------------
@--- MPI Time (seconds) ---------------------------------------------------
---------------------------------------------------------------------------
Task    AppTime    MPITime     MPI%
   0         10          2    20.00
   1         10          6    60.00
   *         20          8    40.00
---------------------------------------------------------------------------
@--- Callsites: 3 ---------------------------------------------------------
---------------------------------------------------------------------------
 ID Lev File/Address        Line Parent_Funct             MPI_Call
  1   0 halo.c                12 Halo::exchange(int, int) Send
  1   1 main.c                30 main
  2   0 0x4005d0                 [unknown]                Barrier
  3   0 halo.c                15 Halo::exchange(int, int) Send
{tables}"""
RULES = """---------------------------------------------------------------------------
@--- {title} ---
---------------------------------------------------------------------------
"""
TOP = RULES.format(title="Aggregate Time (top twenty, descending, milliseconds)") + (
    """Call                 Site       Time    App%    MPI%      Count    COV
Barrier                 2       5000   25.00   62.50        200   0.60
Send                    1       2000   10.00   25.00        400   0.00
"""
)
SENT = RULES.format(title="Aggregate Sent Message Size (top twenty, descending, bytes)") + (
    """Call                 Site      Count      Total       Avrg  Sent%
Send                    1        400   4.096e+05       1024 100.00
"""
)
TIMES = RULES.format(title="Callsite Time statistics (all, milliseconds): 6") + (
    """Name              Site Rank  Count      Max     Mean      Min   App%   MPI%
Barrier              2    0    100       20        5        1   5.00  25.00
Barrier              2    1    100       90       45        2  45.00  75.00
Barrier              2    *    200       90       25        1  25.00  62.50

Send                 1    0    200        9        5        4  10.00  50.00
Send                 1    1    200        9        5        4  10.00  16.67
Send                 1    *    400        9        5        4  10.00  25.00
"""
)
MESSAGES = RULES.format(title="Callsite Message Sent statistics (all, sent bytes)") + (
    """Name              Site Rank   Count       Max      Mean       Min       Sum
Send                 1    0     200      2048      1024         8 2.048e+05
Send                 1    1     200      2048      1024         8 2.048e+05
Send                 1    *     400      2048      1024         8 4.096e+05
"""
)


def read(name: str, text: str) -> Reading:
    return READERS.find(name).read(Text(text.encode()))


def recorded(file: str) -> str:
    return (PRINTED / f"{file}.txt").read_text(encoding="utf-8")


def account(name: str, text: str) -> Account:
    (found,) = reported_jobs(read(name, text))
    return Account(found)


def sites(of: Account) -> dict[tuple[str, str], list[float]]:
    """Calls and seconds of all ranks."""
    return {(site.spot.call, site.where): [site.calls, site.total_s] for site in of.sites}


# --- what a report says ------------------------------------------------------------------------
def test_a_whole_report_of_mpip() -> None:
    of = account("mpip", WHOLE.format(tables=TOP + SENT + TIMES + MESSAGES))
    assert of.job.program == "heat"
    assert [(file.rank, file.host) for file in of.ranks] == [(0, "node1"), (1, "node2")]
    assert of.run_s.tolist() == [10, 10]
    assert of.mpi_s.tolist() == pytest.approx([2, 6])
    assert of.mean_share == pytest.approx(0.4)
    assert of.imbalance == pytest.approx(8 / 6 - 1)
    barrier, send, rest = of.sites
    assert (barrier.spot.call, barrier.where, barrier.calls) == ("MPI_Barrier", "0x4005d0", 200)
    assert barrier.seconds.tolist() == pytest.approx([0.5, 4.5])
    assert (barrier.most_s, barrier.least_s) == pytest.approx((0.09, 0.001))
    assert send.where == "Halo::exchange at halo.c:12"
    assert of.stack(send.spot)[1] == "main at main.c:30"
    assert (rest.spot.call, rest.seconds.tolist()) == (NOT_LISTED, pytest.approx([0.5, 0.5]))
    (sizes,) = of.sizes
    assert (sizes.call, sizes.count, sizes.least, sizes.most) == ("MPI_Send", 400, 8, 2048)
    assert not of.job.remarks


def test_a_concise_report_shares_sums_out() -> None:
    """It has no times of single ranks but those in MPI altogether."""
    of = account("mpip", WHOLE.format(tables=TOP + SENT))
    assert of.job.remarks == (SUMS,)
    assert of.mpi_s.tolist() == pytest.approx([2, 6])
    found = sites(of)
    assert found["MPI_Barrier", "0x4005d0"] == pytest.approx([200, 5])
    assert found["MPI_Send", "Halo::exchange at halo.c:12"] == pytest.approx([400, 2])
    assert "about 1.0 KiB" in "\n".join(page([of.job]))


def test_the_concise_form_of_a_report() -> None:
    """What mpiP prints with -c: ranks are the most, the mean and the least."""
    reading = read("mpip", recorded("mpip-concise"))
    assert not reading.unread
    of = Account(*reported_jobs(reading))
    assert of.mpi_s.tolist() == pytest.approx([2, 6, 2, 2])
    assert of.run_s.tolist() == [10, 10, 10, 10]
    assert of.mean_share == pytest.approx(0.3)
    found = sites(of)
    assert found["MPI_Barrier", ""] == pytest.approx([0, 8])
    assert found["MPI_Send", ""] == pytest.approx([0, 1.8])
    assert "ranks between are taken for alike" in " ".join(page([of.job]))
    values = {figure.name: (figure.value, figure.unit) for figure in reading.figures}
    assert values["time in Barrier at site 2, most of ranks"] == (5.0, "s")
    assert values["sent by Send at site 1, mean of ranks"] == (3072.0, "B")
    assert values["time in MPI, standard deviation over ranks"] == (2.0, "s")


def test_one_sided_bytes_are_of_no_file() -> None:
    moved = RULES.format(title="Aggregate RMA Origin Size (top twenty, descending, bytes)") + (
        "Call                 Site      Count      Total       Avrg   I/O%\n"
        "Put                     1        400   4.096e+05       1024 100.00\n"
    )
    top = TOP.replace("Send ", "Put  ")
    reading = read("mpip", WHOLE.format(tables=top + moved))
    assert "moved by Put at site 1" in {figure.name for figure in reading.figures}
    (sizes,) = Account(*reported_jobs(reading)).sizes
    assert (sizes.call, sizes.count, sizes.way.name) == ("MPI_Put", 400, "SENT")


def test_rows_of_ranks_that_are_cut_count_no_more_than_their_sum() -> None:
    cut = TIMES[: TIMES.index("Barrier              2    1")]
    of = account("mpip", WHOLE.format(tables=TOP + SENT + cut))
    assert sites(of)["MPI_Barrier", "0x4005d0"] == pytest.approx([200, 5])


def test_the_recorded_report_of_mpip() -> None:
    of = account("mpip", recorded(MPIP))
    assert (len(of.ranks), of.job.source) == (12, "mpiP 3.2.1")
    assert of.mean_share == pytest.approx(0.9046, rel=1e-3)
    first = of.sites[0]
    assert (first.spot.call, first.where, first.calls) == ("MPI_Gather", "main at IMB.c:270", 34236)
    assert first.total_s == pytest.approx(372)
    assert of.mpi_s.tolist() == pytest.approx(
        [68.1, 69.2, 69.4, 69.4, 69.6, 69.2, 70, 70.1, 70, 70.2, 70.2, 69.9], rel=1e-3
    )


def test_the_recorded_report_of_perfcatcher() -> None:
    """Of 12 ranks it lists the calls of one."""
    of = account("perfcatcher", recorded(PERFCATCH))
    assert (len(of.ranks), of.job.expected) == (1, 12)
    assert sites(of)["MPI_Alltoall", ""] == pytest.approx([2855, 7.8679])
    assert of.mpi_s.tolist() == pytest.approx([0.936154 * 73.003], rel=1e-5)
    pairs = {(pair.source, pair.target): pair.messages for pair in of.pairs}
    assert set(pairs) == {(0, 1), (0, 11)}
    text = " ".join(page([of.job]))
    assert "The report lists the calls of 1 of 12 ranks." in text
    assert "imbalance 2.2 %, by rank 0" in text


@pytest.mark.parametrize("reader", ["mpip", "perfcatcher"])
def test_our_own_reports_come_back(reader: str) -> None:
    """What --format mpip and perfcatch write holds the time in MPI, the calls and the bytes."""
    ours = job()
    form = {"mpip": "mpip", "perfcatcher": "perfcatch"}[reader]
    theirs = account(reader, "\n".join(lines_of([ours], form)) + "\n")
    before = Account(ours)
    assert len(theirs.ranks) == len(before.ranks)
    assert theirs.mpi_s.sum() == pytest.approx(before.mpi_s.sum(), rel=0.01)
    assert calls_of(theirs) == calls_of(before)
    assert sent_of(theirs) == pytest.approx(sent_of(before), rel=0.01)


def calls_of(of: Account) -> Counter[str]:
    found: Counter[str] = Counter()
    for site in of.inside:
        found[site.spot.call] += site.calls
    del found[NOT_LISTED]
    return found


def sent_of(of: Account) -> Counter[str]:
    found: Counter[str] = Counter()
    for sizes in of.sent:
        found[sizes.call] += sizes.bytes
    return found


# --- several reports in one file ----------------------------------------------------------------
@pytest.mark.parametrize(("name", "file"), [("mpip", MPIP), ("perfcatcher", PERFCATCH)])
def test_reports_of_one_file_are_launches(name: str, file: str) -> None:
    once, twice = read(name, recorded(file)), read(name, recorded(file) * 2)
    assert [(launch.launch, launch.world_ranks) for launch in twice.launches] == [(0, 12), (1, 12)]
    assert {figure.ranks for figure in twice.figures} == {12}
    assert [sum(f.launch == n for f in twice.figures) for n in (0, 1)] == [len(once.figures)] * 2
    assert len(page(reported_jobs(twice))) > 20


def test_reports_of_other_programs_are_other_jobs() -> None:
    """Their numbers are in no median."""
    small = WHOLE.format(tables=TOP)
    jobs = reported_jobs(read("mpip", recorded(MPIP) * 2 + small))
    assert [(each.launch, each.expected) for each in main_jobs(jobs)] == [(0, 12), (1, 12)]
    text = "\n".join(page(jobs))
    assert "IMB-MPI1: 12 ranks" in text
    assert "- job 1, heat: 2 ranks, run time 10.0 s, MPI 40 %, launch 3" in text


def test_a_report_among_other_results_stays_figures() -> None:
    text = recorded(MPIP)
    whole = read("mpip", text)
    assert len(reported_jobs(whole)) == 1
    osu = READERS.find("osu").read(Text((PRINTED / "osu.txt").read_bytes()))
    from mpigauge.runs.readers.reading import joined

    assert reported_jobs(joined([osu, whole])) == []
    assert [each.launch for each in joined([osu, whole]).profiles] == [1]


# --- the commands ---------------------------------------------------------------------------------
@pytest.fixture
def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: Any) -> Path:
    folder = tmp_path / "run"
    file = PRINTED / f"{getattr(request, 'param', MPIP)}.txt"
    assert mpigauge(["import", str(file), "--output", str(folder)]) == 0
    capsys.readouterr()
    return folder


def test_import_and_show_print_the_calls_that_matter(
    imported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["show", str(imported)]) == 0
    text = capsys.readouterr().out.replace(str(imported), "run")
    assert text.startswith("IMB-MPI1: 12 ranks on ember-cmp3, reported by mpiP 3.2.1, 77.0 s")
    assert "45 % of the time in MPI is MPI_Gather in main at IMB.c:270" in text.replace("\n", " ")
    assert "MPI takes 90 % of the run time" in text
    for unknown in ("nan", "-1", " – "):
        assert unknown not in text
    assert len(text.splitlines()) < 80


def test_formats_of_a_report(imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["show", str(imported), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["jobs"]
    assert (told["source"], told["ranks"][0]["peak_bytes"]) == ("mpiP 3.2.1", None)
    assert mpigauge(["show", str(imported), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[0]["call"], rows[0]["median_s"]) == ("MPI_Gather", "")
    assert mpigauge(["show", str(imported), "--format", "mpip"]) == 2
    assert "is a report of mpiP 3.2.1; csv and json have its numbers" in capsys.readouterr().err


@pytest.mark.parametrize("imported", [MPIP, PERFCATCH], indirect=True)
def test_explain_names_the_calls_that_take_most(
    imported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["explain", str(imported), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    first = told["findings"][0]
    assert first["cause"] == "largest-calls"
    assert first["what"].startswith("45 % of the time in MPI is MPI_Gather")
    assert NOT_LISTED not in json.dumps(told)


def test_our_own_profiles_have_no_largest_calls() -> None:
    from mpigauge.products.profile.analyse.causes import explained

    assert "largest-calls" not in {each.cause for each in explained([job()]).findings}


@pytest.mark.parametrize(
    ("words", "option", "lacks"),
    [
        (["tune", "--for", "{}"], "--for", "neither the MPI, cores and communicators"),
        (["profile", "--measure", "{}"], "--measure", "nor the size of each"),
        (
            ["run", "Replay", "--replay", "{}"],
            "--replay",
            "nor the size and communicator of each call",
        ),
        (["run", "Allreduce", "--arrival", "profile:{}"], "--arrival", "when ranks entered a call"),
    ],
)
@pytest.mark.parametrize("imported", [MPIP, PERFCATCH], indirect=True)
def test_what_needs_more_names_it(
    words: list[str], option: str, lacks: str, imported: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert mpigauge([word.format(imported) for word in words]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"mpigauge: {option}: {imported} is a report of ")
    assert lacks in said
    assert "`mpigauge profile` records all of them" in said
    assert said.count("\n") == 1


def test_a_report_is_compared_and_drawn(
    imported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["compare", str(imported), str(imported)]) == 0
    assert "Scatter in main" in capsys.readouterr().out
    page_file = tmp_path / "page.html"
    assert mpigauge(["report", str(imported), "--output", str(page_file)]) == 0
    text = page_file.read_text(encoding="utf-8")
    assert "MPI_Gather" in text
    for unknown in ("perfect network", "Cost of the profiler"):
        assert unknown not in text


def test_a_stored_report_is_the_same(imported: Path) -> None:
    (loaded,) = load_jobs(imported)
    (report,) = read("mpip", recorded(MPIP)).profiles
    made: ProfiledJob = job_of(report)
    assert (loaded.source, loaded.remarks) == (made.source, made.remarks)
    assert loaded.profile.rows["seconds"].tolist() == made.profile.rows["seconds"].tolist()
    assert loaded.places == made.places
