# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The folders of exec: those of commands that were killed are removed, and no others."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from mpigauge.products.exec.command import LOCK, PREFIX, remove_left


def left(base: Path, name: str = "1", host: str | None = None) -> Path:
    """A folder as a command leaves it that is killed."""
    folder = base / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / LOCK).write_text(os.uname().nodename if host is None else host)
    (folder / "rank-0").write_text("core 0")
    return folder


def test_the_folder_of_a_killed_command_is_removed(tmp_path: Path) -> None:
    folder = left(tmp_path)
    remove_left(tmp_path)
    assert not folder.exists()


def test_the_folder_of_a_command_that_runs_stays(tmp_path: Path) -> None:
    folder = left(tmp_path)
    with (folder / LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_left(tmp_path)
        assert (folder / "rank-0").exists()
    remove_left(tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize("host", ["", "another-host"])
def test_a_folder_that_is_not_known_to_be_left_stays(tmp_path: Path, host: str) -> None:
    """A command that has just started has not locked its folder; that of another host may have."""
    folder = left(tmp_path, host=host)
    remove_left(tmp_path)
    assert (folder / "rank-0").exists()


def test_links_and_other_folders_stay(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = left(tmp_path / "elsewhere")
    (tmp_path / f"{PREFIX}link").symlink_to(folder)
    (tmp_path / f"{PREFIX}plain").mkdir()
    remove_left(tmp_path)
    assert (folder / "rank-0").exists()
    assert (tmp_path / f"{PREFIX}plain").is_dir()
