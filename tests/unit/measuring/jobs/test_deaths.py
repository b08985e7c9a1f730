# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cause of a rank's death: named on evidence, and found by a check of doctor."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.measuring.jobs import deaths
from mpigauge.measuring.jobs.deaths import CAUSES, Death, cause_by_status, cause_of
from mpigauge.measuring.jobs.reasons import signal_of
from mpigauge.products.doctor.registry import CHECKS
from mpigauge.site.topology.conditions import Conditions, read_conditions
from mpigauge.site.topology.files import Files, Room

GIB = 1 << 30
HEALTHY = Conditions(
    shm=Room(8 * GIB, 8 * GIB),
    temporary=Room(8 * GIB, 8 * GIB),
    memory_limit=4 * GIB,
    memory_peak=GIB,
    group_oom_kills=2,
    host_oom_kills=5,
    process_limit=1000,
    limits={"stack size": 8 << 20, "open files": 1024, "processes": 4096, "locked memory": 8 << 20},
)
SMALL_SHM = replace(HEALTHY, shm=Room(64 << 20, 60 << 20))
NO_MEMORY = "mmap: Cannot allocate memory"
FULL = "write: No space left on device"


def limited(**limits: int) -> Conditions:
    named = {name.replace("_", " "): value for name, value in limits.items()}
    return replace(HEALTHY, limits={**HEALTHY.limits, **named})


CASES: dict[str, list[tuple[int, str, Conditions, str]]] = {
    "shared_memory": [
        (signal.SIGBUS, "", SMALL_SHM, "/dev/shm is too small for the shared memory of the ranks"),
        (0, "not enough space for /dev/shm/sm_segment.vm", SMALL_SHM, "60.0 MiB free of 64.0 MiB"),
        (0, "error allocating shared memory", SMALL_SHM, "60.0 MiB free of 64.0 MiB"),
        (signal.SIGBUS, "", replace(HEALTHY, shm=Room(GIB, 1 << 20)), "1.0 MiB free of 1.0 GiB"),
    ],
    "memory_of_group": [
        (signal.SIGKILL, "", replace(HEALTHY, group_oom_kills=3), "more memory than the 4.0 GiB"),
        (signal.SIGKILL, "", replace(HEALTHY, memory_peak=4 * GIB), "more memory than the 4.0 GiB"),
    ],
    "memory_of_host": [
        (signal.SIGKILL, "", replace(HEALTHY, host_oom_kills=6), "memory of the machine ran out"),
    ],
    "processor_time": [(signal.SIGXCPU, "", limited(cpu_time=60), "may use 60 s of CPU time")],
    "size_of_files": [
        (signal.SIGXFSZ, "", limited(file_size=1 << 20), "may write files of 1.0 MiB"),
        (0, "write: File too large", limited(file_size=1 << 20), "may write files of 1.0 MiB"),
    ],
    "stack": [(signal.SIGSEGV, "", limited(stack_size=65536), "stack of a process may have 64.0")],
    "instructions": [(signal.SIGILL, "", HEALTHY, "instructions that this CPU does not have")],
    "filtered_calls": [
        (signal.SIGSYS, "", replace(HEALTHY, seccomp=True), "refuses a system call of the rank"),
    ],
    "open_files": [
        (0, "pipe error (Too many open files)", HEALTHY, "may have 1024 open files"),
        (13, "Downstream ended", limited(open_files=14), "may have 14 open files"),
    ],
    "processes": [
        (0, "fork: Resource temporarily unavailable", HEALTHY, "1000 processes and threads"),
        (0, "pthread_create failed", limited(processes=20), "there may be 20 processes"),
    ],
    "locked_memory": [(0, "ibv_reg_mr failed", HEALTHY, "may lock 8.0 MiB for the network card")],
    "address_space": [(0, NO_MEMORY, limited(address_space=1 << 20), "1.0 MiB of memory (ulimit")],
    "refused_memory": [(0, "std::bad_alloc", HEALTHY, "allows 4.0 GiB of memory")],
    "full_shared_memory": [
        (0, FULL, replace(HEALTHY, shm=Room(GIB, 0)), "/dev/shm is full, it has 0 B free"),
    ],
    "full_temporary_folder": [
        (0, FULL, replace(HEALTHY, temporary=Room(GIB, 0)), "temporary files is full"),
    ],
    "no_execution": [
        (0, "failed to map segment", replace(HEALTHY, no_exec=True), "may be executed in the"),
    ],
    "memory_of_others": [
        (0, "process_vm_readv: Operation not permitted", HEALTHY, "may not read the memory"),
    ],
    "ports": [(0, "mlx5_0: no active ports found", HEALTHY, "no port of the network card is up")],
    "no_transport": [
        (0, "OFI fi_getinfo() failed: no data", HEALTHY, "finds no network that it can use"),
        (0, "PML ucx cannot be selected", HEALTHY, "finds no network that it can use"),
    ],
    "forbidden_cores": [
        (0, "sched_setaffinity: Invalid argument", HEALTHY, "bound to a core that this process"),
    ],
    "waited_too_long": [
        (0, "it was silent for 300 s", replace(HEALTHY, cpu_quota=0.5), "2 ranks share 0.5 CPUs"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_named_with_its_check(name: str) -> None:
    (cause,) = [each for each in CAUSES if each.look.__name__ == name]
    for number, words, after, sentence in CASES[name]:
        found = cause_of(Death(number, words, 2, HEALTHY, after))
        assert sentence in found
        assert found.endswith(f"(`mpigauge doctor {cause.check}`)")


def test_every_cause_is_tried_and_has_a_check() -> None:
    assert {cause.look.__name__ for cause in CAUSES} == set(CASES)
    assert {cause.check for cause in CAUSES} <= set(CHECKS)


@pytest.mark.parametrize("number", [0, *sorted(set(signal.Signals) - {signal.SIGILL})])
def test_nothing_is_named_without_evidence(number: int) -> None:
    for words in ("", "a program of the user failed\nexit status 3"):
        assert cause_of(Death(number, words, 2, HEALTHY, HEALTHY)) == ""
        unknown = replace(HEALTHY, shm=None, memory_limit=None, group_oom_kills=None, limits={})
        assert cause_of(Death(number, words, 2, Conditions(), unknown)) == ""
        filled_before = replace(HEALTHY, memory_peak=4 * GIB)
        assert cause_of(Death(number, words, 2, filled_before, filled_before)) == ""


@pytest.mark.parametrize(
    ("status", "lines", "number"),
    [
        (9, ["exited on", "signal 9 (Killed)."], 9),
        (255, ["KILLED BY SIGNAL: 7 (Bus error)"], 7),
        (14, ["[vm:1] Signal: Segmentation fault (11)", "[vm:1] Signal code: Address (1)"], 11),
        (14, ["[vm:1] Signal code: Address not mapped (1)"], 0),
        (-11, [], 11),
        (135, [], 7),
        (1, [], 0),
        (0, [], 0),
        (255, [], 0),
    ],
)
def test_the_signal_of_a_job(status: int, lines: list[str], number: int) -> None:
    assert signal_of(status, lines) == number


@pytest.mark.parametrize(
    ("status", "is_named"), [(135, True), (7, True), (0, False), (1, False), (134, False)]
)
def test_the_cause_by_an_exit_status(
    status: int, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deaths, "conditions", lambda: SMALL_SHM)
    assert bool(cause_by_status(status, HEALTHY)) is is_named


LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              60                   unlimited            seconds
Max file size             unlimited            unlimited            bytes
Max stack size            8388608              unlimited            bytes
Max open files            1024                 524288               files
"""


@pytest.mark.parametrize("version", [1, 2])
def test_conditions_are_read(tmp_path: Path, version: int) -> None:
    group = "sys/fs/cgroup" if version == 2 else "sys/fs/cgroup/memory"
    pids = "sys/fs/cgroup" if version == 2 else "sys/fs/cgroup/pids"
    names = {
        2: ("memory.max", "memory.peak", "memory.events", "low 0\noom_kill 3\n"),
        1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
    }[version]  # fmt: skip
    for path, text in {
        "proc/self/cgroup": "0::/job\n" if version == 2 else "4:memory:/job\n8:pids:/job\n",
        "proc/self/limits": LIMITS,
        "proc/self/status": "Name:\tx\nSeccomp:\t2\n",
        "proc/self/mounts": "a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw,noexec 0 0\n",
        "proc/vmstat": "nr_free 1\noom_kill 7\n",
        f"{group}/job/{names[0]}": "1048576\n",
        f"{group}/job/{names[1]}": "1048000\n",
        f"{group}/job/{names[2]}": names[3],
        f"{pids}/job/pids.max": "99\n",
        "dev/shm/.room": "64 32",
        "tmp/me/.room": "16 8",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert read_conditions(Files(tmp_path), "tmp/me") == Conditions(
        shm=Room(64, 32),
        temporary=Room(16, 8),
        no_exec=True,
        memory_limit=1048576,
        memory_peak=1048000,
        group_oom_kills=3,
        host_oom_kills=7,
        process_limit=99,
        seccomp=True,
        limits={"cpu time": 60, "stack size": 8388608, "open files": 1024},
    )


def test_conditions_of_nothing(tmp_path: Path) -> None:
    assert read_conditions(Files(tmp_path), "tmp") == Conditions()


def test_conditions_of_this_machine() -> None:
    assert deaths.conditions().temporary is not None
