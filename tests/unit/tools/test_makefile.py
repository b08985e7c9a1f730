# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What make does again after a change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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
    (tmp_path / "tools").mkdir()
    shutil.copy(repository / "tools" / "tidy.py", tmp_path / "tools")
    files = ("one", "other")
    commands = [
        {
            "directory": str(tmp_path),
            "file": str(tmp_path / f"kernels/{name}.cpp"),
            "command": f"g++ -I{tmp_path}/kernels -o {name}.o -c {tmp_path}/kernels/{name}.cpp",
        }
        for name in files
    ]
    sources = {
        "kernels/one.cpp": '#include "core/a.hpp"\n',
        "kernels/other.cpp": '#include "core/b.hpp"\n',
        "kernels/core/a.hpp": '#include "core/deep.hpp"\n',
        "kernels/core/b.hpp": "",
        "kernels/core/deep.hpp": "",
        ".clang-tidy": "",
        "build/lint/compile_commands.json": json.dumps(commands),
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (1000, 1000))
    fake.program(tmp_path / ".venv" / "bin" / "clang-tidy", TIDY)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    log = tmp_path / "tidied"

    def looked_at() -> set[str]:
        log.write_text("")
        env = os.environ | {
            "TIDIED": str(log),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MPIGAUGE_CACHE": str(tmp_path / "cache"),
        }
        subprocess.run(["make", "cpp-lint"], cwd=tmp_path, env=env, check=True)
        return set(log.read_text().split())

    assert looked_at() == {"kernels/one.cpp", "kernels/other.cpp"}
    assert looked_at() == set()
    (tmp_path / "kernels" / "core" / "deep.hpp").write_text("int deep;\n")
    assert looked_at() == {"kernels/one.cpp"}
    (tmp_path / "kernels" / "core" / "b.hpp").unlink()
    (tmp_path / "kernels" / "other.cpp").write_text("int other;\n")
    assert looked_at() == {"kernels/other.cpp"}
