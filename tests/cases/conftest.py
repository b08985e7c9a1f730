# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the cases share."""

from __future__ import annotations

import pytest

from tests.cases.launching import Site, site
from tests.conftest import ABIS


@pytest.fixture(scope="session", params=ABIS)
def where(request: pytest.FixtureRequest) -> Site:
    """Each MPI with the kernels for it, one after the other."""
    return site(str(request.param))
