# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune --for PROFILE` with a real program."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.products.profile.beside.mix import mix_of
from mpigauge.products.profile.program import ProfiledProgram
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import load
from mpigauge.runs.store.tunings import load_tuning, save, variables_of
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import tunings
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi
SOURCE = """
#include <mpi.h>
static char sent[16384], got[16384];
int main(int count, char** words) {
  MPI_Init(&count, &words);
  for (int i = 0; i < 4000; ++i)
    MPI_Alltoall(sent, 8192, MPI_CHAR, got, 8192, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


def profiled(folder: Path) -> Path:
    mpich = find("mpich")
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-isystem", str(headers(mpich)), "app.c", "-o", "app", str(mpich.library)]
    subprocess.run([*words, f"-Wl,-rpath,{mpich.library.parent}"], cwd=folder, check=True)
    line = (str(mpich.mpiexec), "-n", "2", str(folder / "app"))
    done = cli.mpigauge("profile", "--output", "profile", "--", *line, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "profile"


def test_a_profile_says_what_is_tuned_and_is_launched_again_in_turn(tmp_path: Path) -> None:
    profile = profiled(tmp_path)
    mix = mix_of("profile", load_jobs(profile))
    assert mix is not None
    (call,) = mix.calls
    assert (call.benchmark, call.ranks, call.message_bytes) == ("Alltoall", 2, 8192)
    assert (call.least_bytes, call.most_bytes) == (8192, 8192)
    assert mix.mpi == find("mpich").label
    rules = tmp_path / "rules"
    variables = variables_of(rules, tunings.make(rules, find("mpich")))
    arms = {"default": {}, "tuned": variables}
    told: list[str] = []
    program = ProfiledProgram(profile, load_jobs(profile))
    times = program.launched_in_turn(arms, tmp_path / "program", 2, 1, told.append)
    assert {arm: len(each) for arm, each in times.items()} == {"default": 2, "tuned": 2}
    assert all(0 < mpi_s <= run_s for each in times.values() for run_s, mpi_s in each)
    for arm in arms:
        assert load(tmp_path / "program" / arm).status["status"] == "done"
    more = program.launched_in_turn(arms, tmp_path / "program", 3, 1, told.append)
    assert {arm: each[:2] for arm, each in more.items()} == times
    assert {len(each) for each in more.values()} == {3}


def test_a_trial_that_was_interrupted_is_made_by_the_same_command(tmp_path: Path) -> None:
    profile = profiled(tmp_path)
    made = tunings.with_messages(find("mpich"), {"MPIR_CVAR_CH4_CMA_ENABLE": "1"})
    begun = tmp_path / "out" / "runs" / "program"
    begun.mkdir(parents=True)
    (begun / "kept").touch()
    save(tmp_path / "out", replace(made, mix=mix_of("profile", load_jobs(profile))))
    done = cli.mpigauge("tune", "--for", "profile", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "with the rules, by 10 launches of each in turn" in done.stdout
    assert load_tuning(tmp_path / "out").trial is not None
    assert (begun / "kept").exists()
    again = cli.mpigauge("tune", "--for", "profile", "--output", "out", cwd=tmp_path)
    assert again.returncode == 2
    assert "holds a tuning already" in again.stderr


@pytest.mark.acceptance("tuning")
def test_tuning_for_a_program_from_its_profile_to_the_verdict(tmp_path: Path) -> None:
    profiled(tmp_path)
    words = ("tune", "--for", "profile", "--launches", "3", "--output", "out")
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tuning = load_tuning(tmp_path / "out")
    assert tuning.mix is not None
    assert tuning.sizes == (8192,)
    assert {each.rule.collective for each in tuning.rules} <= {"Alltoall"}
    assert {(each.rule.first_bytes, each.rule.last_bytes) for each in tuning.rules} <= {
        (8192, 8192)
    }
    assert (tuning.trial is not None) == bool(tuning.rules)
    assert cli.mpigauge("tune", "show", "out", cwd=tmp_path).stdout.startswith(done.stdout)
