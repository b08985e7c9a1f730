# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Probes every host through the launch agent before anything is launched.

A host that does not answer, lacks files that the ranks need, or has another MPI is reported in one
sentence.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING

from mpigauge.measuring.jobs.agent import (
    Agent,
    HostAnswer,
    all_answers,
    python_line,
    refuse_problems,
)
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost, ProbedHost
from mpigauge.site.mpi.here import MARK
from mpigauge.site.topology.files import Recorded
from mpigauge.site.topology.read import read_files

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

SECONDS = 20.0
"""Seconds after which a host without an answer is taken to be down."""
MISSING = "mpigauge-missing "
SHARED = ".mpigauge-shared-"
_ASK = """
from mpigauge.site.mpi.here import print_facts
print_facts({library!r})
"""


def probe(
    hosts: Sequence[NamedHost],
    mpi: Mpi,
    kernels: Kernels | None,
    folder: Path,
    agent: Agent | None = None,
    seconds: float = SECONDS,
) -> tuple[ProbedHost, ...]:
    """The hosts, each with its machine. `kernels`: None if only the user's programs are launched.
    `folder` is where runs are stored.

    UserError: a host does not answer, lacks a file, has another MPI, or is named twice.
    """
    folder = _existing(folder)
    with _in_sight(folder) as shared:
        own = [kernels.executable, kernels.plugin] if kernels else []
        paths = [*own, mpi.library, mpi.mpiexec, Path(shared.name)]
        nodes = _asked(hosts, _script(str(mpi.library), mpi.env, paths), agent, seconds, folder)
    _refuse_one_machine(nodes)
    _refuse_other_mpi(nodes, mpi)
    return nodes


def machines(
    hosts: Sequence[NamedHost], agent: Agent | None = None, seconds: float = SECONDS
) -> tuple[ProbedHost, ...]:
    """The hosts, each with its machine, whether there is an MPI or not.

    UserError: a host does not answer, lacks the running Python, or is named twice.
    """
    nodes = _asked(hosts, _script("", {}, ()), agent, seconds, Path())
    _refuse_one_machine(nodes)
    return nodes


def _asked(
    hosts: Sequence[NamedHost], script: str, agent: Agent | None, seconds: float, folder: Path
) -> tuple[ProbedHost, ...]:
    """Probes all hosts at once."""
    answers = all_answers([host.name for host in hosts], script, agent, seconds)
    nodes = [_node(host, answer, folder) for host, answer in zip(hosts, answers, strict=True)]
    refuse_problems(nodes)
    return tuple(node for node in nodes if isinstance(node, ProbedHost))


def _in_sight(folder: Path) -> IO[bytes]:
    """A file that is visible on hosts that share this folder."""
    try:
        return NamedTemporaryFile(prefix=SHARED, dir=folder)
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}") from None


def _existing(folder: Path) -> Path:
    """The folder, or the nearest existing one above it."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.is_dir())


def _script(library: str, env: Mapping[str, str], paths: Iterable[Path]) -> str:
    """A script that checks that files exist, and starts Python for the rest."""
    needed = " ".join(shlex.quote(str(path)) for path in [Path(sys.executable), *paths])
    return (
        f'for p in {needed}; do [ -e "$p" ] || {{ echo "{MISSING}$p"; exit 0; }}; done; '
        + python_line(_ASK.format(library=library), env)
    )


def _node(host: NamedHost, answer: HostAnswer, folder: Path) -> ProbedHost | str:
    """The host with its machine, or one sentence why it cannot be used."""
    for line in answer.output.splitlines():
        if line.startswith(MISSING):
            return _missing(host.name, line.removeprefix(MISSING), folder)
        if line.startswith(MARK):
            facts = json.loads(line.removeprefix(MARK))
            if facts["problem"]:
                return f"on host {host.name} {facts['problem']}"
            machine = read_files(Recorded(facts["machine"]))
            return ProbedHost(host.name, machine, facts["library"], host.slots, host.most)
    return f"host {host.name} does not answer: {answer.last_words}"


def _missing(host: str, path: str, folder: Path) -> str:
    what = path
    if Path(path).name.startswith(SHARED):
        what = f"{folder}, in which the run is to be stored"
    return (
        f"host {host} does not see {what}; kernels, MPI and run folder have to be on a file system "
        "that all hosts share (MPIGAUGE_HOME, MPIGAUGE_CACHE and --output set their folders)"
    )


def _refuse_one_machine(nodes: Iterable[ProbedHost]) -> None:
    seen: dict[str, ProbedHost] = {}
    for node in nodes:
        first = seen.setdefault(node.machine.hostname, node)
        if first is not node:
            raise UserError(
                f"hosts {first.name} and {node.name} are the same machine, "
                f"{node.machine.hostname}; name it once"
            )


def _refuse_other_mpi(nodes: Iterable[ProbedHost], mpi: Mpi) -> None:
    for node in nodes:
        if node.library != mpi.library_string:
            there = (node.library.splitlines() or ["nothing"])[0]
            here = mpi.library_string.splitlines()[0]
            raise UserError(
                f"host {node.name} has another MPI in {mpi.library}: {there}, here it is {here}; "
                "name an MPI that all hosts share with --mpi"
            )
