# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of Hydra: mpirun, mpiexec and mpiexec.hydra of MPICH, MVAPICH and Intel MPI."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.site.launch.lines import binding
from mpigauge.site.launch.lines.grammar import (
    PAIR,
    EnvironmentDraft,
    Grammar,
    LineDraft,
    Option,
    hosts_of_all,
    hosts_of_file,
    merged,
    names_of,
    nothing,
    options_for,
    own_folder,
    programs_of_file,
    ranks,
    ranks_per_host,
    unmatched,
)


def _set(draft: LineDraft, env: EnvironmentDraft, values: Sequence[str]) -> None:
    if len(values) == 2:
        env.sets[values[0]] = values[1]
    else:
        draft.set_variable(env, values[0])


def variable_of_all(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    _set(draft, draft.env, values)


def variable(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    _set(draft, draft.program.env, values)


def listed_of_all(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.env.inherits = False
    draft.env.passes += names_of(values[0])


def listed(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.program.env.inherits = False
    draft.program.env.passes += names_of(values[0])


def none_of_all(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.env.inherits = False


def none(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.program.env.inherits = False


def hosts(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.program.hosts = draft.host_list(word, values[0])


def one_after_another(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.in_turn = True


def agent_kind(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Accepts ssh, rsh and fork; another agent has no counterpart."""
    if values[0] not in ("ssh", "rsh", "fork"):
        draft.leave(word, *values)


def agent(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.agent = (values[0],)


def bind_to(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.bind_to = values[0]


def map_by(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.map_by = values[0]


def finish(draft: LineDraft) -> None:
    """Evaluates binding and mapping. Without -bind-to MPICH does not bind; our default holds."""
    kind, _, rest = draft.bind_to.partition(":")
    if kind == "user":
        binding.cores(draft, f"-bind-to {draft.bind_to}", rest)
    elif kind:
        binding.bound(draft, f"-bind-to {draft.bind_to}", kind)
    if draft.map_by:
        binding.mapped(draft, f"-map-by {draft.map_by}", draft.map_by)
    draft.place = draft.place or binding.pinned(draft.env.sets)
    binding.settle(draft)


OPTIONS: dict[str, Option] = merged(
    options_for(ranks, 1, "n", "np"),
    options_for(ranks_per_host, 1, "ppn", "perhost", "grr"),
    options_for(one_after_another, 0, "rr"),
    options_for(hosts_of_all, 1, "hosts", "hostlist", "machines", "machinelist"),
    options_for(hosts, 1, "host"),
    options_for(hosts_of_file, 1, "f", "hostfile", "machinefile", "machine"),
    options_for(variable_of_all, PAIR, "genv"),
    options_for(variable, PAIR, "env"),
    options_for(listed_of_all, 1, "genvlist"),
    options_for(listed, 1, "envlist"),
    options_for(none_of_all, 0, "genvnone"),
    options_for(none, 0, "envnone"),
    options_for(own_folder, 1, "wdir", "gwdir"),
    options_for(programs_of_file, 1, "configfile"),
    options_for(agent_kind, 1, "launcher", "bootstrap"),
    options_for(agent, 1, "launcher-exec", "bootstrap-exec"),
    options_for(bind_to, 1, "bind-to", "binding"),
    options_for(map_by, 1, "map-by"),
    options_for(nothing, 0, "genvall", "envall"),
    options_for(nothing, 1, "topolib", "demux", "branch-count", "tmpdir"),
    options_for(nothing, 0, "pmi-aggregate", "pmi-noaggregate", "noconf"),
    unmatched(
        0,
        "profile prepend-rank l enable-x disable-x disable-auto-cleanup enable-auto-cleanup "
        "disable-hostname-propagation enable-hostname-propagation hybrid-hosts info pmi-port "
        "print-all-exitcodes skip-launch-node nolocal v verbose debug aps mps gdb gdba "
        "silent-abort print-rank-map prepend-timestamp prot trace check_mpi ilp64 ordered-output",
    ),
    unmatched(
        1,
        "rankmap output-from prepend-pattern outfile-pattern errfile-pattern outfile errfile rmk "
        "membind gpus-per-proc g gpu-subdevs-per-proc iface localhost nameserver order-nodes usize "
        "memory-alloc-kinds genvexcl gpath path gtool gtoolfile hosts-group s tune cpu-bind "
        "use-app-topology",
    ),
    unmatched(4, "pmi_args"),
)

GRAMMAR = Grammar("hydra", "Hydra's mpiexec", OPTIONS, finish, attached=False)
