# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sweeps from plan files with each MPI and its own settings: crashes, hangs, kill -9 and resume."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from mpigauge.measuring.plan import Plan
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from tests import patience
from tests.conftest import MPIS
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi

KNOBS = {
    "mpich": (
        "MPIR_CVAR_CH4_NETMOD",
        {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "recursive_doubling"},
    ),
    "openmpi": ("btl", {"btl_sm_eager_limit": "8192"}),
    "intel": ("I_MPI_SHM_HEAP_VSIZE", {"I_MPI_ADJUST_ALLREDUCE": "1"}),
}
"""One that crashes or hangs the MPI, and one that works."""
WORST = {"mpich": "nothing", "openmpi": "nothing", "intel": "99999999"}
BLOCK = """
[[vary]]
mpi = "{mpi}"
list = [{{ {bad} = "{worst}" }}, {{ {name} = "{value}" }}]
"""


def plan_file(folder: Path, names: list[str], **keys: object) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in ({"mpi": names} | keys).items()]
    for name in names:
        bad, works = KNOBS[name]
        ((knob, value),) = works.items()
        lines.append(BLOCK.format(mpi=name, bad=bad, worst=WORST[name], name=knob, value=value))
    (folder / "plan.toml").write_text("\n".join(lines))


def arm_of(name: str) -> str:
    return " ".join(f"{knob}={value}" for knob, value in KNOBS[name][1].items())


def test_a_setting_that_the_mpi_does_not_survive(mpi: Mpi, built: Kernels, tmp_path: Path) -> None:
    """It is recorded with its reason, and the rest is measured."""
    assert built.executable.exists()
    plan_file(tmp_path, [mpi.name], benchmarks=["Allreduce"], sizes=8, launches=1, timeout="20s")
    done = cli.mpigauge("sweep", "plan.toml", "--output", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    stored = load(tmp_path / "out")
    assert {cell.arm for cell in stored.cells} == {"", arm_of(mpi.name), "control"}
    (failure,) = stored.failures
    assert f"({KNOBS[mpi.name][0]}={WORST[mpi.name]}) failed: " in failure.message
    assert re.search(rf"{WORST[mpi.name]} +failed$", done.stdout, re.M)
    assert f"{WORST[mpi.name]} failed in 1 launch: " in done.stdout
    assert stored.status["status"] == "done"
    assert "UNDECIDED: few launches" in done.stdout
    command = next((tmp_path / "out" / "logs").glob("*.command")).parent
    words = "".join(path.read_text() for path in command.glob("*.command"))
    for knob, value in KNOBS[mpi.name][1].items():
        assert knob in words
        assert value in words


def test_kill_9_of_everything_and_resume(tmp_path: Path) -> None:
    """All MPIs from one plan file; what is complete is not measured again, nothing is lost."""
    plan = {"benchmarks": ["PingPong", "Bcast"], "sizes": [8, 1024], "ranks": 2, "launches": 2,
            "relaunch": True}  # fmt: skip
    plan_file(tmp_path, MPIS, **plan)
    text = (tmp_path / "plan.toml").read_text()
    for name, (bad, _) in KNOBS.items():
        text = text.replace(f'{{ {bad} = "{WORST[name]}" }}, ', "")
    (tmp_path / "plan.toml").write_text(text)
    going = cli.started("sweep", "plan.toml", "--output", "out", cwd=tmp_path)
    folders = {name: tmp_path / "out" / find(name).label.replace(" ", "-") for name in MPIS}

    def complete(folder: Path) -> frozenset[int]:
        return load(folder).complete if (folder / "records.jsonl").exists() else frozenset()

    patience.wait_for(lambda: all(map(complete, folders.values())))
    os.killpg(going.pid, signal.SIGKILL)
    going.communicate()
    before = {name: complete(folder) for name, folder in folders.items()}
    assert any(len(launches) < 6 for launches in before.values())
    done = cli.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name, folder in folders.items():
        stored = load(folder)
        assert stored.status["status"] == "done"
        assert stored.complete == frozenset(range(6))
        made = {outcome["launch"] for outcome in stored.status["launches"]}
        assert made == set(range(6)) - before[name]
        of_arms = Counter(Plan.from_json(stored.plan).part(i).arm for i in stored.complete)
        assert of_arms == {"": 2, arm_of(name): 2, "control": 2}
        assert Counter(cell.launch for cell in stored.cells) == dict.fromkeys(range(6), 4)


SHARED = {
    "mpich": ({}, {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "262144",
                   "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring"}),
    "openmpi": ({"coll_tuned_use_dynamic_rules": 1}, {"coll_tuned_allreduce_algorithm": "4"}),
}  # fmt: skip


@pytest.mark.parametrize("mpi", SHARED, indirect=True)
def test_arms_share_a_launch_where_their_settings_can_be_written(
    mpi: Mpi, built: Kernels, tmp_path: Path
) -> None:
    """One launch has all of them, as many samples each as their precision takes."""
    assert built.executable.exists()
    base, arms = SHARED[mpi.name]
    words = ["sweep", "Allreduce", "PingPong", "--sizes", "8,64Ki", "--ranks", "2"]
    words += ["--mpi", mpi.name, "--launches", "1", "--output", "out"]
    words += [word for name, value in base.items() for word in ("--set", f"{name}={value}")]
    words += [word for name, value in arms.items() for word in ("--vary", f"{name}={value}")]
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all arms share each launch" in done.stderr
    stored = load(tmp_path / "out")
    assert stored.complete == {0}
    arm = " ".join(f"{name}={value}" for name, value in arms.items())
    assert Counter(cell.arm for cell in stored.cells) == {"": 4, arm: 4, "control": 4}
    assert not stored.skips


def test_what_is_read_at_the_start_needs_launches_of_its_own(tmp_path: Path) -> None:
    words = ("--vary", "btl_sm_eager_limit=1024", "--mpi", "openmpi", "--dry-run")
    done = cli.mpigauge("sweep", "PingPong", *words, cwd=tmp_path)
    assert done.returncode == 0
    assert "own: btl_sm_eager_limit is read when MPI starts" in done.stderr


def test_a_setting_that_nobody_knows_is_said_though_it_is_not_varied(tmp_path: Path) -> None:
    words = ("--set", "MPIR_CVAR_CH4_NETMODE=ofi", "--set", "FI_PROVIDER=tcp", "--dry-run")
    done = cli.mpigauge("run", "PingPong", *words, "--mpi", "mpich", cwd=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(
        r"mpigauge: mpich \S+ has no setting MPIR_CVAR_CH4_NETMODE; passed on anyway; "
        r"did you mean 'MPIR_CVAR_CH4_NETMOD'\?\n",
        done.stderr,
    )


def test_a_plan_is_looked_at_before_anything_starts(tmp_path: Path) -> None:
    plan_file(tmp_path, ["mpich"], benchmarks=["Allreduce"], sizes=8, launches=3)
    for what, said in (("check", "mpich .*: 4 arms, nothing is wrong"),
                       ("show", "  MPIR_CVAR_CH4_NETMOD=nothing\n"),
                       ("cost", "12 launches, 4 cells in each round: about ")):  # fmt: skip
        done = cli.mpigauge("plan", what, "plan.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.search(said, done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sweep", "PingPong"), "nothing is varied; add --vary"),
        (("sweep", "--vary", "MPIR_CVAR_CH4_NETMOD=ofi"), "no benchmark is named"),
        (("sweep", "PingPong", "--vary", "MPIR_CVAR_CH4_NETMODE=ofi"),
         "has no setting MPIR_CVAR_CH4_NETMODE; did you mean 'MPIR_CVAR_CH4_NETMOD'"),
        (("sweep", "PingPong", "--vary", "transport=pigeon"), "pigeon"),
        (("sweep", "none.toml"), "cannot read none.toml"),
    ],
)  # fmt: skip
def test_wrong_words_launch_nothing(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = cli.mpigauge(*words, "--mpi", "mpich", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []
