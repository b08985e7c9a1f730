# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Removes files of MPI libraries and launchers that a killed or aborted job leaves behind.

They are outside all folders of ours: shared memory in /dev/shm, and files of Hydra and PRRTE in the
temporary folder. Their names do not identify the job. A file belongs to a job if a process of the
job has it open or mapped, so processes are inspected while they run: when files with such names
appear, a few times after the start, and before we end the job. A file that another process has open
stays.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mpigauge.site.launch.creations import Creations
from mpigauge.site.launch.left_session import own_names, temporary_folder

SHARED_MEMORY = Path("/dev/shm")
OF_HYDRA = Path("/tmp")
"""The folder of Hydra's temporary files, which no variable changes."""
LINGER_S = 2.0
"""The seconds that processes of a job may take to end after their launcher."""
PAUSE_S = 0.05
LOOKS_S = (0.2, 0.8, 4.0)
"""Pauses in seconds after which processes are inspected without a new file."""
_SEGMENT = re.compile(
    r"(?P<job>mpich_shm_[0-9a-f]+_|(?:sm|vader)_segment\..+\.\d+\.[0-9a-f]+\.)"
    r"|mpich_shar_tmp|Intel_MPI_|ucx_shm_posix_|psm\d?_shm|osc_(sm|rdma)\."
)
"""Beginnings of the names of segments; `job`: one that all segments of a job share."""
_TEMPORARY = re.compile(r"hydra_\w+$")
_MOMENTARY = ("mpich_shar_tmp", "Intel_MPI_", "ucx_shm_posix_", "osc_")
"""Segments that lose their names as soon as all ranks have opened them."""
_SESSION = re.compile(r"(ompi\.(?:[^/]+\.\d+/pid\.)?(\d+))/")
"""PRRTE's folder of a job, and ORTE's, with the process number of their launcher."""
_IN_SESSION = re.compile(r"(initial-)?pmix|hwloc\.sm$|contact\.txt$|dstore|sm\w*seg|vader_segment")
"""Beginnings of names in these folders; a file with another one is not theirs."""
_GONE = " (deleted)"
"""The system writes this behind the name of a file that has none any more."""
_TOOL = re.compile(r"pmix\..+\.tool")
FileId = tuple[int, int]
"""Device and number: a file that gets its name later is another one."""


class Watched:
    """Follows the processes of a job from its start, and removes the files that it leaves."""

    def __init__(
        self, launcher: int, env: Mapping[str, str], report: Callable[[str], None] | None = None
    ) -> None:
        """`env` is the environment of the launcher, which names the temporary folder. `report` gets
        the records, in the form for `remove_noted`."""
        self._report = report
        self.left = Leftovers(Path(temporary_folder(env)))
        self._launcher = launcher
        self._creations = Creations((SHARED_MEMORY, OF_HYDRA, self.left.temporary))
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Records the files that the processes of the job have open now."""
        before = len(self.left)
        self.left.note(descendants(self._launcher))
        if self._report and len(self.left) > before:
            self._report(self.left.to_line())

    def rest(self) -> None:
        """Stops following: from now on nothing disturbs the job but a call of `look`."""
        if self._thread.is_alive():
            self._creations.end()
            self._thread.join()

    def remove(self) -> None:
        """Removes the leftovers. To be called after the end of the launcher."""
        self.rest()
        self._creations.close()
        self.left.sessions[self.left.temporary / f"ompi.{self._launcher}"] = self._launcher
        self.left.remove()

    def _follow(self) -> None:
        pauses = [*LOOKS_S]
        while (names := self._creations.wait(pauses[0] if pauses else None)) is not None:
            if not names:
                del pauses[0]
            if not names or any(map(self.left.is_news, names)):
                self.look()
            if any(map(self.left.is_news, names)):  # created, and not yet open
                time.sleep(PAUSE_S)
                self.look()


@dataclass
class Leftovers:
    """The files of one job, as far as its processes were seen with them."""

    temporary: Path
    files: dict[Path, FileId] = field(default_factory=dict)
    stems: set[str] = field(default_factory=set)
    """Beginnings of the names that the segments of the job have."""
    sessions: dict[Path, int] = field(default_factory=dict)
    """Folders of launchers, by their process numbers."""

    def __len__(self) -> int:
        return len(self.files) + len(self.stems) + len(self.sessions)

    def to_line(self) -> str:
        files = [[str(path), *file] for path, file in self.files.items()]
        sessions = {str(path): pid for path, pid in self.sessions.items()}
        return json.dumps([str(self.temporary), files, sorted(self.stems), sessions])

    @classmethod
    def of_line(cls, line: str) -> Leftovers:
        temporary, files, stems, sessions = json.loads(line)
        return cls(
            Path(temporary),
            {Path(path): (device, number) for path, device, number in files},
            set(stems),
            {Path(path): pid for path, pid in sessions.items()},
        )

    def is_news(self, name: str) -> bool:
        """True if a new file of this name may be of a job, and nothing of the kind is noted."""
        if _SEGMENT.match(name):
            return not name.startswith((*_MOMENTARY, *self.stems))
        return bool(_TEMPORARY.match(name) or _SESSION.match(f"{name}/"))

    def note(self, processes: Iterable[int]) -> None:
        """Records the files that these processes of the job have open or mapped."""
        for pid in processes:
            for path, file in open_files(pid):
                self._note(path, file)

    def _note(self, path: Path, file: FileId) -> None:
        if path.parent == SHARED_MEMORY:
            match = _SEGMENT.match(path.name)
            if match:
                self.files[path] = file
                self.stems.update(filter(None, [match["job"]]))
        elif path.parent == OF_HYDRA and _TEMPORARY.match(path.name):
            self.files[path] = file
        elif path.is_relative_to(self.temporary):
            session = _SESSION.match(str(path.relative_to(self.temporary)))
            if session:
                self.sessions[self.temporary / session[1]] = int(session[2])

    def remove(self, linger_s: float = LINGER_S) -> None:
        """Removes the leftovers after the end of the job, except files that a process has open."""
        end_s = time.monotonic() + linger_s
        while left := self._left():
            used = in_use()
            for path, file in left.items():
                if file not in used:
                    with suppress(OSError):
                        path.unlink()
            if not any(file in used for file in left.values()) or time.monotonic() > end_s:
                break
            time.sleep(PAUSE_S)
        for session in self._ended_sessions():
            _remove_empty(session)

    def _left(self) -> dict[Path, FileId]:
        """Returns the job's files that still exist: recorded, in sessions, or named like them."""
        left = {path: file for path, file in self.files.items() if _own(path) == file}
        others = [path for session in self._ended_sessions() for path in _files_of(session)]
        if self.stems:
            stems = tuple(self.stems)
            others += [path for path in _listed(SHARED_MEMORY) if path.name.startswith(stems)]
        for path in others:
            file = _own(path)
            if file is not None:
                left[path] = file
        return left

    def _ended_sessions(self) -> list[Path]:
        """Returns sessions whose launcher has ended; one that serves several jobs may still run."""
        return [path for path, pid in self.sessions.items() if not Path(f"/proc/{pid}").exists()]


def remove_noted() -> None:
    """Removes the files recorded in the line of standard input. For a process that outlives us."""
    if line := sys.stdin.readline():
        Leftovers.of_line(line).remove()


def descendants(pid: int) -> set[int]:
    """Returns a process and all its running descendants."""
    processes: set[int] = set()
    parents = [pid]
    while parents:
        parent = parents.pop()
        if parent in processes:
            continue
        processes.add(parent)
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError, ValueError):
                parents += map(int, path.read_text().split())
    return processes


def open_files(pid: int) -> Iterator[tuple[Path, FileId]]:
    """Yields the files that a process has mapped or open, if they still have a name."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines():
            words = line.split(None, 5)
            if words[5:] and words[5].startswith(b"/") and not words[5].endswith(_GONE.encode()):
                major, _, minor = words[3].partition(b":")
                file = os.makedev(int(major, 16), int(minor, 16)), int(words[4])
                yield Path(os.fsdecode(words[5])), file
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                path = entry.readlink()
                if path.is_absolute() and not path.name.endswith(_GONE):
                    about = entry.stat()
                    yield path, (about.st_dev, about.st_ino)


def in_use() -> set[FileId]:
    """Returns the files that any process has mapped or open."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return {file for pid in pids for _, file in open_files(pid)}


def _files_of(session: Path) -> Iterator[Path]:
    """Yields files of a session, by their names. Hosts that share the folder use it for their own
    process numbers; then only files that name this host are removed."""
    for root, folders, files in os.walk(session):
        is_shared = any(_TOOL.match(name) and not _is_of_this_host(name) for name in files)
        folders[:] = [name for name in folders if name.isdigit() and not is_shared]
        for name in files:
            if _is_of_this_host(name) or (_IN_SESSION.match(name) and not is_shared):
                yield Path(root) / name


def _is_of_this_host(name: str) -> bool:
    return name.startswith(tuple(f"pmix.{host}.tool" for host in own_names()))


def _remove_empty(session: Path) -> None:
    """Removes folders that are empty, from the inside."""
    for root, _, _ in os.walk(session, topdown=False):
        with suppress(OSError):
            Path(root).rmdir()


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _own(path: Path) -> FileId | None:
    """Returns device and number of a file; None: it is missing, or another user's, or a link."""
    try:
        about = path.lstat()
    except OSError:
        return None
    if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
        return None
    return about.st_dev, about.st_ino
