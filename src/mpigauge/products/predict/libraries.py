# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The algorithms that MPIs choose without settings, of versions whose rules are published.

A rule has, for each number of ranks, sizes below which an algorithm is taken: numbers of ranks and
sizes are the first that are not reached. The names are those of our schedules; an algorithm of
which there is no schedule has its own name, and no prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RULES: Mapping[str, Mapping[str, str]] = {
    # The fixed decisions of coll/tuned, for operations that commute; of one communicator that no
    # other component (hcoll, han) serves. A linear one with synchronisation counts as linear, a
    # reduction and then a broadcast as binomial. Sizes are those of the benchmarks.
    "openmpi-4.1": {
        "Allreduce": """
            4: 8 ring, 4Ki recursive_doubling, 8Ki ring, 16Ki recursive_doubling, 64Ki
               ring, 256Ki segmented_ring, rabenseifner
            8: 16 ring, 8Ki recursive_doubling, rabenseifner
            16: 8Ki recursive_doubling, rabenseifner
            32: 64 segmented_ring, 4Ki recursive_doubling, rabenseifner
            64: 128 segmented_ring, rabenseifner
            128: 256Ki recursive_doubling, rabenseifner
            256: 128Ki binomial, 256Ki recursive_doubling, rabenseifner
            512: 4Ki binomial, rabenseifner
            2048: 2Ki binomial, 16Ki recursive_doubling, rabenseifner
            4096: 2Ki binomial, 4Ki segmented_ring, 16Ki recursive_doubling,
               rabenseifner
            any: 2Ki binomial, 16Ki segmented_ring, 32Ki recursive_doubling, ring""",
        "Alltoall": """
            3: 32Ki pairwise, 256Ki linear, pairwise
            8: 512Ki linear, 1Mi pairwise, linear
            16: linear
            32: 4 linear, 512 bruck, linear
            64: 512 bruck, linear
            128: 1Ki bruck, 256Ki linear, pairwise
            256: 1Ki bruck, 256Ki linear, pairwise
            512: 1Ki bruck, 32Ki linear, pairwise
            1024: 512 bruck, 256Ki linear, pairwise
            2048: 512 bruck, linear
            4096: 1Ki bruck, linear
            8192: 2Ki bruck, linear
            any: pairwise""",
        "Allgather": """
            3: pairwise
            32: recursive_doubling
            64: 1Ki recursive_doubling, 64Ki neighbor, ring
            128: 512 recursive_doubling, 64Ki neighbor, ring
            256: 512 recursive_doubling, 128Ki neighbor, 512Ki ring, 1Mi neighbor,
               ring
            512: 32 recursive_doubling, 128 bruck, 1Ki recursive_doubling, 128Ki
               neighbor, 512Ki ring, 1Mi neighbor, ring
            1024: 64 recursive_doubling, 256 bruck, 2Ki recursive_doubling, neighbor
            2048: 4 recursive_doubling, 8 bruck, 16 recursive_doubling, 32 bruck, 256
               recursive_doubling, 512 bruck, 4Ki recursive_doubling, neighbor
            4096: 32 bruck, 128 recursive_doubling, 512 bruck, 4Ki recursive_doubling,
               neighbor
            any: 2 recursive_doubling, 8 bruck, 16 recursive_doubling, 512 bruck, 4Ki
               recursive_doubling, neighbor""",
        "Gather": """
            4: 4 linear, 32Ki binomial, 64Ki linear, 128Ki binomial, linear
            8: 1Ki binomial, 8Ki linear, 32Ki binomial, linear
            256: binomial
            512: 2Ki binomial, 8Ki linear, binomial
            any: binomial""",
        "Scatter": """
            4: linear
            8: 2Ki binomial, 4Ki linear, 8Ki binomial, linear
            16: 16Ki binomial, linear
            32: 16Ki binomial, linear
            64: 512 binomial, 8Ki linear, 16Ki binomial, linear
            any: 512 binomial, linear""",
        "Reduce": """
            4: 8 rabenseifner, 16 binary, 32 pipeline, 256Ki linear, 512Ki pipeline,
               1Mi chain, pipeline
            8: 4Ki binary, 64Ki chain, 256Ki binomial, 512Ki linear, 1Mi binomial,
               linear
            16: 8Ki binary, binomial
            32: 4Ki binary, binomial
            256: binomial
            512: 8Ki binomial, 16Ki in_order_binary, binomial
            2048: binomial
            4096: 512 binomial, 1Ki in_order_binary, 8Ki binomial, 16Ki
               in_order_binary, binomial
            any: 16 binomial, 32 in_order_binary, 1Ki binomial, 2Ki in_order_binary,
               8Ki binomial, 16Ki in_order_binary, binomial""",
        "Barrier": """
            4: recursive_doubling
            8: linear
            64: recursive_doubling
            256: dissemination
            512: binomial
            1024: dissemination
            4096: binomial
            any: dissemination""",
        "Bcast": """
            4: 32 pipeline, 256 binary, 512 pipeline, 1Ki knomial, 32Ki linear, 128Ki
               binary, 256Ki chain, 512Ki linear, 1Mi binomial, binary
            8: 64 binary, 128 binomial, 2Ki binary, 8Ki binomial, 1Mi linear, chain
            16: 8 knomial, 64 binary, 4Ki knomial, 16Ki binary, 32Ki binomial, linear
            32: 4Ki knomial, 1Mi binomial, scatter_allgather
            64: 2Ki binomial, knomial
            128: knomial
            256: 2 binomial, 16Ki binary, 32Ki linear, 64Ki binary, knomial
            1024: 16Ki knomial, 32Ki split_binary, knomial
            2048: 512Ki knomial, scatter_allgather
            4096: 256Ki knomial, scatter_allgather
            any: 8Ki knomial, 16Ki binary, knomial""",
    },
}
REDUCED_BYTES = 4
"""The bytes of an element of a reduction, as IMB's MPI_FLOAT."""
LIBRARIES = tuple(_RULES)


def check_library(library: str, operation: str = "") -> None:
    """UserError: its rules are not known, at all or for this collective."""
    if library not in _RULES:
        raise UserError(
            f"--library: the rules of '{library}' are not known; known are {listed(LIBRARIES)}. "
            "Without --library the best algorithm is predicted"
        )
    if operation and not has_rules(library, operation):
        names = listed(_RULES[library])
        raise UserError(f"--library: of {library} the rules for {names} are known, not {operation}")


def has_rules(library: str, operation: str) -> bool:
    return operation in _RULES.get(library, {})


def choice(library: str, operation: str, ranks: int, message_bytes: int) -> str:
    """The name of the algorithm that the library takes."""
    for row in _rows(_RULES[library][operation].split()):
        below, _, entries = row.partition(": ")
        if below == "any" or ranks < int(below):
            name = _of_size(entries, message_bytes)
            return _instead(operation, name, ranks, message_bytes)
    raise AssertionError(operation)  # each ends with `any`


def _instead(operation: str, name: str, ranks: int, message_bytes: int) -> str:
    """The algorithm that Open MPI takes where the one of this name is not possible."""
    if operation == "Allgather" and name == "recursive_doubling" and ranks & (ranks - 1):
        return "bruck"
    if operation == "Allreduce" and "ring" in name and message_bytes < ranks * REDUCED_BYTES:
        return "recursive_doubling"
    return name


def _rows(words: Sequence[str]) -> list[str]:
    """The words, divided before each that ends with a colon."""
    rows: list[str] = []
    for word in words:
        if word.endswith(":"):
            rows.append(word)
        else:
            rows[-1] += f" {word}"
    return rows


def _of_size(entries: str, message_bytes: int) -> str:
    from mpigauge.model.sizes import parse_bytes

    for entry in entries.split(","):
        *limit, name = entry.split()
        if not limit or message_bytes < parse_bytes(limit[0]):
            return name
    raise AssertionError(entries)
