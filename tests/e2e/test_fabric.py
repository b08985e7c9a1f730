# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge fabric` on hosts of network namespaces, whose links have rates and faults of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.result.document import document
from mpigauge.result.fabric.fabric import RANDOM, Fabric, fabric_of
from mpigauge.result.fabric.impact import CONTROL
from mpigauge.runs.store import load
from tests.e2e.cluster import SCRIPT, Cluster, cluster, needs_root, run_script

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.hosts,
    pytest.mark.alone,
    needs_root,
]

HOSTS = 8
ALL = f"node[01-0{HOSTS}]"
RATE_MBIT = 80
"""Two cores saturate all links of this rate at once; on slow guests 160 Mbit/s is beyond them."""
PAYLOAD = 1448 / 1514
"""The share of data in a full frame of TCP over Ethernet, as `tc` counts its bytes."""
SLOW = "node05"
BURST = {"NETNS_CLUSTER_BURST": "32kb"}
"""A short burst: what passes at full speed before a rate holds would be a part of each message."""
OPENMPI = {"mpi_yield_when_idle": "1", "btl_tcp_flags": "1"}
"""Its TCP moves long messages by a put protocol; both directions of an exchange then pass in turn,
at less than half the rate of the link. If it only sends, they pass at the same time."""
MORE_S = {"openmpi": 10}
"""The longer time of runs whose MPI takes some of it to start: Open MPI on eight hosts three times
7 s."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("fabric"), HOSTS) as made:
        yield made


@pytest.fixture
def even(hosts: Cluster) -> Cluster:
    """Hosts whose links are alike."""
    shape(hosts, RATE_MBIT)
    return hosts


def shape(hosts: Cluster, mbit: int, *names: str) -> None:
    done = run_script(SCRIPT, ("shape", f"{mbit}mbit", *names), hosts.env | BURST, None)
    assert done.returncode == 0, done.stderr


def measured(hosts: Cluster, mpi: Mpi, cwd: Path, seconds: int, *words: str) -> Fabric:
    """The network as one run shows it."""
    settings = [f"--set={k}={v}" for k, v in OPENMPI.items() if mpi.name == "openmpi"]
    agent = ("--rsh", f"{hosts.agent} -p 50000")
    call = ("fabric", "--hosts", ALL, *agent, "--mpi", mpi.spec, *settings, "--sizes", "256Ki")
    time = ("--time", f"{seconds + MORE_S.get(mpi.name, 0)}s")
    done = hosts.mpigauge(*call, *time, *words, "--output", "out", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    stored = load(cwd / "out")
    fabric = fabric_of(stored, document(stored).rows)
    assert fabric is not None
    return fabric


def accused(fabric: Fabric) -> set[str]:
    return {host for each in fabric.account.accusations for host in each.hosts}


@pytest.fixture
def ready(mpi: Mpi, built: Kernels) -> Mpi:
    assert built.executable.exists()
    return mpi


def twice(even: Cluster, mpi: Mpi, cwd: Path, seconds: int) -> Iterator[Fabric]:
    """Two runs with different pairs: one in ten may name a host too many, or none."""
    for seed in ("1", "2"):
        folder = cwd / seed
        folder.mkdir()
        yield measured(even, mpi, folder, seconds, "--seed", seed)


def test_one_host_at_half_rate_is_named(ready: Mpi, even: Cluster, tmp_path: Path) -> None:
    shape(even, RATE_MBIT // 2, SLOW)
    assert any(accused(fabric) == {SLOW} for fabric in twice(even, ready, tmp_path, 15))


def test_without_a_fault_nothing_is_named(ready: Mpi, even: Cluster, tmp_path: Path) -> None:
    fabrics = (fabric for fabric in twice(even, ready, tmp_path, 20) if not accused(fabric))
    fabric = next(fabrics, None)
    assert fabric is not None
    pairing = fabric.pairing(RANDOM)
    assert pairing is not None
    assert pairing.share is not None
    assert len(fabric.hot_spots) == 2
    assert CONTROL in {each.aggressor for each in fabric.impacts}


def test_an_odd_number_of_hosts_and_two_ranks_on_each(even: Cluster, tmp_path: Path) -> None:
    """A host rests in each round; ranks of a pair of hosts count together."""
    settings = [f"--set={k}={v}" for k, v in OPENMPI.items()]
    where = ("--hosts", "node[01-03]", "--ppn", "2", "--rsh", f"{even.agent} -p 50000")
    words = ("fabric", *where, *settings, "--sizes", "16Ki", "--time", "15s", "--mpi", "openmpi")
    done = even.mpigauge(*words, "--oversubscribe", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    fabric = fabric_of(stored, document(stored).rows)
    assert fabric is not None
    assert (fabric.lanes, len(fabric.hosts)) == (2, 3)
    pairing = fabric.pairing(RANDOM)
    assert pairing is not None
    assert {len(each.together) for each in pairing.compared} == {1}
    assert not fabric.impacts


@pytest.mark.acceptance("many-ranks")
def test_512_ranks_on_eight_hosts(even: Cluster, tmp_path: Path) -> None:
    """64 ranks of MPICH share two cores and the network of their host. UCX connects all of them at
    the start, and gives up; libfabric connects those that communicate."""
    where = ("--hosts", ALL, "--ppn", "64", "--rsh", f"{even.agent} -p 50000", "--oversubscribe")
    mpi = ("--mpi", "mpich", "--set", "MPIR_CVAR_CH4_NETMOD=ofi")
    words = ("fabric", *where, *mpi, "--sizes", "1Ki", "--time", "60s")
    done = even.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    assert {rank.rank for rank in stored.ranks} == set(range(512))
    fabric = fabric_of(stored, document(stored).rows)
    assert fabric is not None
    assert (fabric.lanes, len(fabric.hosts)) == (64, HOSTS)
    assert fabric.pairings or fabric.bursts


# The full matrix


def half_rate(hosts: Cluster) -> set[str]:
    shape(hosts, RATE_MBIT // 2, SLOW)
    return {SLOW}


def lossy_pair(hosts: Cluster) -> set[str]:
    """Drops one in 33 packets of one pair; the kernel here has no netem. Long messages are slower
    by a tenth, which is no fault; short ones stall."""
    drop = ("-s", "node02", "-m", "statistic", "--mode", "random", "--probability", "0.03")
    words = ("exec", "node06", "--", "iptables", "-A", "INPUT", *drop, "-j", "DROP")
    done = hosts.script(*words)
    assert done.returncode == 0, f"iptables cannot drop packets here: {done.stderr}"
    return {"node02", "node06"}


def narrow_link(hosts: Cluster) -> set[str]:
    """Two groups of hosts, with half the rate of a host between them."""
    names = [f"node{number:02}" for number in range(1, HOSTS + 1)]
    rate = f"{RATE_MBIT // 2}mbit"
    done = run_script(SCRIPT, ("divide", rate, *names[HOSTS // 2 :]), hosts.env | BURST, None)
    assert done.returncode == 0, done.stderr
    return set(names)


def nothing(_: Cluster) -> set[str]:
    return set()


def mend(hosts: Cluster) -> None:
    shape(hosts, RATE_MBIT)
    hosts.script("divide", "off")
    hosts.script("exec", "node06", "--", "iptables", "-F", "INPUT")


@pytest.mark.acceptance("fabric")
@pytest.mark.parametrize(
    ("plant", "runs", "right"), [(half_rate, 10, 9), (lossy_pair, 10, 9), (nothing, 20, 18)]
)
def test_faults_are_named_and_nothing_else(
    ready: Mpi,
    even: Cluster,
    tmp_path: Path,
    plant: Callable[[Cluster], set[str]],
    runs: int,
    right: int,
) -> None:
    wanted = plant(even)
    good, shares, contain_one = 0, [], []
    try:
        for number in range(runs):
            folder = tmp_path / str(number)
            folder.mkdir()
            fabric = measured(even, ready, folder, 30, "--seed", str(number + 1))
            good += accused(fabric) == wanted
            controls = [each.median for each in fabric.impacts if each.aggressor == CONTROL]
            contain_one += [each.low <= 1 <= each.high for each in controls if each.low > 0]
            pairing = fabric.pairing(RANDOM)
            assert pairing is not None
            assert pairing.total is not None
            allowed = PAYLOAD * HOSTS * RATE_MBIT * 1e6 / 8
            shares.append(pairing.total.value / allowed)
    finally:
        mend(even)
    assert good >= right, f"{good} of {runs} named {wanted or 'nothing'}"
    if not wanted:
        assert len(contain_one) >= runs, "most runs have too few visits for intervals"
        assert sum(contain_one) >= 0.9 * len(contain_one), contain_one
        assert sum(abs(share - 1) < 0.1 for share in shares) >= right, shares


@pytest.mark.acceptance("fabric")
def test_groups_behind_a_narrow_link_are_measured_and_named(
    ready: Mpi, even: Cluster, tmp_path: Path
) -> None:
    """Without a file of groups, in the usual minute: the bandwidths of pairs alone show them."""
    wanted = narrow_link(even)
    good, runs = 0, 10
    try:
        for number in range(runs):
            folder = tmp_path / str(number)
            folder.mkdir()
            words = ("--groups", "measured", "--seed", str(number + 1))
            fabric = measured(even, ready, folder, 60, *words)
            first, second = fabric.groups[: HOSTS // 2], fabric.groups[HOSTS // 2 :]
            are_found = len(set(first)) == len(set(second)) == 1 and first[0] != second[0]
            kinds = {each.kind for each in fabric.account.accusations}
            is_link = bool(kinds) and kinds <= {"groups", "uplink", "crossing"}
            good += are_found and is_link and accused(fabric) <= wanted
    finally:
        mend(even)
    assert good >= 9, f"{good} of {runs}"
