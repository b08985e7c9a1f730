# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of the kernel: huge pages, page migration, reading a neighbour's memory, scheduling."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check

THP = "sys/kernel/mm/transparent_hugepage"
TWO_COPIES = (
    "messages above some KiB are copied twice: 1.5 to 3 times slower from 64 KiB to 1 MiB, "
    "as we measured on one machine"
)


@check("huge-pages", "whether large buffers get huge pages")
def huge_pages(host: Host) -> Iterator[CheckFinding]:
    chosen = host.machine.transparent_hugepages
    if chosen is None:
        yield unknown("the kernel does not report transparent huge pages")
    elif chosen == "never":
        yield note(
            "transparent huge pages are off",
            "5 to 20 % of the memory bandwidth of large buffers, twice the time of a random access",
            f"`echo madvise | sudo tee /{THP}/enabled`",
        )
    else:
        yield good(chosen)
    if host.files.choice(f"{THP}/defrag") == "always" and chosen != "never":
        yield note(
            "the kernel gathers huge pages at the moment they are asked for",
            "the first touch of a buffer may stall for milliseconds",
            f"`echo madvise | sudo tee /{THP}/defrag`",
        )


@check("numa-balancing", "whether the kernel moves pages between NUMA nodes")
def numa_balancing(host: Host) -> Iterator[CheckFinding]:
    on = host.machine.numa_balancing
    if host.machine.numa_nodes < 2:
        yield good("one NUMA node: nothing to move")
    elif on is None:
        yield unknown("the kernel does not report whether it moves pages")
    elif on:
        yield note(
            "the kernel moves pages to the node that uses them",
            "it unmaps pages to see who uses them: page faults in the middle of a measurement, and "
            "far memory that becomes near",
            "`sudo sysctl kernel.numa_balancing=0`",
        )
    else:
        yield good("off")


@check("single-copy", "whether a rank may read another rank's memory (CMA)")
def single_copy(host: Host) -> Iterator[CheckFinding]:
    scope = (host.files.text("proc/sys/kernel/yama/ptrace_scope") or "").strip()
    tried = host.measured.cross_memory if host.measured else None
    scope_words = f"kernel.yama.ptrace_scope is {scope}" if scope else "Yama is not in this kernel"
    if tried == "open" or (tried is None and scope == "0"):
        yield good(f"it may ({scope_words})")
    elif tried == "asked" or (tried is None and scope == "1"):
        yield note(
            f"allowed only with the peer's consent ({scope_words})",
            f"UCX and Open MPI ask for it; in a library that does not, {TWO_COPIES}",
            "`sudo sysctl kernel.yama.ptrace_scope=0`",
        )
    elif tried == "refused" or scope in ("2", "3"):
        yield bad(
            f"it may not ({scope_words})" + _seccomp(host),
            TWO_COPIES,
            "`sudo sysctl kernel.yama.ptrace_scope=0` (3 requires a reboot); "
            "containers: `--cap-add SYS_PTRACE`",
        )
    else:
        yield unknown(f"it was not tried ({scope_words})")


def _seccomp(host: Host) -> str:
    status = host.files.text("proc/self/status") or ""
    filtered = re.search(r"^Seccomp:\s*2", status, re.MULTILINE)
    if filtered:
        return "; system calls are filtered (seccomp), as in a container"
    return ""


@check("autogroup", "whether priorities count between sessions")
def autogroup(host: Host) -> Iterator[CheckFinding]:
    on = (host.files.text("proc/sys/kernel/sched_autogroup_enabled") or "").strip()
    if on == "1":
        yield note(
            "the scheduler shares CPUs out by session, not by process",
            "nice and renice do not keep other sessions away: one busy process of another session "
            "takes half of a core",
            "`sudo sysctl kernel.sched_autogroup_enabled=0`",
        )
    elif on == "0":
        yield good("priorities count")
    else:
        yield unknown("the kernel does not report whether it groups by session")
