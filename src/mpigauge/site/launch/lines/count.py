# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Counts the ranks in a launch line of a log, for any launcher.

Unlike `read`, which parses a line that is about to be started, this accepts a line as it is: with a
prompt before it, with unknown options, and without the files that it names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import added_up, parse_hosts

NEXT = ":"
LONGEST = 1 << 14
"""No launch line has more characters."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_MPIRUN = {
    **dict.fromkeys(("n", "np", "c", "ntasks"), "ranks"),
    **dict.fromkeys(("ppn", "perhost", "npernode", "N"), "each"),
    **dict.fromkeys(("hosts", "host", "H", "hostlist"), "hosts"),
}
_SRUN = {
    **dict.fromkeys(("n", "ntasks"), "ranks"),
    **dict.fromkeys(("N", "nodes"), "sets"),
    **dict.fromkeys(("ntasks-per-node", "tasks-per-node"), "each"),
    **dict.fromkeys(("w", "nodelist"), "hosts"),
}
_JSRUN = {
    **dict.fromkeys(("p", "np"), "ranks"),
    **dict.fromkeys(("n", "nrs"), "sets"),
    **dict.fromkeys(("a", "tasks_per_rs"), "each"),
}
_APRUN = {"n": "ranks", "pes": "ranks"}
MEANINGS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("srun", "flux"), _SRUN),
    "jsrun": _JSRUN,
    "lrun": {"n": "ranks", "N": "sets", "T": "each"},
    **dict.fromkeys(("aprun", "palsrun"), _APRUN),
    "poe": {"procs": "ranks"},
    **dict.fromkeys(
        ("mpirun", "mpiexec", "mpirun_rsh", "orterun", "prterun", "prun", "ibrun", "ccc_mprun",
         "runjob"),
        _MPIRUN,
    ),
}  # fmt: skip
"""The meaning of options, by launcher: all ranks, sets of them (nodes, resource sets), or the ranks
of each set."""
_ONE_EACH = "jsrun"
"""A launcher whose sets have one rank by default."""


def count_ranks(line: str, is_program: Callable[[str], bool]) -> int:
    """Returns the number of ranks that a line starts, over all programs between `:`; 0: unknown.
    `is_program` recognizes the word after which options are the program's own."""
    if len(line) > LONGEST:
        return 0
    counts = []
    launcher = ""
    for words in _programs(_words(line)):
        launcher, options = _of_launcher(words, is_program, launcher)
        counts.append(_ranks(launcher, options))
    return sum(counts) if counts and all(counts) else 0


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _programs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for at, word in enumerate(words):
        if word == NEXT:
            yield words[start:at]
            start = at + 1
    yield words[start:]


def _of_launcher(
    words: Sequence[str], is_program: Callable[[str], bool], before: str
) -> tuple[str, Sequence[str]]:
    """Returns the last launcher before a program, and its options. `before`: the launcher of the
    previous program, which also starts this one."""
    end = next((at for at, word in enumerate(words) if is_program(word)), len(words))
    for at in range(end - 1, -1, -1):
        name = PurePath(words[at]).name.partition(".")[0]
        if name in MEANINGS:
            return name, words[at + 1 : end]
    return before, words[:end]


def _ranks(launcher: str, words: Sequence[str]) -> int:
    """Returns the number of ranks of one program; 0: its options do not specify it."""
    values = dict(_values(MEANINGS.get(launcher, _MPIRUN), words))
    if "ranks" in values:
        return values["ranks"]
    each = values.get("each", 1 if launcher == _ONE_EACH else 0)
    return values.get("sets", values.get("hosts", 0)) * each


def _values(meanings: Mapping[str, str], words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yields the meaning of each option in these words, and its number."""
    for at, word in enumerate(words):
        if not word.startswith("-"):
            continue
        name, sign, value = word.lstrip("-").partition("=")
        if name not in meanings and not word.startswith("--") and name[:1] in meanings:
            name, sign, value = name[0], "=", name[1:]  # -n4
        text = value if sign else "".join(words[at + 1 : at + 2])
        meaning = meanings.get(name, "")
        if meaning == "hosts":
            yield meaning, _hosts(text)
        elif meaning and _NUMBER.fullmatch(text):
            yield meaning, int(text)


def _hosts(text: str) -> int:
    try:
        return len(parse_hosts(text, "", added_up))
    except UserError:
        return 0
