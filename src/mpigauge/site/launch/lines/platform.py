# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of Platform MPI's mpirun, which was HP-MPI's: those that vendors' scripts still use.

They are those of the HP-MPI User's Guide, 11th edition, chapter 3, "Understanding HP-MPI". Its
section "MPI options" has the options, with "TCP interface selection" (-subnet, -netaddr), and
"Setting environment variables on the command line", where variables of the line go before those of
a file of programs; "Running applications on HP-UX and Linux" has such files, and "Interconnect
support" the names of networks (table 3-5). Lists of hosts with numbers, -nameserver and -dbgspin
are in the release notes of HP-MPI 2.2.5 and 2.2.7.
"""

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
    draft.hosts = draft.host_list(word, _listed(values[0]))


def host_file(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Sets the hosts from a file, in which a line may have several."""
    del word
    (name,) = values
    lines = [line.partition("#")[0] for line in draft.files(name).splitlines()]
    draft.hosts = draft.host_list(name, _listed(" ".join(lines)))


def _listed(text: str) -> str:
    """Hosts with commas or blanks between them, each perhaps followed by its ranks: `a 4 b 4`."""
    listed: list[str] = []
    for word in text.replace(",", " ").split():
        if word.isdecimal() and listed and ":" not in listed[-1]:
            listed[-1] += f":{word}"
        else:
            listed.append(word)
    return ",".join(listed)


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


def tcp(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    """Requires TCP; the names of networks in small letters are wishes (table 3-5)."""
    del word, values
    draft.transport = "tcp"


def cyclic(draft: LineDraft, word: str, values: Sequence[str]) -> None:
    del word, values
    draft.in_turn = True


def finish(draft: LineDraft) -> None:
    """Puts ranks on hosts without numbers in turn, as the release notes have it."""
    if len(draft.hosts) > 1 and not any(each.slots for each in draft.hosts):
        draft.in_turn = True
    binding.settle(draft)


OPTIONS: dict[str, Option] = merged(
    options_for(ranks, 1, "np", "n"),
    options_for(host, 1, "h"),
    options_for(hosts, 1, "hostlist"),
    options_for(host_file, 1, "hostfile"),
    options_for(variable, 1, "e"),
    options_for(programs_of_file, 1, "f"),
    options_for(cpu_bind, OPTIONAL, "cpu_bind", "cpu-bind"),
    options_for(cyclic, 0, "cyclic"),
    options_for(tcp, 0, "TCP"),
    options_for(nothing, 0, "ssh", "mpi64", "mpi32", "nopin", "affopt"),
    unmatched(
        0,
        "prot tcp IBV ibv IBAL ibal UDAPL udapl VAPI vapi PSM psm MX mx GM gm ELAN elan ITAPI "
        "itapi commd rdma srq 1sided ck d j p v W T tv lsb_hosts lsb_mcpu_hosts lsf prun srun "
        "spawn dbgspin iscached mpich xrc affstop dd ndd version help",
    ),
    unmatched(
        OPTIONAL,
        "intra stdio universe_size aff affcycle affwidth affblock affgap affonly ha wlm",
    ),
    unmatched(1, "i l sp subnet netaddr nameserver"),
)

GRAMMAR = Grammar(
    "platform",
    "Platform MPI's mpirun",
    OPTIONS,
    finish,
    shares_with_file=True,
    attached=False,
)
