# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of Open MPI's mpirun: those of ORTE (up to version 4) and of PRRTE (version 5)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from mpigauge.model.hosts import NamedHost
from mpigauge.site.launch.lines import binding
from mpigauge.site.launch.lines.grammar import (
    Grammar,
    LineDraft,
    hosts_of_file,
    merged,
    nothing,
    options_for,
    own_folder,
    programs_of_file,
    ranks,
    ranks_per_host,
    unmatched,
)

AGENTS = ("plm_rsh_agent", "plm_ssh_agent")
NAMES_OF_VARIABLES = "mca_base_env_list"
"""A parameter that lists variables, like -x."""


def hosts(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Sets the hosts; one without a number has one slot for each time that it is named."""
    host_list = draft.host_list(word, values[0].replace(":*", ""))
    draft.program.hosts = tuple(
        NamedHost(host.name, host.slots or 1, host.place) for host in host_list
    )


def variable(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.set_variable(draft.program.env, values[0])


def parameter(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Sets an MCA parameter; the agent for other hosts is also one."""
    del word
    name, value = values
    if name in AGENTS:
        draft.agent = tuple(shlex.split(value))
    elif name == NAMES_OF_VARIABLES:
        for each in value.split(";"):
            draft.set_variable(draft.program.env, each)
    else:
        draft.settings[name] = value


def of_launcher(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Sets a parameter of PRRTE or PMIx."""
    if values[0] in AGENTS:
        parameter(draft, word, values)
    else:
        draft.leave(word, *values)


def map_by(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    target, _, rest = values[0].partition(":")
    option = f"{word} {values[0]}"
    if target == "ppr":
        count, _, rest = rest.partition(":")
        level, _, rest = rest.partition(":")
        binding.per_object(draft, option, count, level)
    elif target.startswith("pe-list="):
        binding.cores(draft, option, target.partition("=")[2])
    elif target == "rankfile":
        draft.place = f"rankfile:{rest.partition('file=')[2]}"
        rest = ""
    elif target:
        binding.mapped(draft, option, target)
    for each in rest.replace(":", ",").split(","):
        _modified(draft, word, each)


def _modified(draft: LineDraft, word: str, modifier: str) -> None:
    if modifier.upper() == binding.SHARE:
        draft.oversubscribe = True
    elif modifier.upper() not in ("", "SPAN", "ORDERED", "NOOVERSUBSCRIBE", "HWTCPUS", "CORECPUS"):
        draft.leave(f"{word} :{modifier}")


def rank_by(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Evaluates the order of ranks, which by default is that of the mapping."""
    if values[0].lower() == "node":
        draft.in_turn = True
    elif values[0].lower() not in ("slot", "core", "fill"):
        draft.leave(word, *values)


def bind_to(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    binding.bound(draft, f"{word} {values[0]}", values[0])


def per_node(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.ppn = 1


def per_socket(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    binding.per_object(draft, f"{word} {values[0]}", values[0], "socket")


def per_pattern(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    count, _, level = values[0].partition(":")
    binding.per_object(draft, f"{word} {values[0]}", count, level)


def rank_file(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.place = f"rankfile:{values[0]}"


def by_node(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.in_turn = True


def by_core(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.place = "compact"


def share(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.oversubscribe = True


OPTIONS = merged(
    options_for(ranks, 1, "n", "np", "c"),
    options_for(ranks_per_host, 1, "N", "npernode"),
    options_for(per_node, 0, "pernode"),
    options_for(per_socket, 1, "npersocket"),
    options_for(per_pattern, 1, "ppr"),
    options_for(hosts, 1, "H", "host"),
    options_for(hosts_of_file, 1, "hostfile", "machinefile", "default-hostfile"),
    options_for(variable, 1, "x"),
    options_for(own_folder, 1, "wdir", "wd"),
    options_for(parameter, 2, "mca", "gmca", "omca", "gomca"),
    options_for(of_launcher, 2, "prtemca", "gprtemca", "pmixmca", "gpmixmca"),
    options_for(programs_of_file, 1, "app"),
    options_for(map_by, 1, "map-by"),
    options_for(rank_by, 1, "rank-by"),
    options_for(bind_to, 1, "bind-to"),
    options_for(rank_file, 1, "rf", "rankfile"),
    options_for(by_node, 0, "bynode"),
    options_for(by_core, 0, "bycore"),
    options_for(share, 0, "oversubscribe"),
    options_for(
        nothing,
        *(0, "byslot", "nooversubscribe", "bind-to-core", "allow-run-as-root", "noprefix"),
        *("use-hwthread-cpus", "novm", "q", "quiet"),
    ),
    options_for(nothing, 1, "prefix", "personality"),
    unmatched(
        0,
        "report-bindings display-map display-devel-map display-topo display-allocation "
        "display-devel-allocation display-diffable-map tag-output timestamp-output xml "
        "merge-stderr-to-stdout nolocal bind-to-socket do-not-launch do-not-resolve debug tv "
        "debug-daemons debug-daemons-file debug-devel d leave-session-attached v verbose "
        "report-state-on-timeout get-stack-traces report-child-jobs-separately index-argv-by-rank "
        "preload-binary s set-cwd-to-session-dir show-progress enable-recovery disable-recovery "
        "continuous output-proctable use-regexp fwd-mpirun-port stop-on-exec stop-in-init",
    ),
    unmatched(
        1,
        "am tune dvm timeout stdin output-filename output-directory output display path launch- "
        "agent preload-files cpus-per-proc cpus-per-rank cpu-set cpu-list max-restarts ompi- "
        "server hnp report-pid report-uri report-events xterm xml-file debugger max-vm-size "
        "runtime-options rtos forward-signals exec-agent memory-alloc-kinds keepalive stream- "
        "buffering cartofile",
    ),
)

GRAMMAR = Grammar("openmpi", "Open MPI's mpirun", OPTIONS, binding.settle, file_is_all=True)
