# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Replaces names, addresses and environment values in a run, each always by the same pseudonym.

Values of a record's own vocabulary (`hot`, `barrier`) stay, even if a host or a user has the same
name. Names of projects in paths are not recognized and stay, too.
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
"""Keys whose values are mpigauge's own words, or times."""
_NUMBERED = {
    "function": "function", "source_file": "file", "library_file": "module",
    "program_file": "program", "arguments": "word", "communicator": "communicator",
    "region": "region", "type_name": "type", "operation_name": "operation", "build_id": "build",
}  # fmt: skip
"""Keys of profiles whose values are names in the user's program, and the pseudonyms' kinds."""
_OF_MPI = "MPI_"
"""The prefix of names that all programs share."""
_LINE_OF_USER = "--"
"""The separator before the user's own words in a command of mpigauge."""
_BATCH = ("SLURM_", "PBS_", "LSB_")
_BATCH_SET = re.compile(r"\b((?:SLURM|PBS|LSB)_\w+)=('[^']*'|\"[^\"]*\"|\S*)")
_BUILDER = re.compile(r"(Open MPI )[^\s@]+@\S+( Distribution)")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
"""Matched only at the start of a word: from each letter, matching would take quadratic time."""
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\w)")
_COLONS = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5,}(?![\w:-])")
_GUID = re.compile(r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3,7}")
_LONG_ENOUGH = 3
"""Letters of a host name before its number that suffice to recognize related hosts."""
_SECRET = 6
"""The least length of an environment value that is replaced everywhere; shorter ones are common
words and numbers, which are only replaced where their variable is set."""
STAYS = (
    "what was measured, with what: benchmarks, sizes, times, options and settings of the MPI",
    "the machine: processors, memory, devices, kernel, drivers, versions and MPIs",
    "other names in paths, as of projects",
    "what programs have printed (logs, messages of errors)",
    "environment variables that explain numbers, as the passport has them",
    "dates",
)
"""Contents that are not removed, for users who publish a run."""
_NEVER = "(?!)"
_ANY_DOMAIN = ("local", "localdomain", "lan", "internal", "novalocal", "cluster")


class Anonymizer:
    """Assigns pseudonyms and keeps them: node1, node2, …, user1, …, address1, …."""

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
        forms = list(dict.fromkeys(form for value in names.values for form in _forms(value)))
        for value in names.values:
            whole = self._pseudonym("value", value)
            self._new |= {form.lower(): whole for form in _forms(value)}
        for label in names.labels:
            if len(label) >= _LONG_ENOUGH and label.lower() not in self._new:
                self._pseudonym("label", label)
        self._values = _any_of(each for each in forms if len(each) >= _SECRET)
        self._set = self._setting(forms)
        self._stems = {_stem(host) for host in names.hosts if len(_stem(host)) >= _LONG_ENOUGH}
        self._names = self._pattern()

    def taken(self) -> dict[str, int]:
        """The number of replaced names, by kind."""
        return dict(sorted(self._counts.items()))

    def text(self, text: str) -> str:
        """Any text, anonymized."""
        text = self._values.sub(lambda m: self._pseudonym("value", m[0]), text)
        text = self._set.sub(lambda m: f"{m['before']}{self._value_of(m['value'])}", text)
        text = _BATCH_SET.sub(lambda m: f"{m[1]}={_unless_number(m[2])}", text)
        text = _BUILDER.sub(r"\1user@host\2", text)
        text = _MAIL.sub("user@host", text)
        for pattern in (_MAC, _COLONS, _IPV4):
            text = pattern.sub(lambda m: self._address(m[0]), text)
        return self._names.sub(self._name, text)

    def json(self, text: str) -> str:
        """A JSON document, anonymized; invalid JSON is treated as text."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        return json.dumps(self._value(data), indent=1, ensure_ascii=False) + "\n"

    def lines(self, text: str) -> str:
        """Lines of JSON, anonymized."""
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return self.text(line)
        return json.dumps(self._value(data), separators=(",", ":"), ensure_ascii=False)

    def word(self, text: str) -> str:
        """A word of mpigauge's vocabulary, which stays even if a host or a user has the same
        name."""
        text = self._values.sub(lambda m: self._pseudonym("value", m[0]), text)
        whole = self._new.get(text.lower(), "")
        if whole.startswith("label"):
            return whole
        if whole:
            return text
        return self._names.sub(self._name, text)

    def line(self, text: str) -> str:
        """The command of a launch, which is removed from a profile, where it is the user's own."""
        if self._hides_lines:
            return f"{TAKEN_OUT}\n"
        return self.text(text)

    def cards(self, text: str) -> str:
        """The cards of benchmarks, which hold mpigauge's words and names of the user's programs."""
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
        """The anonymized value; `of_user`: it is the value of a variable that the user set."""
        if isinstance(value, dict):
            values = {}
            for name, item in value.items():
                values[self._key(name, depth)] = self._value(
                    item, name, depth + 1, key == "env" and name in self._variables
                )
            return values
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
        """The anonymized key: hosts may be keys below the top level, where keys are mpigauge's
        own."""
        pseudonym = self._new.get(name.lower(), "")
        if depth and pseudonym.startswith("node"):
            return pseudonym
        return name

    def _named(self, kind: str, name: str) -> str:
        """The pseudonym of a name in the user's program; names of MPI and its libraries stay."""
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
        """Assigns pseudonyms to a host's full name, its short name and its domain."""
        short, _, domain = host.partition(".")
        pseudonym = self._pseudonym("node", short)
        if domain:
            self._new.setdefault(host.lower(), pseudonym)
        if domain and domain.lower() not in _ANY_DOMAIN:
            self._pseudonym("domain", domain)

    def _pseudonym(self, kind: str, name: str) -> str:
        key = name.lower()
        if key not in self._new:
            self._counts[kind] += 1
            self._new[key] = f"{kind}{self._counts[kind]}"
        return self._new[key]

    def _setting(self, forms: Iterable[str]) -> re.Pattern[str]:
        """A pattern for a variable that is set, as in a shell or launcher command; known values
        match as a whole, whatever characters they hold."""
        names = "|".join(re.escape(name) for name in sorted(self._variables)) or _NEVER
        whole = rf"(?:{_any_of(forms).pattern})(?![^\s,'\"])"
        value = rf"(?P<value>{whole}|'[^']*'|\"[^\"]*\"|[^\s,]*)"
        return re.compile(rf"(?P<before>\b(?:{names})=|-genv (?:{names}) ){value}")

    def _value_of(self, text: str) -> str:
        """The pseudonym of a variable's value; an empty value and a pseudonym stay."""
        bare = text.strip("'\"")
        if bare in self._new.values():
            return text
        if text.lower() in self._new:
            return self._new[text.lower()]
        if bare:
            return self._pseudonym("value", bare)
        return text

    def _pattern(self) -> re.Pattern[str]:
        """A pattern for known names, longest first, and for hosts related to known ones by
        number."""
        named = []
        for name, new in self._new.items():
            if not new.startswith("value"):
                named.append(name)
        words = [re.escape(name) for name in sorted(named, key=len, reverse=True)]
        stems = [re.escape(stem) for stem in sorted(self._stems, key=len, reverse=True)]
        words_of_run = rf"(?P<known>{'|'.join(words) or _NEVER})(?![A-Za-z0-9])"
        brothers = rf"(?P<list>(?:{'|'.join(stems) or _NEVER})(?:\d+|\[[\d,-]+\]))"
        return re.compile(rf"(?<![A-Za-z0-9])(?:{words_of_run}|{brothers})", re.IGNORECASE)

    def _name(self, match: re.Match[str]) -> str:
        if name := match["known"]:
            return self._new[name.lower()]
        try:
            hosts = expand(match["list"], "")
        except UserError:
            return "node"
        return ",".join(self._pseudonym("node", host) for host in hosts)

    def _address(self, text: str) -> str:
        """The pseudonym of an address; loopback addresses, versions and times stay."""
        loopback = text.startswith("127.") or text in ("0.0.0.0", "::1")
        if loopback or not (is_address(text) or _MAC.fullmatch(text) or _GUID.fullmatch(text)):
            return text
        return self._pseudonym("address", text)


def _forms(value: str) -> tuple[str, ...]:
    """A value as it is and as quoted for a shell, also without the outer quotes."""
    quoted = shlex.quote(value)
    return tuple(dict.fromkeys((value, quoted, quoted[1:-1] if quoted != value else value)))


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))) or _NEVER)


def _stem(host: str) -> str:
    """The part of a host's short name before the number at its end; empty without one."""
    short = host.partition(".")[0]
    if short[-1:].isdigit():
        return short.rstrip("0123456789")
    return ""


def _unless_number(value: str) -> str:
    """The value of a batch system's variable: counts stay, names and lists are removed."""
    if re.fullmatch(r"['\"]?-?[\d.]*['\"]?", value):
        return value
    return TAKEN_OUT


def bytes_without(anonymizer: Anonymizer, name: str, content: bytes) -> bytes:
    """The content of a file of a run. Samples and counters of profiles are only numbers."""
    if name.endswith((".bin", ".npz")):
        return content
    text = content.decode("utf-8", "surrogateescape")
    if name == "cards.json":
        return anonymizer.cards(text).encode("utf-8", "surrogateescape")
    kinds = {".jsonl": anonymizer.lines, ".json": anonymizer.json, ".command": anonymizer.line}
    change = kinds.get(PurePosixPath(name).suffix, anonymizer.text)
    return change(text).encode("utf-8", "surrogateescape")
