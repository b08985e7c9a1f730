# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Fixtures of tests that know no MPIs but those they make and those that are installed for tests.

The conftest.py of each folder of such tests imports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.site.topology import busy
from tests import hermetic

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def empty_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing in it."""
    return tmp_path_factory.mktemp("root")


@pytest.fixture(autouse=True)
def machine_with_nothing(empty_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the file system, and nothing else to do, so that limits are as written."""
    monkeypatch.setattr(busy, "load_of_a_core", lambda: 0.0)
    hermetic.hide_mpis_of_the_system(empty_root, monkeypatch)
