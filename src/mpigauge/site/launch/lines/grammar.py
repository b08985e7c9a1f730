# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parses a launch line: options with their values, programs, and `:` between them.

A dialect is a table of options. The meaning of an option is a function that records it in a
`LineDraft`; an option without one has no counterpart among ours and is recorded by its name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.hostfile import parse_hostfile
from mpigauge.model.hostlist import added_up, parse_hosts
from mpigauge.model.hosts import NamedHost
from mpigauge.site.launch.lines.line import Environment, Line, Program

Files = Callable[[str], str]
"""Returns the contents of a file that a line names. UserError: it cannot be read."""
NEXT = ":"
OPTIONAL = -1
"""The number of values of an option that may have one, after `=`."""
PAIR = -2
"""The number of values of an option with a name and a value, in two words or one with `=`."""


class Spoken(NamedTuple):
    """An option with its values, by its position among the words after the launcher."""

    names: tuple[str, ...]
    """The names of options; several letters may be in one word."""
    start: int
    end: int


@dataclass
class EnvironmentDraft:
    """An environment, while a line is parsed."""

    sets: dict[str, str] = field(default_factory=dict)
    passes: list[str] = field(default_factory=list)
    inherits: bool = True

    def done(self) -> Environment:
        return Environment(self.sets, tuple(dict.fromkeys(self.passes)), self.inherits)


@dataclass
class OneProgram:
    """The options of a program, while a line is parsed."""

    ranks: int | None = None
    hosts: tuple[NamedHost, ...] = ()
    env: EnvironmentDraft = field(default_factory=EnvironmentDraft)
    wdir: str = ""

    def done(self, words: Sequence[str]) -> Program:
        return Program(tuple(words), self.ranks, self.hosts, self.env.done(), self.wdir)


@dataclass
class LineDraft:
    """A launch line, while it is parsed."""

    launcher: str
    files: Files
    words: list[str] = field(default_factory=list)
    """The words after the launcher, with the programs of a file instead of its name."""
    spoken: list[Spoken] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Indices of programs in `words`."""
    noted: list[str] = field(default_factory=list)
    """Names of the options in the current word."""
    program: OneProgram = field(default_factory=OneProgram)
    programs: list[Program] = field(default_factory=list)
    env: EnvironmentDraft = field(default_factory=EnvironmentDraft)
    settings: dict[str, str] = field(default_factory=dict)
    hosts: tuple[NamedHost, ...] = ()
    ppn: int | None = None
    in_turn: bool = False
    place: str = ""
    unbound: bool = False
    oversubscribe: bool = False
    transport: str = ""
    agent: tuple[str, ...] = ()
    without: list[str] = field(default_factory=list)
    map_by: str = ""
    bind_to: str = ""
    app_file: str = ""
    """The file of programs, one in each line; empty: none."""
    ranks_file: bool = False
    """True if the apparent program is a file of programs, with the ranks of each."""
    nodes: int | None = None
    """The number of hosts for the ranks."""

    def leave(self, *words: str) -> None:
        """Records words that have no counterpart among our options."""
        self.without.append(" ".join(words))

    def wrong(self, option: str, why: str) -> UserError:
        return UserError(f"{PurePath(self.launcher).name}: {option}: {why}")

    def count(self, option: str, text: str) -> int:
        if text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text):
            return int(text)
        raise self.wrong(option, f"'{text}' is not a number of ranks")

    def host_list(self, option: str, text: str) -> tuple[NamedHost, ...]:
        """Parses a list of hosts; one that is named again has the ranks of both."""
        return parse_hosts(text, f"{PurePath(self.launcher).name}: {option}", added_up)

    def host_file(self, name: str) -> tuple[NamedHost, ...]:
        return parse_hostfile(self.files(name), name)

    def set_variable(self, env: EnvironmentDraft, text: str) -> None:
        """Sets NAME=VALUE; NAME alone is passed as it is."""
        name, sign, value = text.partition("=")
        if sign:
            env.sets[name] = value
        else:
            env.passes.append(name)


Meaning = Callable[[LineDraft, str, Sequence[str]], None]
"""Records an option in a draft, from the option as typed and its values."""


@dataclass(frozen=True)
class Option:
    values: int
    """The number of words that follow it, OPTIONAL or PAIR."""
    means: Meaning | None = None
    """Records it; None: it has no counterpart among ours."""


@dataclass(frozen=True)
class Grammar:
    name: str
    about: str
    """The name of the launcher, for errors."""
    options: Mapping[str, Option] = field(hash=False)
    """The options, by their names without dashes."""
    finish: Callable[[LineDraft], None]
    """Evaluates options that affect each other."""
    file_is_all: bool = False
    """True if a file of programs makes all other options ineffective."""
    shares_with_file: bool = False
    """True if a file of programs gets the line's variables, and the words after `--` as further
    arguments of each program."""
    strict_dashes: bool = False
    """True if one dash begins letters (-n4) and two begin words (--ntasks), as with getopt. False
    if one dash may also begin words."""
    attached: bool = True
    """True if a letter may have its value attached (-n4)."""

    @cached_property
    def letters(self) -> str:
        return "".join(name for name in self.options if len(name) == 1)

    def read(self, words: Sequence[str], files: Files) -> Line:
        """Parses a line. UserError: an unknown option, or an invalid value."""
        return self._line(self.draft(words, files))

    def draft(self, words: Sequence[str], files: Files) -> LineDraft:
        """Parses a line, and keeps the positions of its options and programs."""
        draft = LineDraft(words[0], files, list(words[1:]))
        self._programs(draft)
        if draft.app_file:
            draft = self._of_file(draft)
        if not draft.programs:
            raise UserError(f"{words[0]}: this line of {self.about} names no program")
        self.finish(draft)
        return draft

    def _of_file(self, former: LineDraft) -> LineDraft:
        """Parses the line with the programs of its file, a line each, which must be all."""
        if self.shares_with_file:
            return self._of_file_for_all(former)
        words = [] if self.file_is_all else _before(former)
        draft = LineDraft(former.launcher, former.files, words + _programs_in_file(former))
        self._programs(draft)
        return draft

    def _of_file_for_all(self, former: LineDraft) -> LineDraft:
        """Parses the programs of the file, each with what the line has for all."""
        shared = _Shared.of(former)
        words = _programs_in_file(former, shared.arguments)
        draft = replace(former, words=words, spoken=[], starts=[], programs=[])
        draft.program = OneProgram()
        self._programs(draft)
        draft.programs = [shared.extend(program) for program in draft.programs]
        return draft

    def _line(self, draft: LineDraft) -> Line:
        return Line(
            launcher=draft.launcher,
            dialect=self.name,
            programs=tuple(draft.programs),
            env=draft.env.done(),
            settings=draft.settings,
            hosts=draft.hosts,
            ppn=draft.ppn,
            in_turn=draft.in_turn,
            place=draft.place,
            unbound=draft.unbound,
            transport=draft.transport,
            oversubscribe=draft.oversubscribe,
            agent=draft.agent,
            without=tuple(dict.fromkeys(draft.without)),
        )

    def _programs(self, draft: LineDraft) -> None:
        at = 0
        while at < len(draft.words):
            end = draft.words.index(NEXT, at) if NEXT in draft.words[at:] else len(draft.words)
            start = self._options(draft, at, end)
            if start < end:
                draft.starts.append(start)
                draft.programs.append(draft.program.done(draft.words[start:end]))
                draft.program = OneProgram()
            at = end + 1

    def _options(self, draft: LineDraft, at: int, end: int) -> int:
        """Records the options of one program, and returns the index of its first word."""
        words = draft.words[:end]
        while at < end and words[at].startswith("-") and words[at] != "-":
            if words[at] == "--":
                return at + 1
            draft.noted.clear()
            taken = self._option(draft, words, at)
            draft.spoken.append(Spoken(tuple(draft.noted), at, at + taken))
            at += taken
        return at

    def _option(self, draft: LineDraft, words: Sequence[str], at: int) -> int:
        """Records the option at this index, and returns the number of its words."""
        word = words[at]
        name, sign, value = word.lstrip("-").partition("=")
        option = self.options.get(name)
        if self.strict_dashes and (len(name) == 1) != (not word.startswith("--")):
            option = None
        if option is None:
            return self._unusual(draft, words, at)
        given = [value] if sign else []
        missing = max(self._value_count(option, words[at + 1 : at + 2]) - len(given), 0)
        if sign and option.values == 0:
            raise draft.wrong(word, "it takes no value")
        following = list(words[at + 1 : at + 1 + missing])
        if len(following) < missing:
            raise draft.wrong(word, "its value is missing")
        self._note(draft, word.partition("=")[0], option, [*given, *following])
        return 1 + missing

    def _value_count(self, option: Option, following: Sequence[str]) -> int:
        """Returns the number of values of an option, which may depend on the first of them."""
        if option.values == PAIR:
            return 1 if following and "=" in following[0] else 2
        return max(option.values, 0)

    def _unusual(self, draft: LineDraft, words: Sequence[str], at: int) -> int:
        """Parses a letter with its value or other letters attached, or the beginning of a word."""
        word = words[at]
        name = word.lstrip("-").partition("=")[0]
        if self.attached and not word.startswith("--") and word[1:2] in set(self.letters):
            return self._letters(draft, words, at)
        begun = [each for each in self.options if len(each) > 1 and each.startswith(name)]
        if self.strict_dashes and word.startswith("--") and len(begun) == 1:
            whole = [*words[:at], word.replace(name, begun[0], 1), *words[at + 1 :]]
            return self._option(draft, whole, at)
        hint = did_you_mean(name, self.options)
        raise UserError(
            f"{PurePath(draft.launcher).name}: {self.about} has no option '{word}'{hint}"
        )

    def _letters(self, draft: LineDraft, words: Sequence[str], at: int) -> int:
        """Parses -n4, or -lv: letters without a value, the last one with its own."""
        letter, rest = words[at][1], words[at][2:]
        option = self.options[letter]
        if option.values == 0 and rest:
            self._note(draft, f"-{letter}", option, [])
            return self._option(draft, [*words[:at], f"-{rest}", *words[at + 1 :]], at)
        if option.values == OPTIONAL:
            self._note(draft, f"-{letter}", option, [rest] if rest else [])
            return 1
        return self._option(draft, [*words[:at], f"-{letter}", rest, *words[at + 1 :]], at) - 1

    def _note(self, draft: LineDraft, word: str, option: Option, values: Sequence[str]) -> None:
        draft.noted.append(word.lstrip("-"))
        if option.means is None:
            draft.leave(word, *values)
        else:
            option.means(draft, word, values)


@dataclass(frozen=True)
class _Shared:
    """The parts of a line that all programs of its file get."""

    env: Environment
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, draft: LineDraft) -> _Shared:
        """UserError: the line has a program or a number of ranks beside the file."""
        own = draft.programs[0] if draft.programs else draft.program.done(())
        if draft.programs and draft.words[draft.starts[0] - 1] != "--":
            raise draft.wrong(
                own.words[0],
                f"the programs are those of {draft.app_file}; write -- before arguments for all",
            )
        for option, value in (("-np", own.ranks), ("-h", own.hosts)):
            if value:
                raise draft.wrong(option, f"it belongs in the lines of {draft.app_file}")
        return cls(own.env, own.words)

    def extend(self, program: Program) -> Program:
        """The program with the variables of the line, which go before those of the file. In their
        values %NAME is the value in the file."""
        before = program.env
        sets = {
            name: value.replace(f"%{name}", before.sets[name]) if name in before.sets else value
            for name, value in self.env.sets.items()
        }
        passes = tuple(dict.fromkeys((*before.passes, *self.env.passes)))
        kept = {name: value for name, value in before.sets.items() if name not in self.env.passes}
        return replace(program, env=replace(before, sets={**kept, **sets}, passes=passes))


def _programs_in_file(draft: LineDraft, arguments: Sequence[str] = ()) -> list[str]:
    """The programs of the line's file, as words of a line, with further arguments of each."""
    words: list[str] = []
    for number, line in enumerate(_lines(draft.files(draft.app_file))):
        words += [*([NEXT] if number else []), *_words(draft, line), *arguments]
    return words


def _before(draft: LineDraft) -> list[str]:
    """Returns the options of a line without the one that names a file of programs."""
    kept = [each for each in draft.spoken if draft.words[each.end - 1] != draft.app_file]
    return [word for each in kept for word in draft.words[each.start : each.end]]


def _words(draft: LineDraft, line: str) -> list[str]:
    """Splits a line of a file of programs, with quotes as in a shell."""
    try:
        return shlex.split(line)
    except ValueError:
        raise draft.wrong(draft.app_file, f"a quote has no end: {line}") from None


def _lines(text: str) -> list[str]:
    """Returns the lines of a file of programs, with comments and continuation as in a shell."""
    whole = text.replace("\\\n", " ").splitlines()
    return [line for line in map(str.strip, whole) if line and not line.startswith("#")]


def options_for(means: Meaning, values: int, *names: str) -> dict[str, Option]:
    """Returns options that all have this meaning."""
    return dict.fromkeys(names, Option(values, means))


def unmatched(values: int, names: str) -> dict[str, Option]:
    """Returns options that have no counterpart among ours, from names separated by blanks."""
    return dict.fromkeys(names.split(), Option(values))


# --- what options of several dialects mean --------------------------------------------------------
def ranks(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.program.ranks = draft.count(word, values[0])


def ranks_per_host(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.ppn = draft.count(word, values[0])


def hosts_of_all(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.hosts = draft.host_list(word, values[0])


def hosts_of_file(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.hosts = draft.host_file(values[0])


def own_folder(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.program.wdir = values[0]


def programs_of_file(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.app_file = values[0]


def nothing(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Ignores an option that always holds here, or affects only the launcher itself."""
    del draft, word, values


def merged(*tables: Mapping[str, Option]) -> dict[str, Option]:
    """Merges tables of options. RuntimeError: a name is in two of them."""
    whole: dict[str, Option] = {}
    for table in tables:
        if twice := whole.keys() & table.keys():
            raise RuntimeError(f"options that are there twice: {', '.join(sorted(twice))}")
        whole |= table
    return whole


def names_of(text: str) -> Iterable[str]:
    """Splits a list at its commas."""
    return (name for name in text.split(",") if name)
