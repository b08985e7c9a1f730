# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes a counter of calls in C that has nothing of the profiler: a wrapper by PMPI for each call
of zoo.c, which adds up calls and the bytes of the own send buffer by what is written here."""

from __future__ import annotations

import re
from pathlib import Path

SENDS: dict[str, str] = {
    **dict.fromkeys(("Send", "Ssend", "Bsend", "Isend"), "to(dest, size(count, datatype))"),
    **dict.fromkeys(("Sendrecv", "Isendrecv"), "to(dest, size(sendcount, sendtype))"),
    "Sendrecv_replace": "to(dest, size(count, datatype))",
    **dict.fromkeys(("Bcast", "Ibcast"), "is(root, comm) * size(count, datatype)"),
    **dict.fromkeys(("Reduce", "Allreduce", "Scan", "Exscan", "Iallreduce"),
                    "size(count, datatype)"),
    **dict.fromkeys(("Gather", "Gatherv", "Allgather", "Allgatherv", "Neighbor_allgather"),
                    "size(sendcount, sendtype)"),
    "Scatter": "is(root, comm) * of(comm) * size(sendcount, sendtype)",
    "Scatterv": "is(root, comm) ? size(sum(sendcounts, of(comm)), sendtype) : 0",
    **dict.fromkeys(("Alltoall", "Ialltoall"), "of(comm) * size(sendcount, sendtype)"),
    "Alltoallv": "size(sum(sendcounts, of(comm)), sendtype)",
    "Alltoallw": "size(sum(sendcounts, of(comm)), MPI_INT)",
    "Reduce_scatter": "size(sum(recvcounts, of(comm)), datatype)",
    "Reduce_scatter_block": "of(comm) * size(recvcount, datatype)",
    "Neighbor_alltoall": "2 * size(sendcount, sendtype)",
    **dict.fromkeys(("Put", "Rput", "Accumulate"), "size(origin_count, origin_datatype)"),
}  # fmt: skip
"""The bytes that a call sends, in C, by the names of its arguments."""
STARTED = 13 * 4
"""The bytes of each start of a send of zoo.c, whether in one or in partitions."""

HEAD = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static long long size(int count, MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return (long long)count * bytes;
}
static long long of(MPI_Comm comm) { int n = 0; PMPI_Comm_size(comm, &n); return n; }
static long long is(int root, MPI_Comm comm) {
  int own = 0;
  PMPI_Comm_rank(comm, &own);
  return own == root;
}
static long long to(int dest, long long bytes) { return dest == MPI_PROC_NULL ? 0 : bytes; }
static int sum(const int *counts, long long n) {
  int all = 0;
  for (long long k = 0; k < n; ++k) all += counts[k];
  return all;
}
static struct { const char *name; long long calls, bytes; } seen[200];
static void zoo_count(const char *name, long long bytes) {
  int n = 0;
  while (seen[n].name && seen[n].name != name) ++n;
  seen[n].name = name;
  ++seen[n].calls;
  seen[n].bytes += bytes;
}
static void print(int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", getenv("ZOO_COUNTS"), rank);
  FILE *file = fopen(path, "w");
  for (int n = 0; seen[n].name; ++n) {
    fprintf(file, "%s %lld %lld\\n", seen[n].name, seen[n].calls, seen[n].bytes);
  }
  fclose(file);
}
"""


def write_counter(header: str, zoo: Path, target: Path) -> None:
    """Writes the counter, by the declarations of an MPI's header after the preprocessor."""
    names = sorted(set(re.findall(r"\bMPI_([A-Z][a-z]\w*)\(", zoo.read_text())))
    target.write_text("\n".join([HEAD, *(_wrapper(name, header) for name in names)]))


def _wrapper(name: str, header: str) -> str:
    found = re.search(rf"\bint\s+MPI_{name}\s*\(([^;()]*)\)[^;]*;", header)
    assert found, name
    parameters = [" ".join(each.split()) for each in found[1].split(",")]
    words = [] if parameters == ["void"] else [_name_of(each) for each in parameters]
    bytes_of = SENDS.get(name, f"{STARTED}" if name == "Startall" else "0")
    before = [f'  zoo_count("MPI_{name}", {bytes_of});']
    if name == "Finalize":
        before += ["  int rank;", "  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);", "  print(rank);"]
    call = f"  return PMPI_{name}({', '.join(words)});"
    head = f"int MPI_{name}({', '.join(parameters)}) {{"
    return "\n".join([head, *before, call, "}"])


def _name_of(parameter: str) -> str:
    name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", parameter)
    assert name, parameter
    return name[1]
