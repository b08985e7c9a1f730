# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of control groups, version 1 and 2. A limit applies at any level up the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list

if TYPE_CHECKING:
    from mpigauge.site.topology.files import Files

ROOT = "sys/fs/cgroup"
NO_LIMIT = 1 << 60
"""Limits from this value on stand for "no limit" in version 1."""


def cpu_quota(files: Files) -> float | None:
    """Returns the CPU quota, in CPUs; None: no limit."""
    quotas = [_quota_2(files, folder) for folder in _folders(files, "")]
    quotas += [_quota_1(files, folder) for folder in _folders(files, "cpu")]
    return min((quota for quota in quotas if quota is not None), default=None)


def memory_limit(files: Files) -> int | None:
    limits = [_bytes(files, f"{folder}/memory.max") for folder in _folders(files, "")]
    limits += [
        _bytes(files, f"{folder}/memory.limit_in_bytes") for folder in _folders(files, "memory")
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def memory_peak(files: Files) -> int | None:
    """Returns the peak memory use of the group in bytes; None: not recorded."""
    names = [("", "memory.peak"), ("memory", "memory.max_usage_in_bytes")]
    peaks = [_bytes(files, f"{f}/{name}") for group, name in names for f in _folders(files, group)]
    return next((peak for peak in peaks if peak is not None), None)


def oom_kills(files: Files) -> int | None:
    """Returns the number of OOM kills in the group; None: not recorded."""
    counts: list[int] = []
    for controller, name in (("", "memory.events"), ("memory", "memory.oom_control")):
        for folder in _folders(files, controller):
            text = files.text(f"{folder}/{name}") or ""
            counts += [int(count) for count in re.findall(r"^oom_kill (\d+)", text, re.MULTILINE)]
    return max(counts, default=None)


def process_limit(files: Files) -> int | None:
    """Returns the limit on processes and threads of the group; None: no limit."""
    limits = [_bytes(files, f"{folder}/pids.max") for folder in _folders(files, "")]
    limits += [_bytes(files, f"{folder}/pids.max") for folder in _folders(files, "pids")]
    return min((limit for limit in limits if limit is not None), default=None)


def cpuset(files: Files) -> frozenset[int] | None:
    """Returns the PUs of the group's cpuset; None if it has none or does not list them."""
    names = [("", "cpuset.cpus.effective")]
    names += [("cpuset", name) for name in ("cpuset.effective_cpus", "cpuset.cpus")]
    for controller, name in names:
        for folder in _folders(files, controller):
            if text := (files.text(f"{folder}/{name}") or "").strip():
                return frozenset(parse_list(text))
    return None


def _folders(files: Files, controller: str) -> Iterator[str]:
    """Yields the group's folder and all above it; a container may see only the upper ones."""
    for line in (files.text("proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            mount = f"{ROOT}/{controllers}" if controllers else ROOT
            parts = [part for part in path.split("/") if part not in ("", "..")]
            for depth in range(len(parts), -1, -1):
                yield "/".join([mount, *parts[:depth]])


def _quota_2(files: Files, folder: str) -> float | None:
    words = (files.text(f"{folder}/cpu.max") or "").split()
    if len(words) != 2 or words[0] == "max":
        return None
    return int(words[0]) / int(words[1])


def _quota_1(files: Files, folder: str) -> float | None:
    quota = files.text(f"{folder}/cpu.cfs_quota_us") or "-1"
    period = files.text(f"{folder}/cpu.cfs_period_us") or "100000"
    if int(quota) > 0:
        return int(quota) / int(period)
    return None


def _bytes(files: Files, path: str) -> int | None:
    text = (files.text(path) or "").strip()
    if text.isdigit() and int(text) < NO_LIMIT:
        return int(text)
    return None
