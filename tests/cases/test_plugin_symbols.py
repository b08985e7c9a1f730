# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the kernels need of a library: one build must run on every MPI of an ABI."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cases.launching import Site, site
from tests.old_mpi import NEWER_OBJECTS, newer_calls

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mpi

STREAMS = re.compile(r"#include <iostream>|std::c(out|err|log)\b")
NEWER = re.compile(r"_c$|^MPI_T_|^MPIX_|_(from|to)int$")


@pytest.fixture(params=["mpich", "openmpi", "mpich@std"])
def where(request: pytest.FixtureRequest) -> Site:
    return site(str(request.param))


@pytest.fixture(scope="session")
def allowed(repository: Path) -> set[str]:
    lines = (repository / "tests/data/mpi_calls.txt").read_text().splitlines()
    return {line for line in lines if not line.startswith("#")}


def undefined(file: Path) -> list[str]:
    words = ["nm", "-D", "--undefined-only", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()]


def needed(file: Path) -> list[str]:
    words = ["readelf", "--dynamic", "--wide", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)


def test_calls_are_of_mpi_2_2_or_older(where: Site, allowed: set[str]) -> None:
    calls = {name for name in undefined(where.kernels.plugin) if re.match("P?MPIX?_", name)}
    assert "MPI_Finalize" in calls
    assert calls <= allowed


def test_handles_are_of_mpi_2_2_or_older(where: Site) -> None:
    """An object cannot be bound lazily: without it the plugin does not open."""
    assert not set(undefined(where.kernels.plugin)) & set(NEWER_OBJECTS)


def test_the_list_names_nothing_newer(allowed: set[str]) -> None:
    assert not [name for name in allowed if NEWER.search(name)]
    assert not allowed & set(newer_calls())


def test_nothing_of_our_own_is_missing(where: Site) -> None:
    """A plugin links and opens without it, and ends where it is called."""
    assert not [name for name in undefined(where.kernels.plugin) if "mpigauge" in name]


def test_calls_are_bound_when_they_are_made(where: Site) -> None:
    """So that a library opens that lacks one which few benchmarks make."""
    words = ["readelf", "--dynamic", "--wide", str(where.kernels.plugin)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert not re.search(r"BIND_NOW|\bNOW\b", done.stdout)


def test_nothing_is_linked_to_an_mpi(where: Site) -> None:
    for file in (where.kernels.executable, where.kernels.plugin):
        assert not [name for name in needed(file) if "mpi" in name.lower()]


def test_the_host_needs_the_c_library_alone(where: Site) -> None:
    """A libstdc++ of the site's MPI may be another: only the plugin brings one."""
    assert {name.partition(".")[0] for name in needed(where.kernels.executable)} <= {
        "libc",
        "libdl",
    }
    assert not [name for name in undefined(where.kernels.executable) if name.startswith("MPI_")]


def test_the_standard_abi_needs_no_objects_of_a_library() -> None:
    names = undefined(site("mpich@std").kernels.plugin)
    assert not [name for name in names if name.startswith(("ompi_", "MPIR_", "MPID_"))]


def test_kernels_use_no_streams_of_the_terminal(repository: Path) -> None:
    """They would cost start-up time and would not go through the one writer of records."""
    sources = [p for p in (repository / "kernels").rglob("*.?pp") if "tests" not in p.parts]
    assert len(sources) > 40
    assert not [p for p in sources if STREAMS.search(p.read_text(encoding="utf-8"))]
