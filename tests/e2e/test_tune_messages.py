# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune --p2p` on real MPIs: settings are tried, chosen, set, and interrupted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.tune.decide.spaces import points, space_of
from mpigauge.products.tune.making import read_task
from mpigauge.products.tune.measure.message_runs import Messages, failures_of, settings_plan
from mpigauge.products.tune.measure.messages import confirmed_messages, wrong_with_settings
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.runs.store import load
from mpigauge.runs.store.tuned_rules import TunedMessages
from mpigauge.runs.store.tunings import FILE, load_tuning, save
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import tunings
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi
WRONG_SIZE = {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "65536"}
"""With which MPICH 5.0.2 does not start."""
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  MPI_Init(&count, &words);
  puts(getenv("OMPI_MCA_pml") ? getenv("OMPI_MCA_pml") : "default");
  MPI_Finalize();
  return 0;
}
"""


def task_for(mpi: Mpi, folder: Path, **more: str) -> TuningTask:
    said = {
        "mpi_spec": mpi.spec,
        "output": folder / "out",
        "keep_order": False,
        "ranks": "2",
        "sizes": "8,8Ki",
        **more,
    }
    task, _ = read_task((), said, mix=None, with_messages=True)
    return task


def test_each_library_knows_settings_that_are_worth_trying(mpi: Mpi) -> None:
    space = space_of(mpi, hosts=1)
    assert len(points(space)) >= 10
    names = [each.name for each in space]
    assert len(set(names)) == len(names)
    assert not any("vader" in name for name in names) or mpi.version.startswith("4.")


def test_settings_that_end_a_program_are_out_and_named(tmp_path: Path) -> None:
    task = task_for(find("mpich"), tmp_path)
    pair = [Messages(("PingPong", "Sendrecv"), 2, {8: 1.0, 8192: 1.0})]
    arms = {"too large": WRONG_SIZE, "good": {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}}
    run = task.measured("p2p-1", settings_plan(task, pair, arms, 1))
    assert set(failures_of(run, list(arms))) == {"too large"}
    assert {cell.arm for cell in run.cells} == {"", "control", "good"}
    assert {cell.benchmark for cell in run.cells} == {"PingPong", "Sendrecv"}
    assert not any(cell.wrong_count for cell in run.cells)


def test_settings_with_which_collectives_go_wrong_are_not_kept(tmp_path: Path) -> None:
    """Open MPI's ring of Allreduce is wrong, and stands for a setting that makes collectives so."""
    task = task_for(find("openmpi"), tmp_path)
    ring = {"coll_tuned_use_dynamic_rules": "true", "coll_tuned_allreduce_algorithm": "4"}
    found = confirmed_messages(task, TunedMessages(settings=ring))
    assert found.settings == {}
    assert "Allreduce gives" in found.why


def test_settings_with_which_all_is_right_are_not_blamed(mpi: Mpi, tmp_path: Path) -> None:
    (first, *_) = points(space_of(mpi, hosts=1))
    assert wrong_with_settings(task_for(mpi, tmp_path), first) == ""


def test_a_program_is_started_with_the_settings(tmp_path: Path) -> None:
    openmpi = find("openmpi")
    tuning = tunings.with_messages(openmpi, {"pml": "ob1"})
    save(tmp_path, tuning)
    (tmp_path / "app.c").write_text(SOURCE)
    words = ["gcc", "-isystem", str(headers(openmpi)), "app.c", "-o", "app", str(openmpi.library)]
    subprocess.run([*words, f"-Wl,-rpath,{openmpi.library.parent}"], cwd=tmp_path, check=True)
    line = (str(openmpi.mpiexec), "-n", "2", "--allow-run-as-root", str(tmp_path / "app"))
    done = cli.mpigauge("tune", "apply", ".", "--", *line, cwd=tmp_path)
    assert done.stdout.split() == ["ob1", "ob1"], done.stderr
    shown = cli.mpigauge("tune", "env", ".", cwd=tmp_path)
    assert shown.stdout == "export OMPI_MCA_pml=ob1\n"
    run = ("run", "PingPong", "--mpi", "openmpi", "--sizes", "8", "--launches", "1")
    done = cli.mpigauge(*run, "--tuned", ".", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "out").header["tuned"]["settings"] == {"pml": "ob1"}


@pytest.mark.acceptance("tuning")
@pytest.mark.parametrize("trials", [(), ("--trials", "6")])
def test_messages_are_tuned_from_the_first_launch_to_the_last(
    mpi: Mpi, trials: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("tune", "--p2p", "--mpi", mpi.spec, "--ranks", "2", "--sizes", "8,8Ki,256Ki", *trials)
    done = cli.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tuning = load_tuning(tmp_path / "out")
    assert tuning.messages is not None
    assert tuning.rules == ()
    assert tuning.sizes == (8, 8192, 262144)
    assert tuning.messages.tried >= 5
    assert bool(tuning.messages.settings) != bool(tuning.messages.why)
    assert not tuning.messages.settings or tuning.messages.confirmed
    shown = cli.mpigauge("tune", "show", "out", cwd=tmp_path).stdout
    assert shown.startswith(done.stdout)
    assert ("tuned / default" in shown) == bool(tuning.messages.confirmed)
    assert json.loads((tmp_path / "out" / FILE).read_text())["messages"]["tried"]
    again = cli.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert again.returncode == 2
    assert "holds a tuning already" in again.stderr
