# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests start a job again for the known fault of Open MPI only: another one may be ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.cards import Cards
from mpigauge.model.mpi import Kernels, Mpi
from tests.cases import launching
from tests.cases.launching import SEGMENTATION_FAULT, Ended, Site
from tests.unit.measuring.plan.test_plan import card
from tests.unit.site.mpi.test_device_memory import an_mpi

CARDS = Cards((card("PingPong"), card("Unidir_put", suite="RMA")))
OPEN_MPI = an_mpi("openmpi")
DIED = Ended(SEGMENTATION_FAULT, (), "")
PUT = ("--benchmarks", "PingPong,RMA:Unidir_put", "--sizes", 8)


@pytest.mark.parametrize(
    ("mpi", "ended", "options", "expected"),
    [
        (OPEN_MPI, DIED, PUT, True),
        (OPEN_MPI, DIED, ("--benchmarks", "PingPong"), False),
        (OPEN_MPI, replace(DIED, status=134), PUT, False),
        (replace(OPEN_MPI, version="5.0.12"), DIED, PUT, False),
        (an_mpi("mpich"), DIED, PUT, False),
        (replace(OPEN_MPI, env={"LD_PRELOAD": "/profiler.so"}), DIED, PUT, False),
        (replace(OPEN_MPI, library=Path("/translation.so")), DIED, PUT, False),
    ],
)
def test_only_the_known_fault_is_tried_again(
    mpi: Mpi, ended: Ended, options: tuple[object, ...], expected: bool,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setattr(launching, "find", lambda _: OPEN_MPI)
    monkeypatch.setattr(Site, "cards", CARDS)
    site = Site(mpi, Kernels(tmp_path, tmp_path, tmp_path))
    assert launching.is_fault_of_open_mpi(site, ended, options) is expected
