# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks without cores are refused before kernels are built for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mpi_fakes
from tests.process.test_probe import ELSEWHERE


def refusal(words: tuple[str, ...], folder: Path) -> str:
    """What is said where no kernels are built yet."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "mpigauge"), *words, "--mpi", "mpich"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MPIGAUGE_CACHE": str(folder / "cache")},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "building" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "cache" / "kernels").exists()
    return done.stderr


@pytest.mark.parametrize(
    "words", [("run", "Barrier", "--np", "9999"), ("run", "Barrier", "--ranks", "9999"),
              ("map", "--np", "9999")]
)  # fmt: skip
def test_too_many_ranks_are_refused_before_a_build(words: tuple[str, ...], tmp_path: Path) -> None:
    assert "9999 ranks are more than the" in refusal(words, tmp_path)


CORES = "--ppn 9999 is more than the "


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "Barrier", "--ppn", "9999", "--np", "19998"), CORES),
        (("run", "Barrier", "--place", "core", "--np", "19998"), "the job has 19998"),
        (("map", "--np", "19998"), "19998 ranks are more than the "),
        (("fabric", "--ppn", "9999"), CORES),
    ],
)
def test_too_many_ranks_of_hosts_are_too(
    words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    agent = mpi_fakes.program(tmp_path / "agent", f"#!/bin/sh\n{ELSEWHERE}\n")
    said = refusal((*words, "--hosts", "far,away", "--rsh", str(agent)), tmp_path)
    assert sentence in said
