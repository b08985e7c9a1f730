# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The reason why a launch failed, from its exit status and the output of launcher and kernels."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Sequence

from mpigauge.measuring.jobs.deaths import BY_SIGNAL

OURS = "mpigauge-kernel: "
MOST_LINES = 2
MOST_OF_A_LINE = 200
_SIGNAL = re.compile(r"signal(?::?\s+|: [\w ]+\()(\d+)", re.IGNORECASE)
"""Either a number, or, as ranks of Open MPI print before they end, a name and its number: `Signal:
Segmentation fault (11)`."""
_TROUBLE = re.compile(
    r"error|fatal|abort|cannot|could not|fail|refus|not found|no such|denied|unable|assert|killed",
    re.IGNORECASE,
)
_STUMBLE = re.compile(r"PMIx server's listener thread failed to start")
"""A message of launchers, before they start any rank, if a process of the same number left files of
another owner; the next attempt has another number."""
_RULE = re.compile(r"-{20,}")
"""A line around a message of Open MPI."""
_TAG = re.compile(r"^\[\d+(?:,\d+)?\](?:<\w+>:?)? ?")
"""The rank in front of a line, as launchers add it on request."""
_CONSEQUENCE = re.compile(
    r"primary job|noticed|detected that|exited|terminated|MPI_ABORT|MPI_Abort|MPI_INIT has failed|"
    r"looks like MPI_INIT",
    re.IGNORECASE,
)
"""Messages about the end of other processes, which follow from the failure."""
_NO_ADDRESS = re.compile(r"unable to get host address for (\S+)")
"""A message of Hydra's proxies, which connect to the launcher."""
_STACK = re.compile(r"(Fatal error in \w+): .*error stack:$")
_STACK_FRAME = re.compile(r"\w+\(\d+\)\.*: *(.*)")
"""The head of MPICH's error stack, and a function in it; the last one has found the error."""
_FACT = re.compile(r"([A-Z]\w*(?: \w+)?): +(\S.*)")
"""A line of a message of Open MPI such as Component: openib."""
_UNTOLD = ("Host", "Local host")
_FRAME = re.compile(r"bad termination|ignore the below|typically refers to|see the faq", re.I)
"""Decoration around launchers' messages."""
_SUMMARY = re.compile(
    r"==== .+ ====$|sizeof\(MPI|MPI\w*(/\w+)?: MPI|MPI(DI|R_CVAR)_\w+: |(num_vcis|tag_bits): |"
    r"MPICH \d[\d.]* |[A-Za-z][A-Za-z ]+: (enabled|disabled|per-vci|MPI_THREAD_\w+)$"
)
"""A line of MPICH's summary of itself, which it prints on request when a job starts."""


def why(status: int, stderr: Iterable[str], stdout: Iterable[str]) -> str:
    """One phrase, such as: exit status 15: Fatal error in MPI_Init: no network."""
    printed = [*stderr, *stdout]
    lines = _telling(printed)
    killed_by = _signal(lines)
    if status >= 0 and killed_by:
        ended = f"a rank was killed by signal {killed_by} ({signal_name(killed_by)})"
    else:
        ended = how_it_ended(status)
    return ": ".join(filter(None, [ended, _words(lines, bool(killed_by), _explained(printed))]))


def signal_of(status: int, lines: Iterable[str]) -> int:
    """The signal that ended a rank or its launcher, from the output or the exit status; 0: none."""
    if named := _signal(lines):
        return named
    if status < 0:
        return -status
    return status - BY_SIGNAL if BY_SIGNAL < status < BY_SIGNAL + signal.NSIG else 0


def failed_to_start(lines: Iterable[str]) -> bool:
    """True for an occasional failure of the launcher itself, after which a restart makes sense."""
    return any(_STUMBLE.search(line) for line in lines)


def how_it_ended(status: int) -> str:
    if status < 0:
        return f"the launcher was killed by signal {-status} ({signal_name(-status)})"
    if status == 0:
        return "it ended without its last record"
    return f"exit status {status}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _telling(lines: Iterable[str]) -> list[str]:
    """Lines that are more than decoration around others, each once."""
    own = (line for line in lines if not _SUMMARY.match(line.strip()))
    stripped = (line.strip(" =-*|").strip()[:MOST_OF_A_LINE] for line in own)
    return list(dict.fromkeys(line for line in stripped if line and not _FRAME.search(line)))


def _signal(lines: Iterable[str]) -> int:
    """The first signal that a line names; 0: none."""
    matches = (match for line in lines if (match := _SIGNAL.search(line)))
    return next((int(match[1]) for match in matches), 0)


def _explained(lines: Sequence[str]) -> str:
    """Returns the cause of a failure as MPICH's error stack or Open MPI's first message has it, or
    in plain words if a launcher hides it; empty: none names one."""
    return _unresolved(lines) or _innermost(lines) or _first_message(lines)


def _unresolved(lines: Sequence[str]) -> str:
    """Returns the remedy if hosts cannot find the machine on which the launcher runs, such as a
    login node; Hydra advises to check for firewalls."""
    for line in lines:
        if unknown := _NO_ADDRESS.search(line):
            return (
                f"the hosts cannot resolve the name of this machine, {unknown[1]}; add it to their "
                "/etc/hosts, or start the command on one of them"
            )
    return ""


def _innermost(lines: Sequence[str]) -> str:
    """Returns the error at the bottom of MPICH's first error stack."""
    text, bottom = "", ""
    for line in lines:
        frame = _STACK_FRAME.match(_TAG.sub("", line).strip())
        if text and frame:
            bottom = frame[1] or bottom
        elif text:
            break
        elif started := _STACK.search(line):
            text = started[1]
    return f"{text}: {bottom}"[:MOST_OF_A_LINE] if bottom else ""


def _first_message(lines: Sequence[str]) -> str:
    """Returns the first sentence of the first message between lines of dashes in which Open MPI
    explains a failure, with the names that it lists below."""
    for paragraph, facts in _messages(lines):
        sentence = _first_sentence(paragraph)
        if not _CONSEQUENCE.search(sentence):
            named = [each for each in facts if each.split(": ")[1] not in sentence]
            return f"{sentence} ({', '.join(named)})" if named else sentence
    return ""


def _messages(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yields the first paragraph of each message between two lines of dashes, and the facts that
    the message lists, except for the host."""
    is_inside, is_first = False, True
    words: list[str] = []
    facts: list[str] = []
    for line in lines:
        text = _TAG.sub("", line).strip()
        if _RULE.fullmatch(text):
            if is_inside and words:
                yield " ".join(words), facts
            is_inside, is_first = not is_inside, True
            words, facts = [], []
        elif is_inside and (fact := _FACT.fullmatch(text)) and fact[1] not in _UNTOLD:
            facts.append(f"{fact[1]}: {fact[2]}")
        elif is_inside and is_first and text:
            words.append(text)
        elif is_inside:
            is_first = not words
    if words:
        yield " ".join(words), facts


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:!?]) ", text)[0].rstrip(":.")[:MOST_OF_A_LINE]


def _words(lines: list[str], signalled: bool, explained: str) -> str:
    """Returns the kernels' own message, else the launcher's explanation, else the first lines that
    report an error, else the last ones."""
    ours = [line.partition(OURS)[2] for line in lines if OURS in line]
    if ours:
        return ours[0]
    if explained and not signalled:
        return explained
    trouble = [line for line in lines if _TROUBLE.search(line) and not _SIGNAL.search(line)]
    if trouble or signalled:
        return " | ".join(trouble[:MOST_LINES])
    return " | ".join(lines[-MOST_LINES:])
