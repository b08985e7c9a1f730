# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What all tests share."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.mpi import find, kernels

MPIS = ["mpich", "openmpi"] + (["intel"] if platform.machine() == "x86_64" else [])


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each of the MPIs that `make test` installs, one after the other."""
    try:
        return find(request.param)
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def built(mpi: Mpi) -> Kernels:
    """The kernels for that MPI."""
    return kernels(mpi)
