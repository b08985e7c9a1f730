# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes folders for the files of ranks on all hosts, and fetches the files afterwards.

Each node has a folder of the same name in its memory or on its own disk, as mapped files should not
be on a shared file system. After the end, whatever ended the program, the files of other hosts are
fetched.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile
from typing import IO

from mpigauge.measuring.jobs.agent import Agent, all_answers, answer_of, is_here, on_all
from mpigauge.model.errors import UserError
from mpigauge.products.profile.read.files import SUFFIX
from mpigauge.runs.store.files import LEFT, write_whole

MEMORY = Path("/dev/shm")
LEAST_FREE = 64 << 20
"""The least free bytes in the node's memory; with less, files are on its disk."""
SECONDS = 120.0
MARK = "mpigauge-files "
HOME = "here"
"""A file in the folder of this host. A host that sees it shares the folder, so that its files
need not be fetched."""
AGENT = "agent"
"""A file with the agent for other hosts, for launchers within a script."""
NOTED = ".hosts"
"""The suffix of files with the hosts on which launchers within a script started ranks."""


_NAME = re.compile(r"mpigauge-\d+-[0-9a-f]{12}")


@dataclass(frozen=True)
class LeftFiles:
    """The location of the files of a launch until its program has ended."""

    launch: int
    folder: str
    host: str
    """The host of mpigauge; the folder has the same name on other hosts."""
    hosts: tuple[str, ...]
    words: tuple[str, ...]
    """The command of the agent that reaches other hosts."""
    shell: tuple[str, ...]


def note_left(
    run: Path, launch: int, folder: Path, hosts: Sequence[str], agent: Agent
) -> LeftFiles:
    """Records in a run folder where the files are, in case mpigauge is killed. A full disk does not
    stop the program."""
    left = LeftFiles(
        launch, str(folder), os.uname().nodename, tuple(hosts), agent.words, agent.shell
    )
    with suppress(OSError):
        write_whole(run / LEFT, json.dumps(asdict(left)))
    return left


def left_in(run: Path) -> LeftFiles | None:
    """Returns the files that a killed mpigauge left; None: there are none."""
    try:
        data = json.loads((run / LEFT).read_text(encoding="utf-8"))
        lists = {name: tuple(map(str, data[name])) for name in ("hosts", "words", "shell")}
        return LeftFiles(int(data["launch"]), str(data["folder"]), str(data["host"]), **lists)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_left(run: Path) -> None:
    with suppress(OSError):
        (run / LEFT).unlink()


def is_own_folder(folder: Path) -> bool:
    """True if `folder_for_ranks` made this folder for this user."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(about.st_mode) and about.st_mode & 0o077 == 0
    return bool(_NAME.fullmatch(folder.name)) and is_private and about.st_uid == os.getuid()


def folder_for_ranks() -> Path:
    """Makes a new private folder with a unique name. UserError: it cannot be made."""
    folder = _base() / f"mpigauge-{os.getuid()}-{os.urandom(6).hex()}"
    try:
        folder.mkdir(mode=0o700)
        (folder / HOME).touch()
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}; set TMPDIR") from None
    return folder


def _base() -> Path:
    try:
        about = os.statvfs(MEMORY)
        if os.access(MEMORY, os.W_OK) and about.f_bavail * about.f_frsize >= LEAST_FREE:
            return MEMORY
    except OSError:
        pass
    return Path(os.environ.get("TMPDIR") or "/tmp")


def prepare(folder: Path, hosts: Sequence[str], agent: Agent) -> list[str]:
    """Makes the folder on other hosts; returns a sentence for each host on which that fails. Also
    stores the agent there, for stand-ins within a script."""
    others = _others(hosts)
    problems = _made(folder, others, agent)
    agent_data = {"words": agent.words, "shell": agent.shell, "hosts": others}
    with suppress(OSError):
        (folder / AGENT).write_text(json.dumps(agent_data), encoding="utf-8")
    return problems


def prepare_more(folder: Path, hosts: Sequence[str]) -> list[str]:
    """Makes the folder on new hosts of a launcher within a script; returns a sentence for each host
    on which that fails."""
    try:
        agent_data = json.loads((folder / AGENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    new = [host for host in _others(hosts) if host not in agent_data["hosts"]]
    return _made(folder, new, Agent(tuple(agent_data["words"]), tuple(agent_data["shell"])))


def _made(folder: Path, hosts: Sequence[str], agent: Agent) -> list[str]:
    where = quote(str(folder))
    script = f"mkdir -m 700 {where} || {{ [ -d {where} ] && [ -O {where} ] && [ ! -L {where} ]; }}"
    answers = zip(hosts, all_answers(hosts, script, agent, SECONDS), strict=True)
    problems: list[str] = []
    for host, answer in answers:
        if answer.status != 0:
            problems.append(f"ranks on {host} are not profiled: {answer.last_words}")
    return problems


def _others(hosts: Sequence[str]) -> list[str]:
    return [host for host in dict.fromkeys(hosts) if not is_here(host)]


def note_hosts(folder: Path, hosts: Sequence[str]) -> None:
    """Records the hosts from which files must be fetched. A full disk does not stop the program."""
    with suppress(OSError):
        (folder / f"{os.getpid()}{NOTED}").write_text("\n".join(hosts), encoding="utf-8")


def noted_hosts(folder: Path) -> list[str]:
    with suppress(OSError):
        texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"*{NOTED}"))]
        return [host for text in texts for host in text.split()]
    return []


def fetch(folder: Path, hosts: Sequence[str], agent: Agent | None) -> list[str]:
    """Moves the files of other hosts into this folder; returns a sentence for each host for which
    that fails."""
    failures = _receive_all(folder, hosts, agent, folder, removes=True)
    return [f"{host} did not hand over its files: {why}" for host, why in failures.items()]


def copy_now(folder: Path, hosts: Sequence[str], agent: Agent, to: Path) -> list[str]:
    """Copies the files of ranks that still run on other hosts; returns a sentence for each host for
    which that fails."""
    failures = _receive_all(folder, hosts, agent, to, removes=False)
    return [f"{host} did not show its files: {why}" for host, why in failures.items()]


def _receive_all(
    folder: Path, hosts: Sequence[str], agent: Agent | None, to: Path, removes: bool
) -> dict[str, str]:
    """Unpacks the files of other hosts as each sends them; returns why that fails, by host."""
    others = _others([*hosts, *noted_hosts(folder)])
    script = _script(folder, removes)

    def receive(host: str) -> str | None:
        with TemporaryFile(dir=to) as sent:
            answer = answer_of(host, script, agent, SECONDS, sent)
            sent.seek(0)
            if answer.status != 0 or not _pass_mark(sent):
                return answer.last_words
            _unpack(sent, to)
        return None

    results = zip(others, on_all(others, receive), strict=True)
    return {host: failure for host, failure in results if failure is not None}


def _script(folder: Path, removes: bool) -> str:
    """Returns a shell script that prints the files of a node as text, and removes them."""
    where = quote(str(folder))
    removal = f"cd / && rm -rf {where}; " if removes else ""
    return (
        f"if [ -e {where}/{HOME} ]; then printf '{MARK}'; "
        f"elif cd {where} 2>/dev/null; then "
        f"printf '{MARK}'; set -- *{SUFFIX}; "
        '[ -e "$1" ] && tar -cf - "$@" | gzip -c | base64; '
        f"{removal}"
        f"else printf '{MARK}'; fi"
    )


def _pass_mark(sent: IO[bytes]) -> bool:
    """Reads up to the end of the mark, as a shell may print lines before it. False: there is no
    mark."""
    start = 0
    for line in sent:
        place = line.find(MARK.encode())
        if place >= 0:
            sent.seek(start + place + len(MARK))
            return True
        start += len(line)
    return False


def _unpack(sent: IO[bytes], folder: Path) -> None:
    """Unpacks only regular files of the profiler, directly into the folder."""
    with TemporaryFile(dir=folder) as packed:
        base64.decode(sent, packed)
        if not packed.tell():
            return
        packed.seek(0)
        with tarfile.open(fileobj=packed, mode="r:gz") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None and Path(member.name).name.endswith(SUFFIX):
                    with (folder / Path(member.name).name).open("wb") as file:
                        shutil.copyfileobj(content, file)


def remove(folder: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(folder)
