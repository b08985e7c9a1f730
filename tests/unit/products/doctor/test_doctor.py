# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The doctor: recorded machines and what is wrong with them, and the few things it measures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.products.doctor.check_finding import (
    CheckFinding,
    CoreNoise,
    CrossMemory,
    Host,
    Measurements,
    MpiOffers,
    MpiStart,
    State,
)
from mpigauge.products.doctor.measure import DETOUR_S, measure
from mpigauge.products.doctor.registry import CHECKS, check, diagnose
from mpigauge.products.doctor.show import page, pages, summary
from mpigauge.site.mpi.transports.choose import transports
from mpigauge.site.topology import built
from mpigauge.site.topology.files import Files, Recorded
from mpigauge.site.topology.read import read_files
from tests.unit.site.mpi.test_transports import mpi, offered
from tests.unit.site.topology.test_topology import MACHINES, NAMES, spread
from tools.record_machine import record

EXPECTED: dict[str, dict[State, set[str]]] = {
    "arm-rk3399-big-little": {"bad": set(), "note": {"governor", "huge-pages", "speed"}},
    "container-cgroup-v2": {
        "bad": {"quota", "shared-memory"},
        "note": {"autogroup", "cpuset", "memory", "numa-balancing", "single-copy"},
    },
    "epyc-7302-two-sockets": {"bad": {"locked-memory"}, "note": {"numa-balancing", "smt"}},
    "laptop-i7-8550u-smt": {
        "bad": set(),
        "note": {"autogroup", "governor", "load", "single-copy", "smt"},
    },
    "skylake-slurm-step": {
        "bad": {"binding", "network-cards"},
        "note": {"cpuset", "memory", "network-cards", "turbo"},
    },
    "vm-epyc-2-cores": {"bad": set(), "note": {"autogroup", "load", "virtual"}},
    "vm-h200": {"bad": set(), "note": {"autogroup", "virtual"}},
    "xeon-6426y-4-gpus": {"bad": {"gpus"}, "note": set()},
    "vm-one-core-cgroup-v1": {
        "bad": {"quota", "single-copy", "virtual"},
        "note": {"clock", "huge-pages", "load"},
    },
}


def host(name: str, measured: Measurements | None = None) -> Host:
    files = Recorded((MACHINES / f"{name}.txt").read_text(encoding="utf-8"))
    return Host(files, read_files(files), measured)


def changed(name: str, **files: str | None) -> Host:
    """The machine with other files, named without their folders; None removes one."""
    it = Recorded((MACHINES / f"{name}.txt").read_text(encoding="utf-8"))
    for last, text in files.items():
        found = [path for path in it.files if path.rpartition("/")[2] == last]
        assert found, last
        for path in found:
            if text is None:
                del it.files[path]
            else:
                it.files[path] = text
    return Host(it, read_files(it), None)


def only(host: Host, name: str) -> CheckFinding:
    (finding,) = diagnose(host, [name])
    return finding


def named(findings: tuple[CheckFinding, ...], state: State) -> set[str]:
    return {finding.check for finding in findings if finding.state == state}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_with_each_machine(name: str) -> None:
    findings = diagnose(host(name))
    assert {state: named(findings, state) for state in EXPECTED[name]} == EXPECTED[name]
    assert {finding.check for finding in findings} == set(CHECKS)
    for finding in findings:
        expensive = finding.state in ("bad", "note")
        assert finding.found
        assert bool(finding.costs) == bool(finding.mend) == expensive, finding


@pytest.mark.parametrize("name", NAMES)
def test_files_and_their_record_give_the_same_diagnosis(name: str, tmp_path: Path) -> None:
    files = Files(spread(name, tmp_path))
    once = diagnose(Host(files, read_files(files), None))
    assert once == diagnose(host(name))
    again = Recorded(record(Files(tmp_path)))
    assert diagnose(Host(again, read_files(again), None)) == once


def test_nothing_to_read_is_unknown_and_never_wrong(tmp_path: Path) -> None:
    files = Files(tmp_path)
    findings = diagnose(Host(files, read_files(files), None))
    assert named(findings, "bad") == named(findings, "note") == set()
    readable = {"numa-balancing"}  # without NUMA nodes there is nothing to move
    assert named(findings, "unknown") == set(CHECKS) - readable


def test_the_words_of_a_finding() -> None:
    quota = only(host("container-cgroup-v2"), "quota")
    assert quota.found == "the control group allows 2.5 CPUs' worth of time on 8 cores"
    assert quota.mend.startswith("measure on 2 cores, or raise the limit: `--cpus 8`")
    binding = only(host("skylake-slurm-step"), "binding")
    assert binding.found == "this shell is bound to 1 of 10 CPUs: 3"
    assert "`taskset -p -c 0-9 $$`" in binding.mend
    shm = only(host("container-cgroup-v2"), "shared-memory")
    assert "64.0 MiB free" in shm.found
    assert "--shm-size 256m" in shm.mend
    card, port = diagnose(host("epyc-7302-two-sockets"), ["network-cards"])
    assert card.found == "mlx5_0 sits at NUMA node 1; near are CPU 16-31,48-63"
    assert port.found == "port 1 of mlx5_0 is active, 100 Gb/sec (4X EDR)"


@pytest.mark.parametrize(
    ("name", "files", "check_name", "state"),
    [
        ("laptop-i7-8550u-smt", {"scaling_governor": "performance"}, "governor", "good"),
        ("laptop-i7-8550u-smt", {"no_turbo": "1"}, "turbo", "note"),
        ("laptop-i7-8550u-smt", {"ptrace_scope": "0"}, "single-copy", "good"),
        ("laptop-i7-8550u-smt", {"ptrace_scope": None}, "single-copy", "unknown"),
        ("laptop-i7-8550u-smt", {"loadavg": "0.1 0.1 0.1 1/2 3"}, "load", "good"),
        ("epyc-7302-two-sockets", {"current_clocksource": "hpet"}, "clock", "bad"),
        ("epyc-7302-two-sockets", {"numa_balancing": "0"}, "numa-balancing", "good"),
        ("epyc-7302-two-sockets", {"numa_balancing": None}, "numa-balancing", "unknown"),
        ("container-cgroup-v2", {"cpu.max": "max 100000"}, "quota", "good"),
        ("container-cgroup-v2", {"cpu.max": "1600000 100000"}, "quota", "good"),
        ("container-cgroup-v2", {"memory.max": "max"}, "memory", "good"),
        ("container-cgroup-v2", {"cpuset.cpus.effective": "0-15"}, "cpuset", "good"),
        ("container-cgroup-v2", {"cpuset.cpus.effective": "0-15"}, "binding", "note"),
        ("container-cgroup-v2", {".room": f"{1 << 30} {1 << 30}"}, "shared-memory", "good"),
        ("vm-epyc-2-cores", {"limits": ""}, "locked-memory", "unknown"),
    ],
)
def test_one_thing_changed(
    name: str, files: dict[str, str | None], check_name: str, state: State
) -> None:
    assert only(changed(name, **files), check_name).state == state


def test_a_filter_of_system_calls_is_named() -> None:
    refused = Measurements((), "refused")
    found = only(host("container-cgroup-v2", refused), "single-copy")
    assert found.state == "bad"
    assert "seccomp" in found.found
    assert "seccomp" not in only(host("laptop-i7-8550u-smt", refused), "single-copy").found


@pytest.mark.parametrize(("tried", "state"), [("open", "good"), ("asked", "note")])
def test_what_was_tried_counts_more_than_what_is_set(tried: CrossMemory, state: State) -> None:
    tiny = host("vm-one-core-cgroup-v1", Measurements((), tried))
    assert only(tiny, "single-copy").state == state


def test_segments_that_were_left_behind(tmp_path: Path) -> None:
    files = Files(spread("laptop-i7-8550u-smt", tmp_path))
    for number in range(15):
        (tmp_path / "dev/shm" / f"mpich_shm_{number}_0").touch()
    (tmp_path / "dev/shm" / "pulse-shm-1").touch()
    it = Host(files, read_files(files), None)
    assert only(it, "shared-memory").state == "good"
    (tmp_path / "dev/shm" / "sm_segment.node.0.1").touch()
    left, _ = diagnose(it, ["shared-memory"])
    assert (left.state, left.found) == ("note", "16 segments of MPI jobs are in /dev/shm")


# --- start-up -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("usual_s", "quick_s", "state", "found"),
    [
        (1.12, 0.13, "note", "two ranks of openmpi 5.0.11 run 1.12 s, and 130 ms without btl/ofi"),
        (0.15, 0.13, "good", "two ranks of openmpi 5.0.11 run 150 ms"),
        (0.07, None, "good", "two ranks of openmpi 5.0.11 start, exchange a message and end"),
    ],
)
def test_a_needless_wait_at_the_start(
    usual_s: float, quick_s: float | None, state: str, found: str
) -> None:
    it = replace(host("vm-epyc-2-cores"), start=MpiStart("openmpi 5.0.11", usual_s, quick_s))
    finding = only(it, "start-up")
    assert finding.state == state
    assert finding.found.startswith(found)
    assert ("990 ms of each launch" in finding.costs) == (state == "note")
    assert only(replace(it, start=None), "start-up").state == "unknown"


# --- transports -----------------------------------------------------------------------------
def asked(machine: str, wires: str, of: str = "openmpi", version: str = "5.0") -> CheckFinding:
    """What is said of the cards of one record and an MPI that finds what is in another."""
    offers = offered(wires)
    label, found = f"{of} {version}", transports(mpi(of, version), offers)
    it = host(machine)
    return only(Host(it.files, it.machine, None, MpiOffers(label, found, offers)), "transports")


def test_a_card_that_the_mpi_can_use() -> None:
    found = asked("epyc-7302-two-sockets", "rome-infiniband", version="4.1.5")
    assert found.state == "good"
    assert found.found.startswith("openmpi 4.1.5 has shm, tcp, tcp:bond0,")
    assert "ucx:mlx5_0:1" in found.found
    assert asked("skylake-slurm-step", "skylake-omnipath").state == "good"


def test_a_card_that_the_mpi_cannot_use() -> None:
    found = asked("epyc-7302-two-sockets", "vm-no-card")
    assert (found.state, found.found) == ("bad", "openmpi 5.0 has nothing that uses mlx5_0")
    assert asked("skylake-slurm-step", "rome-infiniband").state == "bad"
    # UCX finds the card, but Intel MPI reaches UCX only through a provider that is not there.
    assert asked("epyc-7302-two-sockets", "power9-two-cards", of="mpich").state == "good"
    assert asked("epyc-7302-two-sockets", "power9-two-cards", of="intel").state == "bad"


@pytest.mark.parametrize(
    ("machine", "wires", "cards"),
    [
        ("epyc-rome-2s-nps4", "rome-infiniband", ["mlx5_0"]),
        ("power9-2s-smt4", "power9-two-cards", ["mlx5_0", "mlx5_3"]),
        ("skylake-2s-snc-off", "skylake-omnipath", ["hfi1_0"]),
        ("arm-raspberry-pi-4", "laptop-no-network", []),
        ("vm-epyc-2-cores", "vm-no-card", []),
    ],
)
def test_topology_and_transports_name_the_same_cards(
    machine: str, wires: str, cards: list[str]
) -> None:
    """What hwloc calls a card is what UCX and libfabric take, on each of the shapes."""
    devices = built(MACHINES / f"{machine}.xml").devices
    assert [device.name for device in devices if device.fabric] == cards
    offers = offered(wires)
    named = {
        lane.device.partition(":")[0] for lane in offers.ucx_network if lane.transport != "tcp"
    }
    named |= {each.domain for each in offers.providers if each.name.startswith("psm")}
    assert sorted(named) == cards


def test_a_machine_without_a_fabric_needs_none() -> None:
    assert asked("laptop-i7-8550u-smt", "laptop-no-network").state == "good"


# --- noise --------------------------------------------------------------------------------
QUIET = CoreNoise(0, seconds=1.0, detours=10, lost_s=0.0005, longest_s=1e-4, switched_out=0)
TICKS = CoreNoise(1, seconds=1.0, detours=500, lost_s=0.012, longest_s=2e-3, switched_out=0)
TAKEN = CoreNoise(2, seconds=1.0, detours=250, lost_s=0.67, longest_s=2e-2, switched_out=60)


def noise(name: str, *cores: CoreNoise) -> CheckFinding:
    return only(host(name, Measurements(cores, "open")), "noise")


def test_noise_is_judged_by_the_worst_core() -> None:
    assert noise("vm-epyc-2-cores", QUIET).state == "good"
    ticks = noise("vm-epyc-2-cores", QUIET, TICKS)
    assert ticks.state == "note"
    assert ticks.found == (
        "1.2 % of CPU 1, the worst of 2: 500 detours a second, the longest 2.00 ms"
    )
    # 510 a second on both together: 1 - exp(-510 · 20 µs) = 1.0 %
    assert ticks.costs.startswith("in 1.0 % of the calls that take 20.0 µs on 2 cores")
    assert "virtual machine" in ticks.mend
    assert "nohz_full" in noise("laptop-i7-8550u-smt", TICKS).mend
    taken = noise("laptop-i7-8550u-smt", TICKS, TAKEN)
    assert taken.state == "bad"
    assert taken.costs == "other programs took the core: a rank there has 33 % of it"


def test_what_could_not_be_measured_is_said() -> None:
    measured = Measurements((), None, ("a measurement failed: no",))
    said = diagnose(host("vm-epyc-2-cores", measured), ["noise"])
    assert [finding.found for finding in said] == ["a measurement failed: no", "not measured"]


def test_this_machine_is_measured() -> None:
    files = Files(Path("/"))
    machine = read_files(files)
    measured = measure(machine, 0.05)
    assert measured.problems == ()
    assert len(measured.noise) == machine.cores
    assert {core.pu for core in measured.noise} <= machine.allowed
    for core in measured.noise:
        assert core.seconds >= 0.05
        assert core.detours * DETOUR_S <= core.lost_s <= core.seconds
        assert (core.longest_s > DETOUR_S) == (core.detours > 0)
    assert measured.cross_memory in ("open", "asked", "refused")
    assert measure(machine, 0).noise == ()


def test_a_core_that_is_not_there_is_a_problem_not_a_crash() -> None:
    it = read_files(Files(Path("/")))
    far = frozenset({99999})
    pus = (replace(it.pus[0], number=99999),)
    measured = measure(replace(it, pus=pus, allowed=far, caches=(), numa=()), 0.01)
    assert measured.noise == ()
    assert measured.problems[0].startswith("a measurement failed: OSError")


# --- the registry and the command -----------------------------------------------------------
def test_a_name_cannot_be_taken_twice() -> None:
    def look(_: Host) -> Iterator[CheckFinding]:
        yield from ()

    assert CHECKS
    with pytest.raises(RuntimeError, match="two checks are named 'noise'"):
        check("noise", "something else")(look)


def test_an_unknown_check() -> None:
    with pytest.raises(UserError, match="no check 'governer'; did you mean 'governor'"):
        diagnose(host("vm-epyc-2-cores"), ["governer"])


def test_the_page() -> None:
    it = host("vm-one-core-cgroup-v1")
    text = page(it, diagnose(it, ["virtual", "numa-balancing", "turbo"]), 70)
    assert text == [
        "tiny · Intel Xeon Processor (Skylake, IBRS)",
        "",
        "BAD   virtual         the hypervisor has given 5.0 % of the CPU time",
        "                      to others",
        "                      costs ranks stand still for milliseconds without",
        "                            a trace in this machine",
        "                      fix   a host of its own, or a type of machine",
        "                            whose CPUs are not shared",
        "?     turbo           whether turbo is on cannot be read",
        "good  numa-balancing  one NUMA node: nothing to move",
        "",
        "1 bad, 1 unknown, 1 good",
    ]
    assert summary([]) == ""


def test_the_page_of_several_hosts() -> None:
    """What is alike stands there once, and what is not says whose it is; the worst first."""
    fine, slow = (
        CheckFinding("good", "tsc", check="clock"),
        CheckFinding("bad", "hpet", check="clock"),
    )
    none = CheckFinding("good", "none", check="quota")
    text = pages({"a01": [none, fine], "a02": [slow, none], "a03": [none, fine]}, 70)
    assert text == [
        "3 hosts: a[01-03]",
        "",
        "BAD   clock  hpet",
        "             on    a02",
        "good  quota  none",
        "good  clock  tsc",
        "             on    a[01,03]",
        "",
        "a[01,03]: 2 good",
        "a02: 1 bad, 1 good",
    ]


@pytest.mark.parametrize(("name", "status"), [("vm-epyc-2-cores", 0), ("container-cgroup-v2", 1)])
def test_the_exit_status(name: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--from", str(MACHINES / f"{name}.txt")]) == status
    assert "good" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "quota", "clock", "--json"]) in (0, 1)
    said = json.loads(capsys.readouterr().out)
    assert {finding["check"] for finding in said["findings"]} == {"quota", "clock"}
    assert said["worst"] == said["findings"][0]["state"]
    assert said["noise"] == []


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(CHECKS)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "No such file"), ("hello", "not a record of a machine; make one")]
)
def test_a_file_that_is_no_record(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "file").write_text(content)
    assert run(["doctor", "--from", str(tmp_path / "file")]) == 2
    assert words in capsys.readouterr().err
