# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What looks in each rank, right after MPI has started there, whether it runs where it should: in
one job with all others, and on the MPI that was asked for. See witness.cpp."""

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
WHAT = "the library that looks where ranks run"
FOLDER = "MPIGAUGE_EXEC"
"""Where ranks note what they found; a rank that finds no such folder on its host notes nothing."""
SOURCE = Path(__file__).with_name("witness.cpp")
BEGINNING = 200
"""Bytes of what a library says of itself that are compared: Open MPI's ABI has room for 256."""
_SAID = "said"
"""The file that the first rank makes that speaks, in its folder."""
_OFFSET, _PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


@dataclass(frozen=True)
class SeenRank:
    """What a rank found."""

    rank: int
    world: int
    host: str
    pid: int
    cores: str
    """Those that it may run on, as lists are written."""
    library: str
    """The first line of what the MPI said of itself."""


def witness() -> Path:
    """The library to be preloaded."""
    return small_library(NAME, SOURCE.read_text(encoding="utf-8"), WHAT)


def variables_for_ranks(mpi: Mpi, abi: Abi | None, ranks: int, folder: str = "") -> dict[str, str]:
    """What it is told by variables: the ranks that are started, the MPI that they should be on, and
    the ABI that the program was made for (None: nobody knows)."""
    said = {
        FOLDER: folder,
        f"{FOLDER}_RANKS": str(ranks),
        f"{FOLDER}_ABI": abi or "",
        f"{FOLDER}_MPI": mpi.label,
        f"{FOLDER}_LIBRARY": f"{digest(mpi.library_string):016x}",
    }
    return {name: value for name, value in said.items() if value}


def digest(text: str) -> int:
    """A digest of the beginning of what a library says of itself, as long as all ABIs have room for
    it, and without its signs that are not printed. (FNV-1a, as witness.cpp has it.)"""
    found = _OFFSET
    for byte in text.encode("utf-8", "replace")[:BEGINNING]:
        if byte > ord(" ") and byte < 127:
            found = ((found ^ byte) * _PRIME) & _WORD
    return found


def seen_ranks(folder: Path) -> list[SeenRank]:
    """What ranks have noted so far, in their order."""
    found = []
    for path in folder.glob("rank.*"):
        with suppress(OSError, ValueError):
            found.append(_read(path.read_text(encoding="utf-8", errors="replace")))
    return sorted(found, key=lambda each: each.rank)


def some_wait(folder: Path) -> bool:
    """Whether a rank has come to MPI_Init, where it waits for the others."""
    return any(folder.glob("entered.*"))


def has_said_why(folder: Path) -> bool:
    """Whether a rank has told why it ended, or we have for it."""
    return (folder / _SAID).exists()


def note_said(folder: Path) -> None:
    """Somebody has been told why the job ends."""
    (folder / _SAID).touch()


def _read(text: str) -> SeenRank:
    rank, world, host, pid, mask, library = text.rstrip("\n").split("\t")
    cores = [core for core, digit in enumerate(mask) if digit == "1"]
    return SeenRank(int(rank), int(world), host, int(pid), as_list(cores), library)
