# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Takes names, addresses and values of the environment out of a run, each always in the same way.

What the columns of a record mean is not touched: words of ours (`hot`, `barrier`) stay even where a
host or a user is called so. Names of projects in paths are not known to us and stay too.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import expand
from mpigauge.runs.store.names import is_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.runs.store.names import Names

TAKEN_OUT = "(taken out)"
_KEEP = {
    "record", "suite", "benchmark", "benchmarks", "datatype", "op", "cache", "data", "sync",
    "completion", "layout", "mode", "memory", "origin", "stop", "check", "statistic", "stopped",
    "when", "unit", "better", "status", "created", "ended", "time", "taken", "version",
    "mpi_standard", "abi", "thread_level", "thread_level_asked",
}  # fmt: skip
"""Keys whose values are words of ours, or times."""
_NUMBERED = {
    "function": "function", "source_file": "file", "library_file": "module",
    "program_file": "program", "arguments": "word", "communicator": "communicator",
    "region": "region", "type_name": "type", "operation_name": "operation", "build_id": "build",
}  # fmt: skip
"""Keys of profiles, whose values are names of the user's program, and what stands for them."""
_OF_MPI = "MPI_"
"""What names begin with that all programs share."""
_LINE_OF_USER = "--"
"""What stands before the user's own words in a command of ours."""
_BATCH = ("SLURM_", "PBS_", "LSB_")
_BATCH_SET = re.compile(r"\b((?:SLURM|PBS|LSB)_\w+)=('[^']*'|\"[^\"]*\"|\S*)")
_BUILDER = re.compile(r"(Open MPI )[^\s@]+@\S+( Distribution)")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
"""Looked for where a word begins: from each letter of it anew would take its length squared."""
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\w)")
_COLONS = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5,}(?![\w:-])")
_GUID = re.compile(r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3,7}")
_LONG_ENOUGH = 3
"""Letters of a host's name before its number, to know its brothers by."""
_SECRET = 6
"""Letters of a value of the environment that is looked for everywhere; shorter ones are words and
numbers that others have too, and go where their variable is set."""
STAYS = (
    "what was measured, with what: benchmarks, sizes, times, options and settings of the MPI",
    "the machine: processors, memory, devices, kernel, drivers, versions and MPIs",
    "other names in paths, as of projects",
    "what programs have printed (logs, messages of errors)",
    "environment variables that explain numbers, as the passport has them",
    "dates",
)
"""What is not taken out, for those who publish a run."""
_NEVER = "(?!)"
_ANY_DOMAIN = ("local", "localdomain", "lan", "internal", "novalocal", "cluster")


class Anonymizer:
    """Remembers who became whom: node1, node2, …, user1, …, address1, …."""

    def __init__(self, names: Names) -> None:
        self._new: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        for host in names.hosts:
            self._know_host(host)
        for user in names.users:
            self._pseudonym("user", user)
        for home in names.homes:
            user = self._pseudonym("user", home.rpartition("/")[2])
            self._new[home.lower()] = f"/home/{user}"
        self._variables = frozenset(names.variables)
        self._hides_lines = names.profile
        self._of_program: dict[tuple[str, str], str] = {}
        known = list(dict.fromkeys(form for value in names.values for form in _forms(value)))
        for value in names.values:
            whole = self._pseudonym("value", value)
            self._new |= {form.lower(): whole for form in _forms(value)}
        for label in names.labels:
            if len(label) >= _LONG_ENOUGH and label.lower() not in self._new:
                self._pseudonym("label", label)
        self._values = _any_of(each for each in known if len(each) >= _SECRET)
        self._set = self._setting(known)
        self._stems = {_stem(host) for host in names.hosts if len(_stem(host)) >= _LONG_ENOUGH}
        self._names = self._pattern()

    def taken(self) -> dict[str, int]:
        """How many of each kind have been taken out."""
        return dict(sorted(self._counts.items()))

    def text(self, text: str) -> str:
        """Any text without them."""
        text = self._values.sub(lambda m: self._pseudonym("value", m[0]), text)
        text = self._set.sub(lambda m: f"{m['before']}{self._value_of(m['value'])}", text)
        text = _BATCH_SET.sub(lambda m: f"{m[1]}={_unless_number(m[2])}", text)
        text = _BUILDER.sub(r"\1user@host\2", text)
        text = _MAIL.sub("user@host", text)
        for pattern in (_MAC, _COLONS, _IPV4):
            text = pattern.sub(lambda m: self._address(m[0]), text)
        return self._names.sub(self._name, text)

    def json(self, text: str) -> str:
        """A JSON document without them; text that is none like any text."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        return json.dumps(self._value(data), indent=1, ensure_ascii=False) + "\n"

    def lines(self, text: str) -> str:
        """Lines of JSON without them."""
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return self.text(line)
        return json.dumps(self._value(data), separators=(",", ":"), ensure_ascii=False)

    def word(self, text: str) -> str:
        """A word of ours, which stays although a host or a user is called so."""
        text = self._values.sub(lambda m: self._pseudonym("value", m[0]), text)
        whole = self._new.get(text.lower(), "")
        if whole.startswith("label"):
            return whole
        if whole:
            return text
        return self._names.sub(self._name, text)

    def line(self, text: str) -> str:
        """The words that started a launch; of a profile they are the user's own."""
        if self._hides_lines:
            return f"{TAKEN_OUT}\n"
        return self.text(text)

    def cards(self, text: str) -> str:
        """Cards of benchmarks, which hold words of ours and names of programs of the user."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        return json.dumps(self._words(data), ensure_ascii=False)

    def _words(self, data: Any) -> Any:
        if isinstance(data, dict):
            return {name: self._words(item) for name, item in data.items()}
        if isinstance(data, list):
            return [self._words(item) for item in data]
        if isinstance(data, str):
            return self.word(data)
        return data

    def _value(self, value: Any, key: str = "", depth: int = 0, of_user: bool = False) -> Any:
        """`of_user`: it is what the user has set a variable to."""
        if isinstance(value, dict):
            found = {}
            for name, item in value.items():
                found[self._key(name, depth)] = self._value(
                    item, name, depth + 1, key == "env" and name in self._variables
                )
            return found
        if isinstance(value, list):
            if key == "command" and self._hides_lines and _LINE_OF_USER in value:
                value = [*value[: value.index(_LINE_OF_USER) + 1], TAKEN_OUT]
            return [self._value(item, key, depth + 1) for item in value]
        if not isinstance(value, str):
            return value
        if of_user:
            return self._value_of(value)
        if key in _NUMBERED:
            return self._named(_NUMBERED[key], value)
        if key in _KEEP:
            return self.word(value)
        if key.startswith(_BATCH):
            return _unless_number(value)
        return self.text(value)

    def _key(self, name: str, depth: int) -> str:
        """Hosts may be keys, of a table of them; keys of a document itself are ours."""
        found = self._new.get(name.lower(), "")
        if depth and found.startswith("node"):
            return found
        return name

    def _named(self, kind: str, name: str) -> str:
        """What stands for a name in the user's program; those of MPI and its libraries stay."""
        from mpigauge.site.mpi.programs.abi import family_of

        if not name or name.startswith(_OF_MPI):
            return name
        if family_of(PurePosixPath(name).name):
            return PurePosixPath(name).name
        if (kind, name) not in self._of_program:
            self._counts[kind] += 1
            self._of_program[kind, name] = f"{kind}{self._counts[kind]}"
        return self._of_program[kind, name]

    def _know_host(self, host: str) -> None:
        """By its whole name, its short one, and the domain that is left."""
        short, _, domain = host.partition(".")
        known = self._pseudonym("node", short)
        if domain:
            self._new.setdefault(host.lower(), known)
        if domain and domain.lower() not in _ANY_DOMAIN:
            self._pseudonym("domain", domain)

    def _pseudonym(self, kind: str, name: str) -> str:
        known = name.lower()
        if known not in self._new:
            self._counts[kind] += 1
            self._new[known] = f"{kind}{self._counts[kind]}"
        return self._new[known]

    def _setting(self, known: Iterable[str]) -> re.Pattern[str]:
        """A variable that is set, as a shell or a launcher is told it; values that are known as a
        whole, whatever is in them."""
        names = "|".join(re.escape(name) for name in sorted(self._variables)) or _NEVER
        whole = rf"(?:{_any_of(known).pattern})(?![^\s,'\"])"
        value = rf"(?P<value>{whole}|'[^']*'|\"[^\"]*\"|[^\s,]*)"
        return re.compile(rf"(?P<before>\b(?:{names})=|-genv (?:{names}) ){value}")

    def _value_of(self, text: str) -> str:
        """What stands for the value of a variable; nothing for nothing, itself for what stands for
        one already."""
        bare = text.strip("'\"")
        if bare in self._new.values():
            return text
        if text.lower() in self._new:
            return self._new[text.lower()]
        if bare:
            return self._pseudonym("value", bare)
        return text

    def _pattern(self) -> re.Pattern[str]:
        """Known names, the longest first, and brothers of known hosts by their numbers."""
        named = []
        for name, new in self._new.items():
            if not new.startswith("value"):
                named.append(name)
        words = [re.escape(name) for name in sorted(named, key=len, reverse=True)]
        stems = [re.escape(stem) for stem in sorted(self._stems, key=len, reverse=True)]
        known = rf"(?P<known>{'|'.join(words) or _NEVER})(?![A-Za-z0-9])"
        brothers = rf"(?P<list>(?:{'|'.join(stems) or _NEVER})(?:\d+|\[[\d,-]+\]))"
        return re.compile(rf"(?<![A-Za-z0-9])(?:{known}|{brothers})", re.IGNORECASE)

    def _name(self, match: re.Match[str]) -> str:
        if known := match["known"]:
            return self._new[known.lower()]
        try:
            hosts = expand(match["list"], "")
        except UserError:
            return "node"
        return ",".join(self._pseudonym("node", host) for host in hosts)

    def _address(self, text: str) -> str:
        """Addresses of this machine itself, versions and times are none."""
        loopback = text.startswith("127.") or text in ("0.0.0.0", "::1")
        if loopback or not (is_address(text) or _MAC.fullmatch(text) or _GUID.fullmatch(text)):
            return text
        return self._pseudonym("address", text)


def _forms(value: str) -> tuple[str, ...]:
    """A value as it is, and as a shell is told it: alone, and behind the name of its variable."""
    quoted = shlex.quote(value)
    return tuple(dict.fromkeys((value, quoted, quoted[1:-1] if quoted != value else value)))


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))) or _NEVER)


def _stem(host: str) -> str:
    """What stands before the number at the end of a host's short name; nothing without one."""
    short = host.partition(".")[0]
    if short[-1:].isdigit():
        return short.rstrip("0123456789")
    return ""


def _unless_number(value: str) -> str:
    """Of a batch system's variable: counts stay, names and lists do not."""
    if re.fullmatch(r"['\"]?-?[\d.]*['\"]?", value):
        return value
    return TAKEN_OUT


def bytes_without(anonymizer: Anonymizer, name: str, content: bytes) -> bytes:
    """The content of a file of a run. Samples, and what profiles counted, are numbers alone."""
    if name.endswith((".bin", ".npz")):
        return content
    text = content.decode("utf-8", "surrogateescape")
    if name == "cards.json":
        return anonymizer.cards(text).encode("utf-8", "surrogateescape")
    kinds = {".jsonl": anonymizer.lines, ".json": anonymizer.json, ".command": anonymizer.line}
    change = kinds.get(PurePosixPath(name).suffix, anonymizer.text)
    return change(text).encode("utf-8", "surrogateescape")
