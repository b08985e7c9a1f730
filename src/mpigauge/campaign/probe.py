# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Asks every host what it is, through the launch agent, before anything is launched.

A host that does not answer, that lacks the files which the ranks need, or where the MPI is another
one, is named in one sentence.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING

import mpigauge
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import Named, Node
from mpigauge.mpi.here import MARK
from mpigauge.topology.files import Recorded
from mpigauge.topology.read import read_files

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

SECONDS = 20.0
"""A host that has not answered by then is taken to be down."""
AT_A_TIME = 32
SSH = ("ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
MISSING = "mpigauge-missing "
SHARED = ".mpigauge-shared-"
_ASK = """
import sys
sys.path.insert(0, {package!r})
from mpigauge.mpi.here import tell
tell({library!r})
"""


@dataclass(frozen=True)
class Agent:
    """What runs a command on a host: its words, then the host, then a line for the shell there."""

    words: tuple[str, ...] = SSH
    shell: tuple[str, ...] = ()
    """What stands before that line, where the agent takes words."""

    def command(self, host: str, script: str) -> list[str]:
        if is_here(host):
            return ["sh", "-c", script]
        return [*self.words, host, *self.shell, f"sh -c {shlex.quote(script)}"]


def probe(
    hosts: Sequence[Named],
    mpi: Mpi,
    kernels: Kernels,
    folder: Path,
    agent: Agent | None = None,
    seconds: float = SECONDS,
) -> tuple[Node, ...]:
    """The hosts, each with its machine. `folder` is where runs are stored.

    UserError: a host does not answer, lacks a file, has another MPI, or is there twice.
    """
    folder = _existing(folder)
    with _in_sight(folder) as shared:
        paths = [kernels.executable, kernels.plugin, mpi.library, mpi.mpiexec, Path(shared.name)]
        found = _asked(hosts, _script(str(mpi.library), mpi.env, paths), agent, seconds, folder)
    _refuse_one_machine(found)
    _refuse_other_mpi(found, mpi)
    return found


def machines(
    hosts: Sequence[Named], agent: Agent | None = None, seconds: float = SECONDS
) -> tuple[Node, ...]:
    """The hosts, each with its machine, whether there is an MPI or not.

    UserError: a host does not answer, lacks the Python that runs us, or is there twice.
    """
    found = _asked(hosts, _script("", {}, ()), agent, seconds, Path())
    _refuse_one_machine(found)
    return found


def _asked(
    hosts: Sequence[Named], script: str, agent: Agent | None, seconds: float, folder: Path
) -> tuple[Node, ...]:
    """All hosts at once."""
    ask = [(agent or Agent()).command(host.name, script) for host in hosts]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        answers = list(pool.map(lambda words: _answer(words, seconds), ask))
    nodes = [_node(host, answer, folder) for host, answer in zip(hosts, answers, strict=True)]
    problems = [problem for problem in nodes if isinstance(problem, str)]
    if problems:
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UserError(problems[0] + others)
    return tuple(node for node in nodes if isinstance(node, Node))


def is_here(host: str) -> bool:
    own = socket.gethostname()
    return host in ("localhost", own, own.partition(".")[0])


def _in_sight(folder: Path) -> IO[bytes]:
    """A file that hosts see which share this folder with us."""
    try:
        return NamedTemporaryFile(prefix=SHARED, dir=folder)
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}") from None


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.is_dir())


def _script(library: str, env: Mapping[str, str], paths: Iterable[Path]) -> str:
    """Checks that files are there, then asks Python for the rest."""
    package = str(Path(mpigauge.__file__).resolve().parents[1])
    needed = " ".join(shlex.quote(str(path)) for path in [Path(sys.executable), *paths])
    ask = _ASK.format(package=package, library=library)
    words = shlex.join(["env", *(f"{name}={value}" for name, value in sorted(env.items()))])
    return (
        f'for p in {needed}; do [ -e "$p" ] || {{ echo "{MISSING}$p"; exit 0; }}; done; '
        f"exec {words} {shlex.quote(sys.executable)} -c {shlex.quote(ask)}"
    )


def _answer(words: Sequence[str], seconds: float) -> tuple[int | None, str, str]:
    """Exit status, output and errors; the status is None when the time was up."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # so that ssh asks nobody, and all of it can be ended
        )
    except OSError as error:
        return 127, "", f"cannot run {words[0]}: {error.strerror}"
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", f"nothing came within {seconds:g} s"
    return process.returncode, output, errors


def _node(host: Named, answer: tuple[int | None, str, str], folder: Path) -> Node | str:
    """The host as it is, or one sentence why it cannot be used."""
    status, output, errors = answer
    for line in output.splitlines():
        if line.startswith(MISSING):
            return _missing(host.name, line.removeprefix(MISSING), folder)
        if line.startswith(MARK):
            told = json.loads(line.removeprefix(MARK))
            if told["problem"]:
                return f"on host {host.name} {told['problem']}"
            machine = read_files(Recorded(told["machine"]))
            return Node(host.name, machine, told["library"], host.slots)
    last = (errors.strip().splitlines() or output.strip().splitlines() or [""])[-1]
    why = last or f"the launch agent ended with status {status} and said nothing"
    return f"host {host.name} does not answer: {why}"


def _missing(host: str, path: str, folder: Path) -> str:
    what = path
    if Path(path).name.startswith(SHARED):
        what = f"{folder}, in which the run is to be stored"
    return (
        f"host {host} does not see {what}; kernels, MPI and run folder have to be on a file system "
        "that all hosts share (MPIGAUGE_HOME, MPIGAUGE_CACHE and --output say where they are)"
    )


def _refuse_one_machine(nodes: Iterable[Node]) -> None:
    seen: dict[str, Node] = {}
    for node in nodes:
        first = seen.setdefault(node.machine.hostname, node)
        if first is not node:
            raise UserError(
                f"hosts {first.name} and {node.name} are the same machine, "
                f"{node.machine.hostname}; name it once"
            )


def _refuse_other_mpi(nodes: Iterable[Node], mpi: Mpi) -> None:
    for node in nodes:
        if node.library != mpi.library_string:
            there = (node.library.splitlines() or ["nothing"])[0]
            here = mpi.library_string.splitlines()[0]
            raise UserError(
                f"host {node.name} has another MPI in {mpi.library}: {there}, here it is {here}; "
                "name an MPI that all hosts share with --mpi"
            )
