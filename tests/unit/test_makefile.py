# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What make does again after a change."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from tests import mpi_fakes as fake

if TYPE_CHECKING:
    from pathlib import Path

TIDY = """#!/bin/sh
for word; do case "$word" in *.cpp) echo "$word" >>"$TIDIED" ;; esac; done
"""


def test_clang_tidy_looks_again_at_what_includes_a_changed_header(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copy(repository / "Makefile", tmp_path)
    sources = {
        "kernels/one.cpp": '#include "core/a.hpp"\n',
        "kernels/other.cpp": '#include "core/b.hpp"\n',
        "kernels/core/a.hpp": '#include "core/deep.hpp"\n',
        "kernels/core/b.hpp": "",
        "kernels/core/deep.hpp": "",
        ".clang-tidy": "",
        "build/lint/CMakeCache.txt": "MPIGAUGE_MPI_INCLUDE:PATH=/usr/include\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (1000, 1000))
    fake.program(tmp_path / ".venv" / "bin" / "clang-tidy", TIDY)
    log = tmp_path / "tidied"

    def looked_at() -> set[str]:
        log.write_text("")
        env = os.environ | {"TIDIED": str(log)}
        subprocess.run(["make", "cpp-lint"], cwd=tmp_path, env=env, check=True)
        return set(log.read_text().split())

    assert looked_at() == {"kernels/one.cpp", "kernels/other.cpp"}
    assert looked_at() == set()
    os.utime(tmp_path / "kernels" / "core" / "deep.hpp")
    assert looked_at() == {"kernels/one.cpp"}
    (tmp_path / "kernels" / "core" / "b.hpp").unlink()
    (tmp_path / "kernels" / "other.cpp").write_text("")
    assert looked_at() == {"kernels/other.cpp"}
