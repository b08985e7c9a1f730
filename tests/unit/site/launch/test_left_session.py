# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a killed mpirun left is removed where Open MPI looks for it, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mpigauge.site.launch.left_session import remove_left_session

HOST = os.uname().nodename


def left(folder: Path) -> set[str]:
    return {path.name for path in (folder / "ompi.7").iterdir()}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    (tmp_path / "ompi.7").mkdir()
    for name in (f"pmix.{HOST}.tool", f"pmix.{HOST}.tool.7", f"pmix.{HOST}0.tool.7", "hwloc.sm"):
        (tmp_path / "ompi.7" / name).touch()
    return tmp_path


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP"])
def test_files_of_this_host_and_number_are_removed(session: Path, variable: str) -> None:
    remove_left_session(7, {variable: str(session)})
    assert left(session) == {f"pmix.{HOST}0.tool.7", "hwloc.sm"}


def test_an_mpirun_that_has_just_begun_keeps_its_own_files(session: Path) -> None:
    now = time.time()
    own = session / "ompi.7" / f"pmix.{HOST}.tool"
    old = session / "ompi.7" / f"pmix.{HOST}.tool.7"
    os.utime(old, (now - 60, now - 60))
    remove_left_session(7, {"TMPDIR": str(session)}, begun=now)
    assert own.exists()
    assert not old.exists()


def test_other_numbers_and_folders_are_left_alone(session: Path) -> None:
    before = left(session)
    remove_left_session(8, {"TMPDIR": str(session)})
    remove_left_session(7, {"TMPDIR": str(session / "none"), "TMP": str(session)})
    assert left(session) == before
