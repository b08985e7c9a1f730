# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Looks into a built wheel: how large each part is, and with which systems it runs.

Exit status: 0 it is as it should be, 1 it is not, 2 it is not there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

MOST_BYTES = 12_000_000
OLDEST = (2, 28)
"""The newest glibc that a wheel may require."""
_TAG = re.compile(r"manylinux_(\d+)_(\d+)_\w+")


def main(arguments: list[str]) -> int:
    folder, machine = arguments
    wheels = sorted(Path(folder).glob(f"mpigauge-*_{machine}.whl"), key=lambda p: p.stat().st_mtime)
    if not wheels:
        print(f"check_wheel: {folder} has no wheel for {machine}", file=sys.stderr)
        return 2
    wheel = wheels[-1]
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB")
    for part, size in sorted(parts(wheel).items(), key=lambda item: -item[1]):
        print(f"  {size / 1e6:6.2f} MB  {part}")
    report = audited(wheel)
    print(report)
    problems = [*wrong(wheel, report)]
    for problem in problems:
        print(f"check_wheel: {problem}", file=sys.stderr)
    return 1 if problems else 0


def parts(wheel: Path) -> Counter[str]:
    """Compressed bytes by folder; each library that is compiled by itself."""
    sizes: Counter[str] = Counter()
    with ZipFile(wheel) as archive:
        for entry in archive.infolist():
            names = entry.filename.split("/")
            deep = 2
            if names[1:2] == ["_shipped"]:
                deep = 3 if names[2] == "programs" else 4
            sizes["/".join(names[1:deep])] += entry.compress_size
    return sizes


def audited(wheel: Path) -> str:
    words = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


def wrong(wheel: Path, report: str) -> Iterator[str]:
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        yield f"{wheel.name} has {size} bytes, more than {MOST_BYTES}"
    tag = _TAG.search(wheel.name)
    seen = _TAG.search(report)
    if not tag or not seen:
        yield f"{wheel.name}: auditwheel finds no glibc that it runs with: {report}"
        return
    asked, needed = (tuple(map(int, match.groups())) for match in (tag, seen))
    if needed > asked:
        yield f"{wheel.name} needs {seen[0]}, and says {tag[0]}"
    if needed > OLDEST:
        yield f"{wheel.name} needs {seen[0]}, which is newer than RHEL 8"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
