# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Machines as recorded, and what is concluded from them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.cpu_lists import parse_list, parse_size
from mpigauge.model.machine import Machine
from mpigauge.model.mpi import Mpi
from mpigauge.site import topology
from mpigauge.site.topology.files import Files, Recorded
from mpigauge.site.topology.passport import relevant
from mpigauge.site.topology.read import read_files

MACHINES = Path(__file__).resolve().parents[3] / "machines"
NAMES = sorted(path.stem for path in MACHINES.glob("*.txt"))
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def machine(name: str) -> Machine:
    return topology.read(MACHINES / f"{name}.txt")


def spread(name: str, root: Path) -> Path:
    """The recorded files as real ones below a folder."""
    for path, text in Recorded((MACHINES / f"{name}.txt").read_text()).files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n")
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_record_and_the_files_it_was_made_of_say_the_same(name: str, tmp_path: Path) -> None:
    files = Files(spread(name, tmp_path))
    assert read_files(files) == machine(name)
    assert read_files(Recorded(files.record())) == machine(name)


@pytest.mark.parametrize("name", NAMES)
def test_chosen_cores_are_allowed_and_no_core_comes_twice(name: str) -> None:
    it = machine(name)
    chosen = topology.cores_to_use(it)
    assert len(chosen) == it.cores
    assert set(chosen) <= it.allowed
    assert len({pu.core for pu in it.pus if pu.number in chosen}) == it.cores
    assert topology.cores_to_use(it, 1) == chosen[:1]


def test_microcode_and_drivers_are_told_where_the_machine_tells_them() -> None:
    card = "sys/class/net/ib0/device/uevent\tDRIVER=mlx5_core\n"
    said = "proc/cpuinfo\tmodel name\\t: A CPU\\nmicrocode\\t: 0xd0003b9\n"
    other = "sys/class/net/eth0/device/uevent\tDRIVER=e1000e\n"
    versions = "sys/module/mlx5_core/version\t24.10-1.1.4\nsys/module/mlx5_core/srcversion\tABCD\n"
    built = "sys/module/e1000e/srcversion\t0E2F\n"
    it = read_files(Recorded(said + card + other + versions + built))
    assert it.microcode == "0xd0003b9"
    assert it.drivers == ("e1000e 0E2F", "mlx5_core 24.10-1.1.4")
    assert read_files(Recorded(said + card)).drivers == ("mlx5_core",)
    assert machine("epyc-7302-two-sockets").microcode == ""


def test_two_sockets() -> None:
    it = machine("epyc-7302-two-sockets")
    assert (len(it.pus), it.cores, it.packages, it.numa_nodes) == (64, 32, 2, 2)
    assert it.threads_per_core == 2
    assert it.turbo is True
    assert topology.cores_to_use(it, 17)[-1] == 16
    assert it.cpu_quota is None


def test_the_share_of_shared_caches_counts() -> None:
    it = machine("epyc-7302-two-sockets")
    private = 32 * KIB + 512 * KIB
    assert topology.cold_bytes(it, 1) == private + 16 * MIB
    assert topology.cold_bytes(it, 2) == private + 8 * MIB
    assert topology.cold_bytes(it, 64) == private // 2 + 4 * MIB


def test_a_machine_without_cache_information() -> None:
    it = machine("arm-rk3399-big-little")
    assert it.caches == ()
    assert topology.cold_bytes(it, 2) == 64 * MIB
    assert it.cpu_model == "Pine64 RockPro64, Cortex-A53 + Cortex-A72"
    assert [pu.capacity for pu in it.pus] == [485] * 4 + [1024] * 2


def test_a_container_is_limited_three_times() -> None:
    it = machine("container-cgroup-v2")
    assert it.cores == 8
    assert it.cpu_quota == pytest.approx(2.5)
    assert it.memory_limit_bytes == 4 * GIB
    assert it.memory_bytes == 4 * GIB


def test_a_limit_above_the_own_group_counts() -> None:
    it = machine("vm-one-core-cgroup-v1")
    assert it.cpu_quota == pytest.approx(0.5)
    assert it.memory_limit_bytes is None
    assert it.steal_ratio == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("arm-rk3399-big-little", ["different speed", "ondemand", "does not report its caches"]),
        ("container-cgroup-v2", ["8 of 16 CPUs", "2.5 CPUs' worth of time on 8 cores", "4 GiB"]),
        ("epyc-7302-two-sockets", ["SMT is on"]),
        ("laptop-i7-8550u-smt", ["SMT is on", "powersave", "the load is 2.9 on 8 CPUs"]),
        (
            "vm-one-core-cgroup-v1",
            ["only one core", "0.5 CPUs' worth of time on 1 core:", "load", "5.0%", "kvm-clock"],
        ),
    ],
)
def test_remarks_say_what_is_suspicious_and_nothing_else(name: str, words: list[str]) -> None:
    said = topology.remarks(machine(name))
    assert len(said) == len(words), said
    for sentence, word in zip(said, words, strict=True):
        assert word in sentence


def test_a_good_machine_gives_no_remarks() -> None:
    assert topology.remarks(replace(machine("vm-epyc-2-cores"), load=(0.0, 0.0, 0.0))) == []


def test_this_machine_can_be_read() -> None:
    it = topology.read()
    assert it.usable
    assert it.memory_bytes > 0
    assert topology.cold_bytes(it, 2) > 0


def test_an_empty_root_gives_an_empty_machine(tmp_path: Path) -> None:
    it = topology.read(tmp_path)
    assert it.pus == ()
    assert topology.cores_to_use(it, 2) == ()
    assert it.load == (0.0, 0.0, 0.0)


def test_lists_and_sizes() -> None:
    assert parse_list("0-3,8, 10-11".replace(" ", "")) == {0, 1, 2, 3, 8, 10, 11}
    assert parse_list("") == set()
    assert [parse_size(text) for text in ("32K", "16M", "7", "")] == [32 * KIB, 16 * MIB, 7, 0]


def test_secrets_stay_out_of_the_passport() -> None:
    environment = {"UCX_TLS": "sm", "SLURM_JWT_TOKEN": "x", "HOME": "/h", "PATH": "/bin"}
    assert relevant(environment) == {"PATH": "/bin", "UCX_TLS": "sm"}


def test_the_passport_is_json(tmp_path: Path) -> None:
    library = tmp_path / "libmpi.so.12"
    library.write_bytes(b"\x7fELF")
    mpi = Mpi(
        name="mpich",
        version="5",
        standard="5.0",
        library=library,
        library_string="MPICH",
        abi="mpich",
        launcher="hydra",
        mpiexec=tmp_path / "mpiexec",
        prefix=tmp_path,
        include=None,
        env={},
        found="here",
    )
    passport = json.loads(json.dumps(topology.passport(mpi, machine("container-cgroup-v2"))))
    assert passport["machine"]["allowed"] == [0, 1, 2, 3, 8, 9, 10, 11]
    assert passport["mpi"]["library"] == str(library)
    assert passport["libraries"][0]["bytes"] == 4
    assert passport["mpi"]["include"] is None
    assert len(passport["remarks"]) == 3


def test_the_only_numa_node_has_all_the_memory_of_the_machine() -> None:
    """In a virtual machine, the node's own file lacked the memory that was plugged in later."""
    (name,) = [name for name in NAMES if len(machine(name).numa) == 1][:1]
    record = (MACHINES / f"{name}.txt").read_text()
    files = Recorded(record)
    files.files["sys/devices/system/node/node0/meminfo"] = "Node 0 MemTotal:  6647280 kB"
    files.files["proc/meminfo"] = "MemTotal:       131981020 kB"
    (node,) = read_files(files).numa
    assert node.bytes == 131981020 * KIB
