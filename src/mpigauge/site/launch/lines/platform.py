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
    known,
    merged,
    nothing,
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
    """Several may stand in a line, as in a list."""
    del word
    (name,) = values
    lines = [line.partition("#")[0] for line in draft.files(name).splitlines()]
    draft.hosts = draft.host_list(name, ",".join(" ".join(lines).replace(",", " ").split()))


def variable(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word
    draft.set_variable(draft.program.env, values[0])


def cpu_bind(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """[v,]policy[:list]; without a policy each rank gets a core, which is what we do."""
    said = f"{word}={values[0]}" if values else word
    wanted = (values[0] if values else "").lower().removeprefix("v").lstrip(",")
    policy, _, cores = wanted.partition(":")
    if policy == "map_cpu":
        binding.cores(draft, said, cores)
    elif policy == "rank":
        draft.place = "compact"
    elif policy:
        draft.leave(said)


def cyclic(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.in_turn = True


OPTIONS: dict[str, Option] = merged(
    known(ranks, 1, "np", "n"),
    known(host, 1, "h"),
    known(hosts, 1, "hostlist"),
    known(host_file, 1, "hostfile"),
    known(variable, 1, "e"),
    known(programs_of_file, 1, "f"),
    known(cpu_bind, OPTIONAL, "cpu_bind", "cpu-bind"),
    known(cyclic, 0, "cyclic"),
    known(nothing, 0, "ssh", "mpi64", "mpi32", "nopin", "affopt"),
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
