# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes a short C program for each faulty candidate, as a reproducer for the MPI's developers.

Every element is a pair of integers. In reductions it is a range of ranks, and two ranges may be
joined only if the second follows the first, so that an algorithm that reorders ranks is detected.
Otherwise it is the rank that sent it and its index there.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError
from mpigauge.products.tune.plan import RIGHT
from mpigauge.runs.store.files import failing_as, write_whole
from mpigauge.runs.store.tunings import as_variables
from mpigauge.site.mpi.rule_files.candidates import candidates_of, find_candidate
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.runs.store.tuned_rules import Fault

FOLDER = "faults"
"""The folder of the programs, below the folder of the tuning."""
WORLD = "MPI_COMM_WORLD"


@dataclass(frozen=True)
class Case:
    """A collective in C: `n` elements to or from each of `ranks`, from `sent` to `got`."""

    call: str
    items: str = "n"
    """The number of elements of `got` that a rank checks, in C."""
    first: str = "0"
    """The expected first number of element `i`, in C; `last`: the expected second one."""
    last: str = "ranks - 1"
    second: str = "rank"
    """The second number of element `i` in the send buffer, in C."""
    copied: str = ""
    """The C statement that fills `got` for an in-place call; empty: there is no such call."""
    before: str = ""
    """A C declaration that the call needs."""
    reduces: bool = False


_ALL = "memcpy(got, sent, bytes)"
_EACH = "int each[ranks]; for (int r = 0; r < ranks; ++r) each[r] = n;"
CASES: Mapping[str, Case] = {
    "Allreduce": Case(
        f"MPI_Allreduce(in_place ? MPI_IN_PLACE : sent, got, n, MPI_2INT, op, {WORLD});",
        copied=_ALL,
        reduces=True,
    ),
    "Reduce": Case(
        f"MPI_Reduce(sent, got, n, MPI_2INT, op, 0, {WORLD});",
        items="rank ? 0 : n",
        reduces=True,
    ),
    "Reduce_scatter": Case(
        f"MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : sent, got, each, MPI_2INT, op, {WORLD});",
        copied=_ALL,
        before=_EACH,
        reduces=True,
    ),
    "Reduce_scatter_block": Case(
        f"MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : sent, got, n, MPI_2INT, op, {WORLD});",
        copied=_ALL,
        reduces=True,
    ),
    "Bcast": Case(
        f"memmove(got, rank ? got : sent, bytes); MPI_Bcast(got, n, MPI_2INT, 0, {WORLD});",
        last="i",
        second="i",
    ),
    "Allgather": Case(
        f"MPI_Allgather(in_place ? MPI_IN_PLACE : sent, n, MPI_2INT, got, n, MPI_2INT, {WORLD});",
        items="n * ranks",
        first="i / n",
        last="i % n",
        second="i",
        copied="memcpy(got + rank * n, sent, sizeof(Pair) * n)",
    ),
    "Alltoall": Case(
        f"MPI_Alltoall(in_place ? MPI_IN_PLACE : sent, n, MPI_2INT, got, n, MPI_2INT, {WORLD});",
        items="n * ranks",
        first="i / n",
        last="rank * n + i % n",
        second="i",
        copied=_ALL,
    ),
    "Gather": Case(
        f"MPI_Gather(sent, n, MPI_2INT, got, n, MPI_2INT, 0, {WORLD});",
        items="rank ? 0 : n * ranks",
        first="i / n",
        last="i % n",
        second="i",
    ),
    "Scatter": Case(
        f"MPI_Scatter(sent, n, MPI_2INT, got, n, MPI_2INT, 0, {WORLD});",
        last="rank * n + i",
        second="i",
    ),
}
PROGRAM = """\
// {collective} by {candidate} goes wrong in {label}: {why}.
//   mpicc {name} -o wrong
//   {variables}mpirun -n {ranks} ./wrong
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct {{ int first, last; }} Pair;
{join}int main(int argc, char** argv) {{
  int rank, ranks, wrong = 0;
  {init}
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
{make_op}  int counts[] = {{1, 2, ranks > 1 ? ranks - 1 : 1, ranks, ranks + 1, 1000, 20000}};
  for (int c = 0; c < 7; ++c) for (int in_place = 0; in_place < {ways}; ++in_place) {{
    int n = counts[c]; {before}
    size_t bytes = sizeof(Pair) * n * ranks;
    Pair *sent = malloc(bytes), *got = calloc(1, bytes);
    for (int i = 0; i < n * ranks; ++i) sent[i] = (Pair){{rank, {second}}};
{copy}    {call}
    for (int i = 0; i < ({items}); ++i) wrong += got[i].first != {first} || got[i].last != {last};
    free(sent); free(got);
  }}
  printf("rank %d: %d wrong elements\\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}}
"""
JOIN = """\
void join(void* a, void* b, int* n, MPI_Datatype* type) {  // ranges of ranks that follow each other
  Pair *low = a, *high = b; (void)type;
  for (int i = 0; i < *n; ++i)
    high[i].first = low[i].last + 1 == high[i].first ? low[i].first : -9;
}
"""
MAKE_OP = "  MPI_Op op; MPI_Op_create(join, 0, &op);\n"


def program(fault: Fault, mpi: Mpi, settings: Mapping[str, str], level: str = "") -> str:
    """Returns a C program that reproduces the fault; empty: there is none for the collective.
    `settings`: the settings that show it. `level`: the requested thread level."""
    case = CASES.get(fault.collective)
    if case is None:
        return ""
    variables = [f"{name}={value}" for name, value in sorted(as_variables(settings).items())]
    init = "MPI_Init(&argc, &argv);"
    if level:
        init = f"MPI_Init_thread(&argc, &argv, MPI_THREAD_{level.upper()}, &(int){{0}});"
    return PROGRAM.format(
        collective=fault.collective,
        candidate=fault.candidate or "the default",
        label=mpi.label,
        why=fault.why,
        name=file_name(fault),
        variables="".join(f"{each} " for each in variables),
        ranks=fault.ranks,
        join=JOIN if case.reduces else "",
        init=init,
        make_op=MAKE_OP if case.reduces else "",
        ways=2 if case.copied else 1,
        before=case.before,
        second=case.second,
        copy=f"    if (in_place) {case.copied};\n" if case.copied else "",
        call=case.call,
        items=case.items,
        first=case.first,
        last=case.last,
    )


def file_name(fault: Fault) -> str:
    return f"{fault.collective}-{fault.candidate or 'default'}.c".lower()


def write_programs(
    folder: Path,
    faults: Iterable[Fault],
    mpi: Mpi,
    level: str = "",
) -> list[Fault]:
    """Writes a program for each faulty candidate below the folder of the tuning; returns the
    faults with the paths of their programs. RunError: they cannot be written."""
    with_programs: list[Fault] = []
    for fault in faults:
        text = program(fault, mpi, settings_of_fault(fault, mpi), level)
        if not text:
            with_programs.append(fault)
            continue
        path = folder / FOLDER / file_name(fault)
        if not _is_known(with_programs, fault):
            with failing_as(RunError, path):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, text)
        with_programs.append(replace(fault, program=f"{FOLDER}/{path.name}"))
    return with_programs


def _is_known(faults: Sequence[Fault], fault: Fault) -> bool:
    """True if one of `faults` is of the same candidate."""
    return any(
        (each.collective, each.candidate) == (fault.collective, fault.candidate) for each in faults
    )


def settings_of_fault(fault: Fault, mpi: Mpi) -> dict[str, str]:
    """Returns the settings that show the fault."""
    settings = dict(rule_format_of(mpi.name).measured_with)
    if fault.candidate:
        every = candidates_of(mpi.name)
        settings |= find_candidate(every, fault.collective, fault.candidate).settings
    return settings


def proof_of(fault: Fault, mpi: Mpi, level: str = "") -> str:
    """Returns the command that shows the fault. `level`: the requested thread level."""
    settings = settings_of_fault(fault, mpi)
    words = [f"--set {name}={value}" for name, value in settings.items()]
    if level:
        words.insert(0, f"--thread-level {level}")
    options = " ".join(words)
    return (
        f"mpigauge run {RIGHT.format(fault.collective)} --mpi {shlex.quote(mpi.spec)} "
        f"--ranks {fault.ranks} --oversubscribe --launches 1 {options}".rstrip()
    )
