# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What takes long to set up and is shared by many tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.debian import installed
from tests.e2e.wheels import built_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.debian import Installed


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """This machine as if it had Debian's Chromium."""
    with installed(tmp_path_factory.mktemp("chromium"), "chromium") as machine:
        yield machine


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one for this machine, with kernels inside."""
    return built_wheel(repository, tmp_path_factory.mktemp("wheel"))
