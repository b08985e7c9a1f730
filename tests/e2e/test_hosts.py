# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several hosts over real TCP, with every installed MPI; and hosts that fail."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import Run, load
from mpigauge.site.mpi.make import headers
from mpigauge.site.topology import read
from mpigauge.site.topology.levels import Levels
from tests import patience
from tests.e2e import commands as cli
from tests.e2e.cluster import Cluster, cluster, needs_root

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, needs_root]

KIND = {"mpi_yield_when_idle": "1"}
"""Four hosts share two cores here: who waits should let others work. Only Open MPI has a way."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four hosts, one core each."""
    with cluster(tmp_path_factory.mktemp("hosts"), 4, "--pin") as made:
        yield made


def run(
    hosts: Cluster, mpi: Mpi, cwd: Path, where: str, *words: str
) -> tuple[Run, subprocess.CompletedProcess[str]]:
    kind = [f"--set={k}={v}" for k, v in KIND.items() if mpi.launcher == "openmpi"]
    agent = ("--rsh", f"{hosts.agent} -p 50000")
    call = ("run", *words, "--hosts", where, *agent, *kind, "--launches", "1", "--mpi", mpi.spec)
    done = hosts.mpigauge(*call, "--output", "out", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return load(cwd / "out"), done


@pytest.fixture
def ready(mpi: Mpi, built: Kernels) -> Mpi:
    assert built.executable.exists()
    return mpi


def test_two_hosts(ready: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    """Ranks sit on different hosts, and what they send goes through the wire."""
    before = hosts.sent_bytes("node01")
    words = ("PingPong", "Allreduce", "--sizes", "256Ki", "--env", "X_Y=1 2")
    stored, done = run(hosts, ready, tmp_path, "node[01-02]", *words)
    assert {rank.rank: rank.host for rank in stored.ranks} == {0: "node01", 1: "node02"}
    assert {cell.benchmark for cell in stored.cells} == {"PingPong", "Allreduce"}
    calls = sum(cell.samples * cell.calls for cell in stored.cells)
    assert calls > 0
    assert hosts.sent_bytes("node01") - before > 256 * 1024 * calls
    assert "2 hosts: node[01-02]" in done.stdout
    told = {"openmpi": "tcp between hosts", "intel": "provider tcp", "mpich": "netmod ucx"}
    assert stored.used.startswith(told[ready.name])
    assert f" · over {stored.used} · " in " ".join(done.stdout.split())
    known = stored.passport["hosts"]
    assert [host["machine"]["hostname"] for host in known] == ["node01", "node02"]
    assert all(host["mpi"] == ready.library_string for host in known)


def test_a_program_on_two_hosts_is_profiled(mpi: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    """Its ranks find the profiler on each host, and what they left comes together."""
    (tmp_path / "app.c").write_text(PROGRAM)
    words = ["gcc", "-g", "-isystem", str(headers(mpi)), "app.c", "-o", "app", str(mpi.library)]
    subprocess.run(words, cwd=tmp_path, check=True)
    kind = [f"--set={k}={v}" for k, v in KIND.items() if mpi.launcher == "openmpi"]
    where = ("--hosts", "node[01-02]", "--rsh", f"{hosts.agent} -p 50000", "--np", "2")
    call = ("profile", "--mpi", mpi.spec, *where, *kind, "--output", "out")
    done = hosts.mpigauge(*call, "--", str(tmp_path / "app"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 ranks seen" in done.stderr
    (job,) = load_jobs(tmp_path / "out")
    assert [file.host for file in job.ranks] == ["node01", "node02"]
    assert [(p.source, p.target, p.bytes) for p in Account(job).pairs] == [(0, 1, 800)]


PROGRAM = """
#include <mpi.h>
int main(int count, char** words) {
  int rank;
  double data[10] = {0};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int n = 0; n < 10; n++) {
    if (rank == 0) MPI_Send(data, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(data, 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
"""


def test_four_hosts(ready: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    """All four are in the collective; a pair needs two of them."""
    words = ("PingPong", "Allreduce", "--ranks", "4", "--sizes", "1Ki", *cli.ROUGH)
    stored, _ = run(hosts, ready, tmp_path, "node[01-04]", *words)
    assert [rank.host for rank in sorted(stored.ranks, key=lambda rank: rank.rank)] == [
        f"node0{number}" for number in range(1, 5)
    ]
    assert {cell.ranks for cell in stored.cells if cell.benchmark == "Allreduce"} == {4}


def test_a_map_of_hosts(hosts: Cluster, tmp_path: Path) -> None:
    """Every two of them, through the wire; and a picture. With the MPI whose waiting ranks leave
    the core to others."""
    kind = [f"--set={k}={v}" for k, v in KIND.items()]
    agent = ("--rsh", f"{hosts.agent} -p 50000")
    where = ("--hosts", "node[01-04]", "--ppn", "1", *agent, *kind, "--mpi", "openmpi")
    words = ("map", "--sizes", "8", *cli.ROUGH, "--draw", "map.svg", "--output", "out")
    done = hosts.mpigauge(*words, *where, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pairs = {cell.members for cell in load(tmp_path / "out").cells}
    assert pairs == {f"{a},{b}" for a in range(4) for b in range(a + 1, 4)}
    assert re.search(r"different hosts +[\d.]+ µs .* 6 pairs", done.stdout)
    assert (tmp_path / "map.svg").read_text().count("<title>node0") == 12


def test_each_host_at_once_and_alone(hosts: Cluster, tmp_path: Path) -> None:
    """Both in a launch of their own; the rows of the first are of single hosts."""
    kind = [f"--set={k}={v}" for k, v in KIND.items()]
    where = ("--hosts", "node[01-02]", "--rsh", f"{hosts.agent} -p 50000", "--mpi", "openmpi")
    words = ("node", "--sizes", "64Ki", *cli.ROUGH, "--output", "out")
    done = hosts.mpigauge(*words, *where, *kind, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    triads = [cell for cell in stored.cells if cell.benchmark == "Triad_tuned"]
    assert sorted((cell.launch, cell.group, cell.arm) for cell in triads) == [
        (0, 0, ""), (0, 1, ""), (1, 0, "host=node01"), (2, 0, "host=node02")
    ]  # fmt: skip
    assert "2 hosts, 1 rank on each: at once / alone" in done.stdout
    assert re.search(r"^node02 +[\d.]+ / [\d.]+ ", done.stdout, re.MULTILINE)
    assert "UNDECIDED whether a host is slow: 2 do not show the usual value" in done.stdout
    assert {each.rank for each in stored.noise if each.when == "measured"} == {0, 1}


def test_hosts_examine_themselves(hosts: Cluster, tmp_path: Path) -> None:
    """What is the same everywhere stands there once; a host that does not answer is named."""
    agent = ("--rsh", f"{hosts.agent} -p 50000")
    where = ("doctor", "smt", "noise", "--noise", "0.2", "--hosts")
    told = hosts.mpigauge(*where, "node[01-02]", *agent, "--json", cwd=tmp_path)
    assert told.returncode in (0, 1), told.stderr
    said = json.loads(told.stdout)
    assert [each["host"] for each in said.values()] == list(said) == ["node01", "node02"]
    assert all(len(each["noise"]) == 1 for each in said.values())
    shown = hosts.mpigauge(*where, "node[01-02]", *agent, cwd=tmp_path)
    assert shown.stdout.startswith("2 hosts: node[01-02]\n")
    assert shown.stdout.count(" smt ") == 1
    down = hosts.mpigauge(*where, "node[01-02],nobody", *agent, cwd=tmp_path)
    assert down.returncode == 2
    assert "host nobody could not examine itself" in down.stderr


def test_how_hosts_are_built(hosts: Cluster, tmp_path: Path) -> None:
    """The same machine everywhere, but each host may use one core only."""
    where = ("topo", "--hosts", "node[01-04]", "--rsh", f"{hosts.agent} -p 50000")
    told = hosts.mpigauge(*where, "--json", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    machines = json.loads(told.stdout)
    assert [each["hostname"] for each in machines.values()] == list(machines)
    assert list(machines) == [f"node0{number}" for number in range(1, 5)]
    assert all(len(each["allowed"]) == 1 for each in machines.values())
    shown = hosts.mpigauge(*where, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    cores = {tuple(each["allowed"]) for each in machines.values()}
    assert shown.stdout.count("so no pair of ranks can be placed") == len(cores)
    assert shown.stdout.count("built otherwise than") == len(cores) - 1


def test_hostfile(ready: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    """More ranks on one host than on the other, and both on their cores."""
    (tmp_path / "hosts.txt").write_text("# ours\nnode02 slots=2\nnode01:1\n")
    words = ("Barrier", "--hostfile", "hosts.txt", "--oversubscribe", *cli.ROUGH)
    call = ("run", *words, "--rsh", str(hosts.agent), "--launches", "1", "--mpi", ready.spec)
    done = hosts.mpigauge(*call, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ranks = load(tmp_path / "out").ranks
    assert {rank.rank: rank.host for rank in ranks} == {0: "node02", 1: "node02", 2: "node01"}


# --- placements -------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two hosts that have all cores, the same ones."""
    with cluster(tmp_path_factory.mktemp("wide"), 2) as made:
        yield made


def test_a_pair_on_one_host_and_on_two(ready: Mpi, wide: Cluster, tmp_path: Path) -> None:
    """One run measures both; each row says what it is."""
    near = next(iter(Levels.of(read()).shared()))
    words = ("PingPong", "--sizes", "8", "--place", f"{near},hosts", *cli.ROUGH)
    stored, done = run(wide, ready, tmp_path, "node[01-02]", *words)
    assert len(stored.launches) == 1
    of = {rank.rank: rank.host for rank in stored.ranks}
    hosts = {c.placement: [of[int(rank)] for rank in c.members.split(",")] for c in stored.cells}
    assert hosts == {near: ["node01", "node01"], "hosts": ["node01", "node02"]}
    assert f"· {near} placement ·" in done.stdout
    assert "· hosts placement ·" in done.stdout


def test_ranks_on_hosts_in_turn(ready: Mpi, wide: Cluster, tmp_path: Path) -> None:
    words = ("Barrier", "--place", "hosts", "--np", "4", *cli.ROUGH)
    stored, _ = run(wide, ready, tmp_path, "node[01-02]", *words)
    seats = {rank.rank: (rank.host, rank.local_rank) for rank in stored.ranks}
    assert seats == {0: ("node01", 0), 1: ("node02", 0), 2: ("node01", 1), 3: ("node02", 1)}


def test_the_launcher_binds(ready: Mpi, wide: Cluster, tmp_path: Path) -> None:
    """Local rank 0 of each host on the second core, local rank 1 on the first."""
    one, other = sorted(os.sched_getaffinity(0))[:2]
    where = ("--place", f"cores:{other},{one}", "--bind-by", "launcher")
    stored, _ = run(wide, ready, tmp_path, "node[01-02]", "Barrier", *where, *cli.ROUGH)
    seats = {rank.rank: (rank.host, rank.cpuset) for rank in stored.ranks}
    assert seats == {
        number: (f"node0{number // 2 + 1}", str([other, one][number % 2])) for number in range(4)
    }


# --- wrong input: nothing is launched ---------------------------------------------------------
@pytest.fixture(scope="module")
def mpich(repository: Path) -> str:
    del repository
    return "mpich"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--hosts", "node01,node09"], "host node09 does not answer: netns-cluster: host"),
        (["--hosts", "node[01-02]", "--np", "3"], "3 ranks are more than the 2 slots of the hosts"),
        (["--hosts", "node01,node[01-02]"], "host node01 is named twice"),
        (["--hosts", "node01,localhost"], "are the same machine, node01"),
        (["--hosts", "node01,node[02"], "--hosts, column 12: this '[' has no partner"),
        (["--hosts", "node[01-02]", "--bind-by", "launcher"], "takes one list of cores for all"),
        (["--ppn", "2"], "--ppn means ranks on each host; name hosts"),
    ],
)
def test_bad_input(
    mpich: str, hosts: Cluster, tmp_path: Path, words: list[str], sentence: str
) -> None:
    call = ("run", "PingPong", *words, "--rsh", str(hosts.agent), "--mpi", mpich)
    done = hosts.mpigauge(*call, "--output", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in cli.last_line(done.stderr)
    assert not (tmp_path / "out").exists()


def test_a_run_folder_that_hosts_do_not_share(mpich: str, hosts: Cluster) -> None:
    """Each host has a folder of its own there."""
    local = hosts.state / "local"
    call = ("run", "PingPong", "--hosts", "node[01-02]", "--rsh", str(hosts.agent), "--mpi", mpich)
    done = hosts.mpigauge(*call, "--output", f"{local}/out", cwd=hosts.state)
    assert done.returncode == 2
    assert f"host node02 does not see {local}, in which the run is to be stored" in done.stderr


def test_hosts_with_another_topology(mpich: str, hosts: Cluster, tmp_path: Path) -> None:
    """It is said, stored, and measured all the same."""
    other = hosts.agent.with_name("other-cpu")
    told = r"sed 's/model name[^:]*: [^\\]*/model name: Other CPU/g'"
    other.write_text(hosts.agent.read_text().replace("exec ", "").strip() + f" | {told}\n")
    other.chmod(0o755)
    words = ("--hosts", "node[01-02]", "--rsh", str(other), "--mpi", mpich)
    call = ("run", "PingPong", "--sizes", "0", "--launches", "1", *words)
    done = hosts.mpigauge(*call, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sentence = "host node02 differs from node01: CPU Other CPU instead of "
    assert sentence in done.stderr
    assert any(sentence in remark for remark in load(tmp_path / "out").passport["remarks"])


# --- faults -----------------------------------------------------------------------------------
def started(hosts: Cluster, cwd: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        hosts.words("node01", *words, "--output", "out"),
        cwd=cwd,
        env={**os.environ, **hosts.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_second_launch(folder: Path) -> None:
    patience.wait_for((folder / "logs" / "launch-001.command").exists)
    patience.wait_for(lambda: [rank for rank in load(folder).ranks if rank.launch == 1])


def test_a_host_that_dies(ready: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    """What was measured is kept, the reason is said, and resume goes on."""
    agent = ("--rsh", str(hosts.agent), "--mpi", ready.spec)
    words = (
        "run",
        "PingPong",
        "--sizes",
        "0..64Ki",
        "--launches",
        "3",
        *("--time", "12s"),  # all of it is used, so that a rank is killed before its launch is over
        "--hosts",
        "node[01-02]",
        *agent,
    )
    process = started(hosts, tmp_path, *words, "--timeout", "20s")
    folder = tmp_path / "out"
    wait_for_second_launch(folder)
    for rank in load(folder).ranks:
        if (rank.launch, rank.host) == (1, "node02") and not cli.is_gone(rank.pid):
            os.kill(rank.pid, signal.SIGKILL)
    _, errors = patience.communicate(process)
    stored = load(folder)
    assert 0 in stored.complete
    if 1 in stored.complete:
        pytest.fail("the launch ended before its host died; make it longer")
    assert process.returncode == 1, errors
    assert "launch 1 failed: " in cli.last_line(errors)
    done = hosts.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(folder).complete >= {0, 1, 2}
    assert json.loads((folder / "status.json").read_text())["status"] == "done"


def test_a_host_that_falls_silent(mpich: str, hosts: Cluster, tmp_path: Path) -> None:
    """Nobody tells that its network is gone: --timeout ends the launch, after more time than MPI
    takes to start on a busy machine. When it is back, resume goes on."""
    where = ("--hosts", "node[01-02]", "--rsh", str(hosts.agent), "--mpi", mpich)
    what = ("run", "PingPong", "--sizes", "0..64Ki", "--launches", "2", "--timeout", "10s")
    long = ("--time", "12s")  # all of it is used, so that the network is cut before it is over
    process = started(hosts, tmp_path, *what, *long, *where)
    folder = tmp_path / "out"
    wait_for_second_launch(folder)
    cut = hosts.script("exec", "node02", "--", "ip", "link", "set", "eth0", "down")
    try:
        _, errors = patience.communicate(process)
    finally:
        hosts.script("exec", "node02", "--", "ip", "link", "set", "eth0", "up")
    stored = load(folder)
    assert (cut.returncode, process.returncode) == (0, 1), errors
    assert stored.complete == {0}
    assert "launch 1 failed: it was silent for 10 s and was ended (--timeout)" in errors
    patience.wait_for(lambda: all(cli.is_gone(rank.pid) for rank in stored.ranks))
    done = hosts.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(folder).complete == {0, 1}
