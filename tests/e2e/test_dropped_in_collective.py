# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A collective for three suites is one short file: the one that CONTRIBUTING.md shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find

if TYPE_CHECKING:
    from pathlib import Path

MOST_LINES = 40
COLLECTIVES = "kernels/suites/collectives"
SUITES_OF_FORMS = {
    ("MPI1", "Scan"),
    ("NBC", "Iscan"),
    ("NBC", "Iscan_pure"),
    ("MPI4", "Scan_persist"),
    ("MPI4", "Scan_persist_pure"),
    ("MPI4", "Scan_persist_init"),
}


@pytest.fixture(scope="session")
def shown(repository: Path) -> str:
    """The file in CONTRIBUTING.md."""
    text = (repository / "CONTRIBUTING.md").read_text()
    section = text.split("## A collective in three suites\n")[1].split("\n## ")[0]
    found = re.search(r"```cpp\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def test_every_collective_is_a_short_file(repository: Path, shown: str) -> None:
    lengths = {path.name: len(path.read_text().splitlines())
               for path in (repository / COLLECTIVES).iterdir()}  # fmt: skip
    assert len(lengths) >= 15
    assert {name: n for name, n in lengths.items() if n >= MOST_LINES} == {}
    assert len(shown.splitlines()) < MOST_LINES


@pytest.mark.mpi
def test_a_dropped_in_file_appears_in_three_suites(
    repository: Path, shown: str, tmp_path: Path
) -> None:
    """Only what writes the cards is built, of a tree that has this collective and no other."""
    include = find("mpich").include
    tree, build = tmp_path / "tree", tmp_path / "build"
    tree.mkdir()
    shutil.copy(repository / "CMakeLists.txt", tree)
    shutil.copytree(
        repository / "kernels", tree / "kernels", ignore=shutil.ignore_patterns("suites")
    )
    dropped = tree / COLLECTIVES / "scan.cpp"
    dropped.parent.mkdir(parents=True)
    dropped.write_text(shown)
    empty = tree / "kernels" / "suites" / "node" / "empty.cpp"  # a part of the build by itself
    empty.parent.mkdir()
    empty.touch()
    configure = ["cmake", "-S", str(tree), "-B", str(build), "-DMPIGAUGE_ABI=mpich",
                 "-DMPIGAUGE_WERROR=ON", f"-DMPIGAUGE_MPI_INCLUDE={include}",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]  # fmt: skip
    make = ["cmake", "--build", str(build), "--target", "write_cards", "--parallel", "2"]
    for words in (configure, make):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    cards = json.loads((build / "cards.json").read_text())["benchmarks"]
    assert {(card["suite"], card["name"]) for card in cards} == SUITES_OF_FORMS
