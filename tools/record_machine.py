# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Records the machine we stand on in one text file, for a bug report or for tests/machines.

`python tools/record_machine.py > machine.txt`; have a look at it before you send it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mpigauge.products.doctor.check_finding import Host
from mpigauge.products.doctor.registry import diagnose
from mpigauge.site.topology.files import Files
from mpigauge.site.topology.read import read_files

# Long files of which few lines are used.
KEPT = {
    "proc/cpuinfo": ("model name", "CPU part", "flags", "microcode"),
    "proc/meminfo": ("MemTotal", "MemAvailable"),
    "proc/self/limits": ("Max ",),
    "proc/self/mounts": ("tmpfs /tmp", "tmpfs /dev/shm"),
    "proc/vmstat": ("oom_kill ",),
    "proc/self/status": ("Cpus_allowed_list", "Mems_allowed_list", "Seccomp:"),
    "proc/stat": ("cpu ",),
}


def record(files: Files) -> str:
    diagnose(Host(files, read_files(files), None))
    for path, starts in KEPT.items():
        if path in files.seen:
            files.seen[path] = _only(files.seen[path], starts)
    return files.record()


def _only(text: str, starts: tuple[str, ...]) -> str:
    kept = [line for line in text.splitlines() if line.startswith(starts)]
    return "\n".join(dict.fromkeys(kept))


if __name__ == "__main__":
    sys.stdout.write(record(Files(Path("/"))))
