# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A collective for three suites is one short file: the one that CONTRIBUTING.md shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.site.builds import folders
from mpigauge.site.builds.folder import compiled
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import build_spec

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.site.builds.folder import BuildSpec

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
    lengths = {
        path.name: len(path.read_text().splitlines())
        for path in (repository / COLLECTIVES).iterdir()
        if path.stem != "collective"
    }  # which all of them share
    assert len(lengths) >= 15
    assert {name: n for name, n in lengths.items() if n >= MOST_LINES} == {}
    assert len(shown.splitlines()) < MOST_LINES


@pytest.mark.mpi
def test_a_dropped_in_file_appears_in_three_suites(shown: str, tmp_path: Path) -> None:
    """Where the kernels were compiled, only this one file more has to be."""
    needed = build_spec(find("mpich"))
    before = cards_of(needed, tmp_path)
    assert not before & SUITES_OF_FORMS
    dropped = {f"{COLLECTIVES}/scan.cpp": shown.encode()}
    assert not dropped.keys() & needed.sources.keys()
    after = cards_of(replace(needed, sources=needed.sources | dropped), tmp_path)
    assert after - before == SUITES_OF_FORMS
    log = (tmp_path / "log").read_text()
    assert log.count("Building CXX object") == 1
    assert "warning:" not in log


def cards_of(needed: BuildSpec, folder: Path) -> set[tuple[str, str]]:
    """Suites and names of all benchmarks that these sources make."""
    with compiled(needed, folders.cache() / "kernels" / "build", folder / "log") as built:
        cards = json.loads(built.cards.read_text())["benchmarks"]
    return {(card["suite"], card["name"]) for card in cards}
