# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The library that checks in each rank, right after the start of MPI, that it runs in one job with
all others, and on the requested MPI. See witness.cpp."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.site.mpi.programs.small import small_library

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi

NAME = "libmpigauge_witness.so"
PROFILER = "libmpigauge_profile.so"
"""The library that checks the ranks of a profile itself, and would record the calls of this one."""
WHAT = "the library that checks where ranks run"
FOLDER = "MPIGAUGE_EXEC"
"""The variable with the folder for ranks' records. Hosts without that folder have none."""
SOURCE = Path(__file__).with_name("witness.cpp")
BEGINNING = 200
"""The bytes of a version string that are compared; Open MPI's ABI has room for 256."""
_SAID = "said"
"""The file in its folder that the first rank creates that reports a problem."""
_OFFSET, _PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


@dataclass(frozen=True)
class SeenRank:
    """The record of a rank."""

    rank: int
    world: int
    host: str
    pid: int
    cores: str
    """The cores that it may run on, as a list."""
    library: str
    """The first line of the MPI's version string."""


def witness() -> Path:
    """Returns the library to preload."""
    return small_library(NAME, SOURCE.read_text(encoding="utf-8"), WHAT)


def variables_for_ranks(mpi: Mpi, abi: Abi | None, ranks: int, folder: str = "") -> dict[str, str]:
    """Returns the variables for the library: the number of ranks, the requested MPI, and the ABI
    that the program was built for (None: unknown)."""
    values = {
        FOLDER: folder,
        f"{FOLDER}_RANKS": str(ranks),
        f"{FOLDER}_ABI": abi or "",
        f"{FOLDER}_MPI": mpi.label,
        f"{FOLDER}_LIBRARY": f"{digest(mpi.library_string):016x}",
    }
    return {name: value for name, value in values.items() if value}


def digest(text: str) -> int:
    """Returns a digest of the beginning of a library's version string, cut to the length for which
    all ABIs have room, without its unprintable characters. (FNV-1a, as in witness.cpp.)"""
    state = _OFFSET
    for byte in text.encode("utf-8", "replace")[:BEGINNING]:
        if byte > ord(" ") and byte < 127:
            state = ((state ^ byte) * _PRIME) & _WORD
    return state


def seen_ranks(folder: Path) -> list[SeenRank]:
    """Returns the records of ranks so far, in their order."""
    records = []
    for path in folder.glob("rank.*"):
        with suppress(OSError, ValueError):
            records.append(_read(path.read_text(encoding="utf-8", errors="replace")))
    return sorted(records, key=lambda each: each.rank)


def some_wait(folder: Path) -> bool:
    """True if a rank has reached MPI_Init, where it waits for the others."""
    return any(folder.glob("entered.*"))


def has_said_why(folder: Path) -> bool:
    """True if a rank has reported why it ended, or we have for it."""
    return (folder / _SAID).exists()


def note_said(folder: Path) -> None:
    """Marks that the user has read why the job ends."""
    (folder / _SAID).touch()


def _read(text: str) -> SeenRank:
    rank, world, host, pid, mask, library = text.rstrip("\n").split("\t")
    cores = [core for core, digit in enumerate(mask) if digit == "1"]
    return SeenRank(int(rank), int(world), host, int(pid), as_list(cores), library)
