# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of Slurm's srun."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines import binding
from mpigauge.site.launch.lines.grammar import (
    OPTIONAL,
    Grammar,
    LineDraft,
    Option,
    merged,
    nothing,
    options_for,
    own_folder,
    ranks,
    ranks_per_host,
    unmatched,
)
from mpigauge.site.launch.lines.line import Program

_RANKS = re.compile(r"\*|\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
_ENTRY = re.compile(r"((?:[^,\"']|\"[^\"]*\"|'[^']*')+)")
"""Matches an entry of a list; commas within quotes do not separate entries."""


def hosts(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.program.hosts = draft.host_list(word, values[0])


def exported(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Evaluates ALL and additions to it, NONE, or a list that replaces all."""
    del word
    env = draft.program.env
    entries = _ENTRY.findall(values[0])
    env.inherits = "ALL" in entries
    for entry in entries:
        if entry not in ("ALL", "NIL", "NONE"):
            name, sign, value = entry.partition("=")
            draft.set_variable(env, f"{name}{sign}{_bare(value)}")


def _bare(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def distribution(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    nodes, _, inside = values[0].partition(":")
    if nodes == "cyclic":
        draft.in_turn = True
    elif nodes not in ("block", "*", ""):
        draft.leave(word, *values)
    if inside == "cyclic":
        draft.place = "scatter"
    elif inside not in ("block", "*", ""):
        draft.leave(f"{word} :{inside}")


def cpu_bind(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    option = f"{word}={values[0]}" if values else word
    target = re.sub(r"^(quiet|verbose|q|v),?", "", values[0] if values else "")
    if target.startswith("map_cpu:"):
        binding.cores(draft, option, target.partition(":")[2])
    elif target:
        binding.bound(draft, option, target)


def share(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.oversubscribe = True


def nodes(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Evaluates -N 2; a range, -N 2-4, has no counterpart."""
    if values[0].isdecimal():
        draft.nodes = draft.count(word, values[0])
    else:
        draft.leave(word, *values)


def several(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Marks the apparent program as a file with a program for each rank."""
    del word, values
    draft.ranks_file = True


def finish(draft: LineDraft) -> None:
    if draft.ranks_file:
        draft.programs = [each for one in draft.programs for each in _by_rank(draft, one)]
    _shared_out(draft)
    binding.settle(draft)


def _shared_out(draft: LineDraft) -> None:
    """Combines numbers of ranks and nodes: srun gives each node the same number if it can."""
    if draft.nodes and draft.ppn and [each.ranks for each in draft.programs] == [None]:
        draft.programs = [replace(draft.programs[0], ranks=draft.nodes * draft.ppn)]
    counts = [program.ranks for program in draft.programs]
    if draft.nodes and draft.ppn is None and len(counts) == 1 and counts[0]:
        if counts[0] % draft.nodes == 0:
            draft.ppn = counts[0] // draft.nodes
        else:
            draft.leave(f"--nodes={draft.nodes}")


def _by_rank(draft: LineDraft, listed: Program) -> Iterator[Program]:
    """Yields the programs of a file with ranks, a program and its arguments in each line."""
    name = listed.words[0]
    for number, text in enumerate(draft.files(name).splitlines(), 1):
        words = shlex.split(text, comments=True)
        if not words:
            continue
        if len(words) < 2 or not _RANKS.fullmatch(words[0]):
            raise UserError(f"{name}, line {number}: write ranks and a program: 0-3 ./app")
        count = None if words[0] == "*" else len(parse_list(words[0]))
        yield replace(listed, words=tuple(words[1:]), ranks=count)


OPTIONS: dict[str, Option] = merged(
    options_for(ranks, 1, "n", "ntasks"),
    options_for(ranks_per_host, 1, "ntasks-per-node"),
    options_for(hosts, 1, "w", "nodelist"),
    options_for(exported, 1, "export"),
    options_for(own_folder, 1, "D", "chdir"),
    options_for(distribution, 1, "m", "distribution"),
    options_for(cpu_bind, OPTIONAL, "cpu-bind", "cpu_bind"),
    options_for(share, 0, "O", "overcommit"),
    options_for(nodes, 1, "N", "nodes"),
    options_for(several, 0, "multi-prog"),
    options_for(nothing, 1, "mpi"),
    options_for(nothing, OPTIONAL, "K", "kill-on-bad-exit"),
    options_for(nothing, 0, "Q", "quiet", "X", "disable-status"),
    unmatched(
        0,
        "E preserve-env H hold k no-kill l label overlap pty quit-on-interrupt reboot "
        "s oversubscribe spread-job u unbuffered use-min-nodes v verbose contiguous Z no-allocate "
        "exact resv-ports gres-flags",
    ),
    unmatched(
        OPTIONAL,
        "I immediate nice propagate compress bcast send-libs exclusive",
    ),
    unmatched(
        1,
        "A account acctg-freq bb bbf bcast-exclude b begin c cpus-per-task comment container "
        "cpu-freq d dependency deadline delay-boot e error epilog gres i input jobid J job-name L "
        "licenses M clusters mail-type mail-user mcs-label o output het-group p partition "
        "power priority prolog profile q qos r relative S core-spec signal slurmd-debug switches "
        "task-epilog task-prolog thread-spec T threads t time time-min W wait wckey "
        "cluster-constraint C constraint mem mincpus reservation tmp x exclude mem-per-cpu "
        "sockets-per-node cores-per-socket threads-per-core B extra-node-info ntasks-per-core "
        "ntasks-per-socket cpus-per-gpu G gpus gpu-bind gpu-freq gpus-per-node gpus-per-socket "
        "gpus-per-task mem-per-gpu mem-bind mem_bind hint tres-per-task",
    ),
)

GRAMMAR = Grammar("srun", "Slurm's srun", OPTIONS, finish, strict_dashes=True)
