# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the names of hosts and users in a run folder, which a shared run may have to hide."""

from __future__ import annotations

import getpass
import json
import os
import pwd
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import expand
from mpigauge.model.secrets import MASK

if TYPE_CHECKING:
    from pathlib import Path

_HOST_KEYS = ("host", "hostname", "hosts", "submit_host")
_HOST_OPTIONS = ("--hosts", "--exclude", "-hosts", "--host", "-host", "-H", "--nodelist")
_OUR_FOLDER = re.compile(r"\d{8}-\d{6}-")
_HOST_VARIABLE = re.compile(r"(HOST|HOSTNAME|HOSTS|NODE|NODENAME|NODELIST|NODE_LIST)$")
_USER_VARIABLE = re.compile(r"(USER|USERNAME|LOGNAME|USER_NAME)$")
_HOME = re.compile(r"/(?:home|users|Users|u)/([A-Za-z0-9][\w.-]*)")
_NOBODY = {"", "localhost", "root", "nobody", "user", "shared", "linuxbrew"}
"""Names that do not identify anybody."""
_WORD = re.compile(r"[A-Za-z0-9][\w.-]*")


class Names(NamedTuple):
    hosts: tuple[str, ...]
    """Host names as they are written, those of ranks in the order of ranks."""
    users: tuple[str, ...]
    homes: tuple[str, ...] = ()
    """Home folders of the users who measured and who share."""
    variables: tuple[str, ...] = ()
    """Environment variables that the user set for the ranks."""
    values: tuple[str, ...] = ()
    """The values of these variables, which may be tokens or passwords."""
    labels: tuple[str, ...] = ()
    """Names that the user chose: of programs, and of the run."""
    profile: bool = False
    """True for the profile of a program, whose own names are to be hidden."""


def names_in(folder: Path) -> Names:
    """The names in the run, those of this machine and process, and the folder's owner."""
    hosts: dict[str, None] = {}
    profiles: dict[str, None] = {}
    users = dict.fromkeys([_of_process(), _owner(folder)])
    for path in sorted(folder.rglob("*"), key=lambda path: (path.name != "records.jsonl", path)):
        if path.suffix in (".bin", ".npz") or not path.is_file():
            continue
        text = _text(path)
        users.update(dict.fromkeys(_HOME.findall(text)))
        hosts.update(dict.fromkeys(_hosts_of_command(path, text)))
        for data in _documents(path.suffix, text):
            hosts.update(dict.fromkeys(_hosts(data)))
            profiles.update(dict.fromkeys(_profiles(data)))
            users.update(dict.fromkeys(_under(data, _USER_VARIABLE)))
    hosts[os.uname().nodename] = None
    header: Any = next(iter(_documents(".json", _text(folder / "run.json"))), {})
    variables = dict.fromkeys(_set_by_user(header))
    return Names(
        tuple(_telling(hosts)),
        tuple(_telling(users)),
        tuple(_homes(folder)),
        tuple(dict.fromkeys(name for name, _ in variables)),
        tuple(dict.fromkeys(value for _, value in variables if value not in ("", MASK))),
        tuple(dict.fromkeys([*_labels(header, folder), *_named_by_somebody(profiles)])),
        isinstance(header, dict) and header.get("kind") == "profile",
    )


def _set_by_user(header: Any) -> Iterator[tuple[str, str]]:
    """Variables with their values, from the plan and from the command line."""
    if not isinstance(header, dict):
        return
    yield from _environments(header.get("plan"))
    for word in _option_values(header.get("command"), ("--env",)):
        name, sign, value = word.partition("=")
        if sign:
            yield name, value
    for word in _option_values(header.get("command"), ("--vary", "--vary-block")):
        name, sign, values = word.removeprefix("env:").partition("=")
        if sign and word.startswith("env:"):
            yield from ((name, value) for value in values.split(","))


def _environments(data: Any) -> Iterator[tuple[str, str]]:
    """The variables below `env`, at any depth."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "env" and isinstance(value, dict):
                yield from ((str(name), str(each)) for name, each in value.items())
            else:
                yield from _environments(value)
    elif isinstance(data, list):
        for item in data:
            yield from _environments(item)


def _option_values(command: Any, options: tuple[str, ...]) -> Iterator[str]:
    """The values of options in a command line."""
    words = [str(word) for word in command] if isinstance(command, list) else []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, sign, value = word.partition("=")
        if name in options:
            yield value if sign else following


def _labels(header: Any, folder: Path) -> Iterator[str]:
    """The names of the user's programs, and of a folder that the user named."""
    yield from _named_by_somebody([folder.absolute().name])
    profile = header.get("profile") if isinstance(header, dict) else None
    if isinstance(profile, dict) and profile.get("program"):
        yield str(profile["program"])
    plan = header.get("plan") if isinstance(header, dict) else None
    parts = plan.get("parts") if isinstance(plan, dict) else None
    for part in parts if isinstance(parts, list) else []:
        foreign = part.get("foreign") if isinstance(part, dict) else None
        if isinstance(foreign, dict) and foreign.get("name"):
            yield str(foreign["name"])


def _named_by_somebody(folders: Iterable[str]) -> Iterator[str]:
    return (name for name in folders if name and not _OUR_FOLDER.match(name))


def _profiles(data: Any) -> Iterator[str]:
    """The names of other profiles: the one that a run was measured for, those whose arrivals it
    used (--arrival profile:RUN, with the vectors behind = in a plan), and the one that it replayed
    (--replay RUN, in older runs --profile RUN, with the mix behind =)."""
    yield from _at(data, ("measured_for",))
    command = data.get("command") if isinstance(data, dict) else None
    for words in (*_at(data, ("profile",)), *_option_values(command, ("--replay", "--profile"))):
        yield PurePosixPath(words.partition("=")[0]).name
    for words in (*_at(data, ("arrival",)), *_option_values(command, ("--arrival",))):
        for word in words.split(","):
            kind, _, run = word.partition(":")
            if kind == "profile":
                yield PurePosixPath(run.partition("=")[0]).name


def _text(path: Path) -> str:
    """The text of a file; empty if it cannot be read, in which case it is not packed either."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _telling(names: Mapping[str, None]) -> Iterator[str]:
    for name in names:
        if name.lower() not in _NOBODY and _WORD.fullmatch(name) and not is_address(name):
            yield name


def is_address(word: str) -> bool:
    try:
        ip_address(word)
    except ValueError:
        return False
    return True


def _documents(suffix: str, text: str) -> Iterator[Any]:
    """The documents in a file of JSON or JSON lines; damaged ones are left out."""
    pieces = text.split("\n") if suffix == ".jsonl" else [text] if suffix == ".json" else []
    for piece in pieces:
        with suppress(ValueError, RecursionError):
            yield json.loads(piece)


def _hosts_of_command(path: Path, text: str) -> Iterator[str]:
    """The hosts in a launcher's command, whether ranks ran there or not."""
    if path.suffix == ".command":
        with suppress(ValueError):
            yield from _named(_option_values(shlex.split(text), _HOST_OPTIONS))


def _hosts(data: Any) -> Iterator[str]:
    values = _option_values(data.get("command"), _HOST_OPTIONS) if isinstance(data, dict) else ()
    yield from _named((*_at(data, _HOST_KEYS), *_under(data, _HOST_VARIABLE), *values))


def _named(lists: Iterable[str]) -> Iterator[str]:
    """The hosts in lists of them, in any notation."""
    for word in lists:
        for each in re.split(r"[,\s]+(?![^\[]*\])", word):
            bare = re.sub(r"(:\d+|\(x?\d+\)|/\d+(\*\d+)?)$", "", each)
            with suppress(UserError):
                yield from expand(bare, "")


def _at(data: Any, keys: tuple[str, ...]) -> Iterator[str]:
    """Texts below these keys, at any depth, in lists and as `name` of objects in lists."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in keys:
                yield from _texts(value)
            if isinstance(value, dict | list):
                yield from _at(value, keys)
    elif isinstance(data, list):
        for item in data:
            if isinstance(item, dict | list):
                yield from _at(item, keys)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item.get("name") if isinstance(item, dict) else item)


def _under(data: Any, variable: re.Pattern[str]) -> Iterator[str]:
    """Values of environment variables whose names match, at any depth."""
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, str) and name.isupper() and variable.search(name):
                yield value
            yield from _under(value, variable)
    elif isinstance(data, list):
        for item in data:
            yield from _under(item, variable)


def _of_process() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account that this machine does not know
        return ""


def _owner(folder: Path) -> str:
    try:
        return folder.owner()
    except (OSError, KeyError):
        return ""


def _homes(folder: Path) -> Iterator[str]:
    for user in dict.fromkeys((os.getuid(), folder.stat().st_uid)):
        with suppress(KeyError):
            home = pwd.getpwuid(user).pw_dir.rstrip("/")
            if home.count("/") > 1:  # /root and / tell nothing
                yield home
