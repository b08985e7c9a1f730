# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""MPIs that are only as real as a test needs: a library of a few lines, a launcher that talks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile, ZipInfo

MPICH_SAYS = "MPICH Version:      5.0.2"
HYDRA = "#!/bin/sh\necho 'HYDRA build details:'\n"
PRTE = "#!/bin/sh\necho 'mpiexec (Open MPI) 5.0.11'\n"
HEADER = "#define MPICH_NAME 4\n"
OMPI_HEADER = "#define OMPI_MAJOR_VERSION 5\n"

SOURCE = """
#include <cstring>
#include <unistd.h>
extern "C" int MPI_Get_library_version(char* text, int* length) {{
  {body}
  std::strcpy(text, "{says}");
  *length = static_cast<int>(std::strlen(text));
  return 0;
}}
extern "C" int MPI_Get_version(int* major, int* minor) {{ *major = 4; *minor = 1; return 0; }}
{more}
"""


def library(path: Path, says: str = MPICH_SAYS, body: str = "", more: str = "") -> Path:
    """A libmpi that answers what it is told to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_suffix(".cpp")
    source.write_text(SOURCE.format(says=says, body=body, more=more))
    compiler = shutil.which("g++") or "c++"
    words = [compiler, "-shared", "-fPIC", "-o", str(path), str(source)]
    subprocess.run(words, check=True)
    source.unlink()
    return path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def mpich(prefix: Path, says: str = MPICH_SAYS, body: str = "") -> Path:
    """A prefix with a launcher, a library and headers."""
    program(prefix / "bin" / "mpiexec", HYDRA)
    library(prefix / "lib" / "libmpi.so.12", says, body)
    (prefix / "include").mkdir()
    (prefix / "include" / "mpi.h").write_text(HEADER)
    return prefix


def openmpi(prefix: Path) -> Path:
    program(prefix / "bin" / "mpiexec", PRTE)
    library(
        prefix / "lib64" / "libmpi.so.40",
        "Open MPI v5.0.11, package: x",
        more='extern "C" { int ompi_mpi_comm_world; }',
    )
    (prefix / "include").mkdir()
    (prefix / "include" / "mpi.h").write_text(OMPI_HEADER)
    return prefix


def wheel(folder: Path, package: str, version: str, content: Path) -> Path:
    """A wheel whose data files are what is below `content`."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{package.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for file in sorted(content.rglob("*")):
            if file.is_file():
                entry = ZipInfo(f"{stem}.data/data/{file.relative_to(content)}")
                entry.external_attr = file.stat().st_mode << 16
                archive.writestr(entry, file.read_bytes())
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        archive.writestr(f"{stem}.dist-info/METADATA", metadata)
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
        archive.writestr(f"{stem}.dist-info/WHEEL", tags)
        archive.writestr(f"{stem}.dist-info/RECORD", "")
    return path
