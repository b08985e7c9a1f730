# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What all tests share."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.site.mpi import find, kernels
from tests import hermetic

if TYPE_CHECKING:
    from collections.abc import Iterator

MPIS = ["mpich", "openmpi"] + (["intel"] if platform.machine() == "x86_64" else [])
"""What `make test` installs; one that is missing is a failure."""
ABIS = [*MPIS, "mpich@std"]
"""The same, and the kernels of the standard ABI."""
hermetic.isolate()
# No test asserts a time, nor do the inputs that hypothesis makes. They are the same in each run, so
# that it does not fail by an input of chance; --hypothesis-profile=drawn draws others.
settings.register_profile("drawn", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("drawn"), derandomize=True)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "run the tests of this part of `make acceptance`, which are left out otherwise"
    parser.addoption("--acceptance", metavar="PART", help=about)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests with the mark `acceptance` run with their part and never without."""
    wanted = config.getoption("--acceptance")

    def runs(item: pytest.Item) -> bool:
        mark = item.get_closest_marker("acceptance")
        return bool((mark.args[0] if mark else None) == wanted)

    config.hook.pytest_deselected(items=[item for item in items if not runs(item)])
    items[:] = filter(runs, items)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each of the MPIs that `make test` installs, one after the other."""
    return find(str(request.param))


@pytest.fixture(autouse=True)
def _own_data_folder(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a test leaves in the user's data folder is not there for the next. It may not exist."""
    folder = tmp_path_factory.getbasetemp() / "data" / f"{abs(hash(request.node.nodeid)):x}"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system (not root)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="session")
def built(mpi: Mpi) -> Kernels:
    """The kernels for that MPI."""
    return kernels(mpi)
