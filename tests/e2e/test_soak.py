# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A short run drawn at random on each MPI; `make acceptance PART=soak` makes a hundred of them."""

from __future__ import annotations

import importlib
import os
import random
from pathlib import Path
from types import ModuleType

import pytest

from mpigauge.model.mpi import Kernels, Mpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch, repository: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(repository / "bench"))
    return importlib.import_module("soak")


def test_a_run_drawn_at_random(soak: ModuleType, mpi: Mpi, built: Kernels, tmp_path: Path) -> None:
    assert built.executable.exists()
    words = soak.drawn(random.Random(mpi.name), [mpi.spec], most_ranks=3)
    assert soak.trouble(words, tmp_path / "run") == "", words


def test_what_is_wrong_with_a_run_is_said(soak: ModuleType, tmp_path: Path) -> None:
    assert "exit status 2" in soak.trouble(["NoSuch"], tmp_path / "none")
