# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where ranks put their files while they run, and how these come together afterwards.

Each node has a folder of one name in its own memory, or on its own disk: what is mapped into memory
should be on no file system that others share. After the end, whatever ended the program, the files
of other hosts are fetched.
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
from io import BytesIO
from pathlib import Path
from shlex import quote

from mpigauge.features.profile.files import SUFFIX
from mpigauge.measure.campaign.agent import Agent, all_answers, is_here
from mpigauge.model.errors import UserError
from mpigauge.runs.store.files import LEFT, write_whole

MEMORY = Path("/dev/shm")
LEAST_FREE = 64 << 20
"""Bytes that the node's memory must have for files; else they go to its disk."""
SECONDS = 120.0
MARK = "mpigauge-files "
HOME = "here"
"""A file in the folder of this host: a host that sees it shares the folder, and its files are here
already."""
AGENT = "agent"
"""A file that says how other hosts are reached, for launchers within a script."""
NOTED = ".hosts"
"""The end of names of files that say where launchers within a script started ranks."""


_NAME = re.compile(r"mpigauge-\d+-[0-9a-f]{12}")


@dataclass(frozen=True)
class LeftFiles:
    """The place of the files of a launch until its program has ended."""

    launch: int
    folder: str
    host: str
    """The host of mpigauge; on the others the folder has the same name."""
    hosts: tuple[str, ...]
    words: tuple[str, ...]
    """Those of the agent that reaches them."""
    shell: tuple[str, ...]


def note_left(
    run: Path, launch: int, folder: Path, hosts: Sequence[str], agent: Agent
) -> LeftFiles:
    """Notes in a run folder where the files are, in case we are killed. A disk that is full keeps
    no program from running."""
    left = LeftFiles(
        launch, str(folder), os.uname().nodename, tuple(hosts), agent.words, agent.shell
    )
    with suppress(OSError):
        write_whole(run / LEFT, json.dumps(asdict(left)))
    return left


def left_in(run: Path) -> LeftFiles | None:
    """The files that a killed mpigauge has left; None: there are none."""
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
    """True if `folder_for_ranks` made it, for this user."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(about.st_mode) and about.st_mode & 0o077 == 0
    return bool(_NAME.fullmatch(folder.name)) and is_private and about.st_uid == os.getuid()


def folder_for_ranks() -> Path:
    """A new folder of ours alone, with a name that no other run has. UserError: there is no place
    for one."""
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
    """Makes the folder on other hosts, where ranks are going to be. A sentence for each host on
    which that cannot be done. What stands in a script finds there how it was done."""
    others = _others(hosts)
    problems = _made(folder, others, agent)
    told = {"words": agent.words, "shell": agent.shell, "hosts": others}
    with suppress(OSError):
        (folder / AGENT).write_text(json.dumps(told), encoding="utf-8")
    return problems


def prepare_more(folder: Path, hosts: Sequence[str]) -> list[str]:
    """Prepares hosts that a launcher within a script is told, as far as they are new; says which
    could not be."""
    try:
        told = json.loads((folder / AGENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    new = [host for host in _others(hosts) if host not in told["hosts"]]
    return _made(folder, new, Agent(tuple(told["words"]), tuple(told["shell"])))


def _made(folder: Path, hosts: Sequence[str], agent: Agent) -> list[str]:
    where = quote(str(folder))
    script = f"mkdir -m 700 {where} || {{ [ -d {where} ] && [ -O {where} ] && [ ! -L {where} ]; }}"
    answers = zip(hosts, all_answers(hosts, script, agent, SECONDS), strict=True)
    found: list[str] = []
    for host, answer in answers:
        if answer.status != 0:
            found.append(f"ranks on {host} are not profiled: {answer.last_words}")
    return found


def _others(hosts: Sequence[str]) -> list[str]:
    return [host for host in dict.fromkeys(hosts) if not is_here(host)]


def note_hosts(folder: Path, hosts: Sequence[str]) -> None:
    """Notes the hosts for whoever fetches their files. A disk that is full keeps no program from
    running."""
    with suppress(OSError):
        (folder / f"{os.getpid()}{NOTED}").write_text("\n".join(hosts), encoding="utf-8")


def noted_hosts(folder: Path) -> list[str]:
    with suppress(OSError):
        texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"*{NOTED}"))]
        return [host for text in texts for host in text.split()]
    return []


def fetch(folder: Path, hosts: Sequence[str], agent: Agent | None) -> list[str]:
    """Brings the files of other hosts into this folder, and removes them there. A sentence for each
    host from which nothing could be brought."""
    others = _others([*hosts, *noted_hosts(folder)])
    problems = []
    for host, answer in zip(others, all_answers(others, _script(folder), agent, SECONDS),
                            strict=True):  # fmt: skip
        if answer.status != 0 or MARK not in answer.output:
            problems.append(f"{host} did not hand over its files: {answer.last_words}")
        else:
            _unpack(answer.output.partition(MARK)[2], folder)
    return problems


def _script(folder: Path) -> str:
    """Prints the files of a node as text, and removes them."""
    where = quote(str(folder))
    return (
        f"if [ -e {where}/{HOME} ]; then printf '{MARK}'; "
        f"elif cd {where} 2>/dev/null; then "
        f"printf '{MARK}'; set -- *{SUFFIX}; "
        '[ -e "$1" ] && tar -cf - "$@" | gzip -c | base64; '
        f"cd / && rm -rf {where}; "
        f"else printf '{MARK}'; fi"
    )


def _unpack(text: str, folder: Path) -> None:
    """Only plain files of ours, into the folder itself."""
    packed = base64.b64decode("".join(text.split()))
    if not packed:
        return
    with tarfile.open(fileobj=BytesIO(packed), mode="r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and Path(member.name).name.endswith(SUFFIX):
                with (folder / Path(member.name).name).open("wb") as file:
                    shutil.copyfileobj(content, file)


def remove(folder: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(folder)
