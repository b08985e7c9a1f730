# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge compare` of profiles: which call sites belong together, and what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.analyse.compared import REST, SideOfProfile, compared_sites
from mpigauge.products.profile.match.merge import Profile
from mpigauge.products.profile.read.rank_file import ReturnAddress
from mpigauge.products.profile.store.stored import ProfiledJob
from tests.profiles import MAIN, NORM, PLACES, after_an_edit, job, stored


def sides(*jobs: ProfiledJob) -> list[SideOfProfile]:
    return [SideOfProfile.of(f"side {number}", [each]) for number, each in enumerate(jobs)]


def labels(*jobs: ProfiledJob) -> list[str]:
    return [site.label for site in compared_sites(sides(*jobs))]


def with_spots(job: ProfiledJob, *spots: tuple[str, tuple[ReturnAddress, ...]]) -> ProfiledJob:
    """The calls of the first spots, at these places instead."""
    old = job.profile.spots
    new = [replace(each, call=call, frames=frames) for each, (call, frames) in zip(old, spots)]  # noqa: B905
    return replace(job, profile=replace(job.profile, spots=(*new, *old[len(new) :])))


# --- the same call site ---------------------------------------------------------------------------
def test_a_call_site_is_the_same_after_an_edit() -> None:
    assert labels(job(), after_an_edit()) == [
        *("Allreduce in norm [secret step]", "Send in main", "Waitall in main"),
    ]


def test_calls_of_a_function_are_told_apart_by_their_callers() -> None:
    """Send from norm, which main calls, and from norm, which nobody is known to call."""
    spots = (("MPI_Send", (NORM, MAIN)), ("MPI_Send", (NORM, NORM)))
    of = [with_spots(each, *spots) for each in (job(), job())]
    plain = [replace(each, profile=without_regions(each.profile)) for each in of]
    assert labels(*plain)[:2] == ["Send in norm from main", "Send in norm from norm"]


def test_calls_without_another_caller_are_told_apart_by_their_order() -> None:
    further = replace(NORM, offset=0x280)
    spots = (("MPI_Send", (NORM,)), ("MPI_Send", (further,)))
    of = [with_spots(each, *spots) for each in (job(), job())]
    places = {**PLACES, further: PLACES[NORM]}
    named = [replace(each, profile=without_regions(each.profile), places=places) for each in of]
    assert labels(*named)[:2] == ["Send in norm, number 1", "Send in norm, number 2"]


def test_where_one_side_has_more_of_them_they_are_one() -> None:
    further = replace(NORM, offset=0x280)
    two = with_spots(job(), ("MPI_Send", (NORM,)), ("MPI_Send", (further,)))
    two = replace(
        two,
        profile=without_regions(two.profile),
        places={**PLACES, further: PLACES[NORM]},
    )
    one = with_spots(job(), ("MPI_Send", (NORM,)))
    one = replace(one, profile=without_regions(one.profile))
    assert labels(one, two)[0] == "Send in norm, all of them"


def test_what_takes_little_everywhere_is_one_number() -> None:
    few = job()
    rows = few.profile.rows.copy()
    rows["seconds"][rows["site"] > 0] *= 1e-6
    few = replace(few, profile=replace(few.profile, rows=rows))
    assert labels(few, few) == ["Allreduce in norm [secret step]", REST]


def without_regions(profile: Profile) -> Profile:
    return replace(profile, spots=tuple(replace(spot, region="") for spot in profile.spots))


# --- the command ----------------------------------------------------------------------------------
def compared(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    assert mpigauge(["compare", *words]) == status
    said = capsys.readouterr()
    return said.out, said.err


def test_one_launch_of_each_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(tmp_path / "before", job(slower=2.0))
    after = stored(tmp_path / "after", after_an_edit(slower=1.0))
    text, _ = compared(capsys, str(before), str(after))
    (line,) = [each for each in text.splitlines() if each.startswith("Allreduce in norm")]
    assert line.split()[-5:] == ["150", "ms", "100", "ms", "0.667"]
    assert max(map(len, text.splitlines())) <= 80
    assert "decide nothing" in " ".join(text.split())
    for verdict in ("BETTER", "WORSE", "UNDECIDED"):
        assert verdict not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pivot", "run"], "leave --pivot out"),
        (["--format", "latex"], "take table or csv"),
    ],
)
def test_profiles_are_no_pivots(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(stored(tmp_path / "before", job()))
    assert message in compared(capsys, folder, folder, *words, status=2)[1]


def test_many_launches_of_each_have_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = [job(number, 2 + number / 100) for number in range(8)]
    faster = [after_an_edit(number, 1 + number / 100) for number in range(8)]
    before, after = stored(tmp_path / "before", *slower), stored(tmp_path / "after", *faster)
    text, _ = compared(capsys, str(before), str(after))
    (line,) = [each for each in text.splitlines() if each.startswith("Allreduce in")]
    assert line.endswith("BETTER")
    told, _ = compared(capsys, str(before), str(after), "--format", "json")
    ratios = {each["what"]: each["verdict"] for each in json.loads(told)["ratios"]}
    assert ratios["Allreduce in norm [secret step]"] == "BETTER"
    assert ratios["in MPI"] == "BETTER"
    compared(capsys, str(after), str(before), "--fail-on", "slower", status=1)


def test_what_one_side_alone_calls_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = with_spots(job(), ("MPI_Reduce", (NORM, MAIN)))
    words = (str(stored(tmp_path / "a", job())), str(stored(tmp_path / "b", other)))
    text, _ = compared(capsys, *words)
    flat = " ".join(text.split())
    assert "Only in a: Allreduce in norm [secret step] (200 calls," in flat
    assert "Only in b: Reduce in norm [secret step] (200 calls," in flat


def test_profiles_are_compared_with_profiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = str(stored(tmp_path / "a", job()))
    _, said = compared(capsys, profile, "ref:ember", status=2)
    assert "ref:ember is not a profile" in said
