# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What takes long to set up and is shared by many tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.debian import installed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.debian import Installed


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """This machine as if it had Debian's Chromium."""
    with installed(tmp_path_factory.mktemp("chromium"), "chromium") as machine:
        yield machine
