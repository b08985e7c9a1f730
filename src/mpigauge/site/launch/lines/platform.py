# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of Platform MPI's mpirun, which was HP-MPI's: those that vendors' scripts still use."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.site.launch.lines import binding
from mpigauge.site.launch.lines.grammar import (
    OPTIONAL,
    Grammar,
    LineDraft,
    Option,
    merged,
    nothing,
    options_for,
    programs_of_file,
    ranks,
    unmatched,
)


def host(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    draft.program.hosts = draft.host_list(word, values[0])


def hosts(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Takes hosts with commas or blanks between them."""
    draft.hosts = draft.host_list(word, ",".join(values[0].replace(",", " ").split()))


def host_file(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Sets the hosts from a file, in which a line may have several."""
    del word
    (name,) = values
    lines = [line.partition("#")[0] for line in draft.files(name).splitlines()]
    draft.hosts = draft.host_list(name, ",".join(" ".join(lines).replace(",", " ").split()))


def variable(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.set_variable(draft.program.env, values[0])


def cpu_bind(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Evaluates [v,]policy[:list]; without a policy each rank gets a core, which is our default."""
    option = f"{word}={values[0]}" if values else word
    text = (values[0] if values else "").lower().removeprefix("v").lstrip(",")
    policy, _, cores = text.partition(":")
    if policy == "map_cpu":
        binding.cores(draft, option, cores)
    elif policy == "rank":
        draft.place = "compact"
    elif policy:
        draft.leave(option)


def cyclic(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.in_turn = True


OPTIONS: dict[str, Option] = merged(
    options_for(ranks, 1, "np", "n"),
    options_for(host, 1, "h"),
    options_for(hosts, 1, "hostlist"),
    options_for(host_file, 1, "hostfile"),
    options_for(variable, 1, "e"),
    options_for(programs_of_file, 1, "f"),
    options_for(cpu_bind, OPTIONAL, "cpu_bind", "cpu-bind"),
    options_for(cyclic, 0, "cyclic"),
    options_for(nothing, 0, "ssh", "mpi64", "mpi32", "nopin", "affopt"),
    unmatched(
        0,
        "prot TCP tcp IBV ibv IBAL ibal UDAPL udapl VAPI vapi PSM psm MX mx GM gm ELAN elan ITAPI "
        "itapi commd rdma srq 1sided ck d j p v W T tv ha lsb_hosts lsb_mcpu_hosts lsf prun srun "
        "spawn dbgspin iscached mpich xrc affstop",
    ),
    unmatched(
        OPTIONAL,
        "intra stdio i universe_size netaddr subnet aff affcycle affwidth affblock affgap affonly "
        "ndd wlm",
    )
    | unmatched(1, "l sp version"),
)

GRAMMAR = Grammar("platform", "Platform MPI's mpirun", OPTIONS, binding.settle)
