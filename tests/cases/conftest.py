# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the cases share."""

from __future__ import annotations

import pytest

from tests.cases.launching import Site, site
from tests.conftest import ABIS


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ranks that read and write files wait for each other at every step, and each of these takes
    a time slice where they share their cores with another job."""
    for item in items:
        case = getattr(item, "callspec", None)
        if case and case.params.get("suite") == "IO":
            item.add_marker(pytest.mark.alone)


@pytest.fixture(scope="session", params=ABIS)
def where(request: pytest.FixtureRequest) -> Site:
    """Each MPI with the kernels for it, one after the other."""
    return site(str(request.param))
