# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rules for ranks on several hosts, where Open MPI's hierarchical collectives come first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from mpigauge.measuring.plan import Plan
from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import Rule
from mpigauge.runs.store import load
from mpigauge.runs.store.tunings import load_tuning
from mpigauge.site.mpi import find
from mpigauge.site.mpi.rule_files import openmpi
from mpigauge.site.mpi.rule_files.candidates import candidates_of, collectives_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS
from tests.e2e.cluster import Cluster, cluster, needs_root
from tests.tuned import build_calls, carried_out_by

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, needs_root]
OUTSIDE, INSIDE = (64, 1023, 4096), (1024, 4095)
FIRST, LAST = 1024, 4095
OF_BOTH = [name for name in collectives_of("openmpi") if name in openmpi.OF_HAN]
"""Collectives that coll_han carries out, and for which rules are written."""
SHARED = {"OMPI_MCA_mpi_yield_when_idle": "1"}
"""Four ranks share two cores here: who waits should let others work."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("tuned"), 2) as made:
        yield made


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    return find("openmpi")


@pytest.fixture(scope="module")
def built(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_calls(mpi, tmp_path_factory.mktemp("calls"))


def where(hosts: Cluster, ppn: int) -> list[str]:
    agent = f"{hosts.agent} -p 50000"
    return ["--mpi", "openmpi", "--hosts", "node[01-02]", "--ppn", str(ppn), "--rsh", agent]


def seen(
    hosts: Cluster,
    built: tuple[Path, Path],
    cwd: Path,
    collective: str,
    settings: Mapping[str, str],
    ranks: int = 4,
) -> dict[int, tuple[str, ...]]:
    program, preloaded = built
    told = [f"--set={name}={value}" for name, value in settings.items()]
    env = [f"--env={name}={value}" for name, value in SHARED.items()]
    words = ["exec", *where(hosts, 2), "--np", str(ranks), *told, *env]
    call = [str(program), collective, *map(str, (*OUTSIDE, *INSIDE))]
    done = hosts.mpigauge(*words, f"--env=LD_PRELOAD={preloaded}", "--", *call, cwd=cwd)
    assert done.returncode == 0, done.stderr
    found = carried_out_by(done.stdout)
    assert set(found) == {*OUTSIDE, *INSIDE}, done.stdout
    return found


def chosen(functions: Sequence[str]) -> str:
    """The first one that does more than choose, as the "dynamic" ones of coll_han. What it calls in
    its turn may be anybody's."""
    return next(name for name in functions if not name.endswith("_dynamic"))


def is_hierarchical(functions: Sequence[str]) -> bool:
    return chosen(functions).startswith("mca_coll_han")


def written(mpi: Mpi, folder: Path, rules: Sequence[Rule]) -> Mapping[str, str]:
    """The settings by which the files for these rules are read."""
    for name, text in RULE_FORMATS[mpi.name].write(mpi, rules).items():
        (folder / name).write_text(text, encoding="utf-8")
    return RULE_FORMATS[mpi.name].settings(folder)


@pytest.mark.parametrize("collective", OF_BOTH)
def test_a_rule_takes_effect_among_hosts_exactly_where_it_says(
    collective: str, mpi: Mpi, hosts: Cluster, built: tuple[Path, Path], tmp_path: Path
) -> None:
    every = [each for each in candidates_of("openmpi") if each.collective == collective]
    rule = Rule(collective, 4, FIRST, LAST, every[0].name, hosts=2)
    settings = written(mpi, tmp_path, [rule])
    found = seen(hosts, built, tmp_path, collective, settings)
    assert all(is_hierarchical(found[size]) for size in OUTSIDE), found
    assert not any(is_hierarchical(found[size]) for size in INSIDE), found
    (own,) = {chosen(found[size]) for size in INSIDE}
    assert own.startswith(f"ompi_coll_base_{collective.lower()}_intra_")
    fewer = seen(hosts, built, tmp_path, collective, settings, ranks=3)
    assert fewer == seen(hosts, built, tmp_path, collective, {}, ranks=3)


def test_without_the_file_of_coll_han_a_rule_has_no_effect_among_hosts(
    mpi: Mpi, hosts: Cluster, built: tuple[Path, Path], tmp_path: Path
) -> None:
    """Which is why there is one."""
    settings = written(mpi, tmp_path, [Rule("Allreduce", 4, FIRST, LAST, "basic_linear")])
    assert not (tmp_path / openmpi.HAN_FILE).exists()
    found = seen(hosts, built, tmp_path, "Allreduce", settings)
    assert all(is_hierarchical(functions) for functions in found.values()), found


@pytest.mark.acceptance("tuning")
def test_a_tuning_on_two_hosts(hosts: Cluster, tmp_path: Path) -> None:
    """A rank on each, from its first launch to the last; it is shown and tried again there."""
    short = ["--launches", "3", "--time", "10s", "--sizes", "8,8Ki", "--output", "out"]
    done = hosts.mpigauge("tune", "Bcast", *where(hosts, 1), *short, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "on 2 hosts, node[01-02], 1 rank on each" in done.stdout
    made = load_tuning(tmp_path / "out")
    assert (made.hosts, made.ppn) == (("node01", "node02"), 1)
    assert all(each.rule.hosts == 2 for each in made.rules)
    grid = load(tmp_path / "out/runs/grid")
    assert {rank.host for rank in grid.ranks} == {"node01", "node02"}
    measured = {cell.arm for cell in grid.cells}
    assert {"", "binomial"} <= measured
    agent = ["--rsh", f"{hosts.agent} -p 50000"]
    again = hosts.mpigauge("tune", "verify", "out", *agent, cwd=tmp_path)
    assert again.returncode in (0, 1), again.stderr


MESSAGES = """
import sys
from pathlib import Path
from mpigauge.products.tune.making import read_task
from mpigauge.products.tune.measure.message_runs import grid_of_run, messages_of, settings_plan
said = {"mpi_spec": "openmpi", "output": Path("out"), "keep_order": False, "sizes": "8,8Ki"}
said |= {"hosts": "node[01-02]", "ppn": "2", "rsh": sys.argv[1]}
task, _ = read_task((), said, mix=None, with_messages=True)
messages = messages_of(task)
arms = {"eager": {"btl_tcp_eager_limit": "8192"}}
run = task.measured("p2p-1", settings_plan(task, messages, arms, 1))
grid = grid_of_run(run, messages, ["eager"])
print(len(grid.sizes), *grid.arms, len(grid.launches))
"""


def test_messages_are_measured_within_a_host_and_between_hosts(
    hosts: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "measure.py").write_text(MESSAGES)
    words = ("exec", "node01", "--", sys.executable, "measure.py", f"{hosts.agent} -p 50000")
    done = hosts.script(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8", "eager", "1"]
    run = load(tmp_path / "out" / "runs" / "p2p-1")
    plan = Plan.from_json(run.plan)
    for launch in run.launches:
        own = {rank.host for rank in run.ranks if rank.launch == launch.launch}
        is_between = plan.part_number(launch.launch) >= len(plan.parts) // 2
        assert own == ({"node01", "node02"} if is_between else {"node01"})
