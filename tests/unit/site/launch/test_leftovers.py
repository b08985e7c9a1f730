# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a job leaves is removed if a process of the job had it open, and nothing else."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mpigauge.measuring.jobs.watchdog import _REMOVE
from mpigauge.site.launch import leftovers
from mpigauge.site.launch.creations import Creations
from mpigauge.site.launch.leftovers import Leftovers, Watched
from tests import patience

HOST = socket.gethostname()
SEGMENTS = {
    "mpich_shm_1badcafe_0": "mpich_shm_1badcafe_1",
    "sm_segment.vm.0.2d470001.0": "sm_segment.vm.0.2d470001.1",
    "vader_segment.vm.7.9d470001.0": "vader_segment.vm.7.9d470001.3",
    "Intel_MPI_tHioF6": "",
    "psm2_shm.7000": "",
}
"""A segment of each kind, and another one of the same job that no process has open."""
OTHERS = ("mpich_shm_1badcaff_0", "sm_segment.vm.0.2d470002.0", "Intel_MPI_tHioF7", "mine")
OPENS = """
import sys
files = [open(name) for name in sys.argv[1:]]
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def process_with(*paths: Path) -> Iterator[int]:
    """A process that has these files open."""
    words = [sys.executable, "-c", OPENS, *map(str, paths)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process.pid
        process.communicate()


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /dev/shm."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(leftovers, "SHARED_MEMORY", folder)
    monkeypatch.setattr(leftovers, "OF_HYDRA", tmp_path)
    return folder


def made(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names if name]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", SEGMENTS)
def test_segments_of_the_job_are_removed(memory: Path, tmp_path: Path, name: str) -> None:
    made(memory, name, SEGMENTS[name], *OTHERS)
    left = Leftovers(tmp_path)
    with process_with(memory / name) as pid:
        left.note([pid])
    left.remove()
    assert names(memory) == set(OTHERS)


def test_a_file_that_is_no_segment_stays(memory: Path, tmp_path: Path) -> None:
    (path,) = made(memory, "mine")
    left = Leftovers(tmp_path)
    with process_with(path) as pid:
        left.note([pid])
    left.remove()
    assert path.exists()


def test_a_segment_that_another_process_has_open_stays(memory: Path, tmp_path: Path) -> None:
    (path,) = made(memory, "mpich_shm_1badcafe_0")
    left = Leftovers(tmp_path)
    with process_with(path) as pid:
        left.note([pid])
    with process_with(path):
        left.remove(linger_s=0)
        assert path.exists()
    left.remove(linger_s=0)
    assert not path.exists()


def test_a_new_file_of_the_same_name_stays(memory: Path, tmp_path: Path) -> None:
    (path,) = made(memory, "Intel_MPI_tHioF6")
    left = Leftovers(tmp_path)
    with process_with(path) as pid:
        left.note([pid])
        (memory / "new").touch()
        (memory / "new").rename(path)
    left.remove()
    assert path.exists()


def test_a_link_is_not_followed_and_stays(memory: Path, tmp_path: Path) -> None:
    victim, segment = *made(tmp_path, "victim"), memory / "mpich_shm_1badcafe_0"
    segment.symlink_to(victim)
    left = Leftovers(tmp_path)
    with process_with(*made(memory, "mpich_shm_1badcafe_1")) as pid:
        left.note([pid])
    left.remove()
    assert victim.exists()
    assert segment.is_symlink()


def test_files_of_hydra_are_removed(memory: Path, tmp_path: Path) -> None:
    assert memory.exists()
    ours, others = made(tmp_path, "hydra_hwloc_xmlfile_a", "hydra_hwloc_xmlfile_b")
    left = Leftovers(tmp_path / "elsewhere")
    with process_with(ours) as pid:
        left.note([pid])
    left.remove()
    assert (ours.exists(), others.exists()) == (False, True)


def session_files(session: str) -> list[str]:
    inside = (f"pmix.{HOST}.tool", f"pmix.{HOST}.tool.7", "hwloc.sm", "1/pmix-gds-shmem2.x", "mine")
    return [f"{session}/{name}" for name in inside]


@pytest.mark.parametrize("form", ["ompi.{}", f"ompi.{HOST}.{os.getuid()}/pid.{{}}"])
def test_a_session_is_removed_after_its_launcher(memory: Path, tmp_path: Path, form: str) -> None:
    assert memory.exists()
    ended = subprocess.Popen(["true"])
    ended.wait()
    session = tmp_path / form.format(ended.pid)
    made(tmp_path, *session_files(form.format(ended.pid)), *session_files("ompi.other"))
    (session / "1" / "0").mkdir()
    left = Leftovers(tmp_path)
    with process_with(session / "hwloc.sm") as pid:
        left.note([pid])
    left.remove()
    assert names(session) == {"mine"}
    (session / "mine").unlink()
    left.remove()
    assert not session.exists()
    assert (tmp_path / "ompi.other" / "hwloc.sm").exists()


def test_a_session_stays_as_long_as_its_launcher_lives(memory: Path, tmp_path: Path) -> None:
    """A launcher may serve several jobs."""
    assert memory.exists()
    files = made(tmp_path, *session_files(f"ompi.{os.getpid()}"))
    left = Leftovers(tmp_path)
    with process_with(files[2]) as pid:
        left.note([pid])
    left.remove()
    assert all(path.exists() for path in files)


def test_a_session_that_hosts_share_keeps_what_is_not_ours(memory: Path, tmp_path: Path) -> None:
    assert memory.exists()
    ended = subprocess.Popen(["true"])
    ended.wait()
    session = f"ompi.{ended.pid}"
    files = made(tmp_path, *session_files(session), f"{session}/pmix.{HOST}0.tool.7")
    left = Leftovers(tmp_path)
    with process_with(files[2]) as pid:
        left.note([pid])
    left.remove()
    assert names(tmp_path / session) == {"hwloc.sm", "1", "mine", f"pmix.{HOST}0.tool.7"}


def test_a_file_is_noted_as_soon_as_it_appears(memory: Path, tmp_path: Path) -> None:
    """A job that aborts lives a moment longer than it takes to look at it."""
    script = f"exec 3>{memory}/mpich_shm_1badcafe_0; exec 4>{tmp_path}/hydra_x; read -r _"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE) as process:
        watched = Watched(process.pid, {"TMPDIR": str(tmp_path)})
        patience.wait_for(lambda: len(watched.left.files) == 2)
        process.communicate()
    watched.remove()
    assert names(memory) == set()
    assert not (tmp_path / "hydra_x").exists()


def test_processes_below_others_are_looked_at(memory: Path, tmp_path: Path) -> None:
    inner = f"exec 3>{memory}/mpich_shm_1badcafe_0; read -r _"
    with subprocess.Popen(["sh", "-c", f"sh -c '{inner}'; :"], stdin=subprocess.PIPE) as process:
        watched = Watched(process.pid, {"TMPDIR": str(tmp_path)})
        patience.wait_for(lambda: watched.left.files)
        watched.rest()
        process.communicate()
    watched.remove()
    assert names(memory) == set()


def test_another_process_removes_what_was_noted(memory: Path, tmp_path: Path) -> None:
    """That of the watchdog, if mpigauge is killed."""
    (path,) = made(memory, "mpich_shm_1badcafe_0")
    ended = subprocess.Popen(["true"])
    ended.wait()
    session = f"ompi.{ended.pid}"
    files = made(tmp_path, *session_files(session))
    reported: list[str] = []
    with process_with(path, files[2]) as pid:
        watched = Watched(pid, {"TMPDIR": str(tmp_path)}, reported.append)
        patience.wait_for(lambda: reported)
        watched.rest()
    assert Leftovers.of_line(reported[-1]) == watched.left
    words = [sys.executable, "-c", _REMOVE]
    subprocess.run(words, input=f"{reported[-1]}\n", text=True, check=True)
    assert not path.exists()
    assert names(tmp_path / session) == {"mine"}


def test_creations_are_those_of_the_folder(tmp_path: Path) -> None:
    creations = Creations([tmp_path])
    assert creations.wait(0) == []
    made(tmp_path, "a", "b")
    assert creations.wait(None) == ["a", "b"]
    creations.end()
    assert creations.wait(None) is None
    creations.close()
