# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Puts a file for each name that a launcher may have into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.jobs.agent import python_line
from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines.read import LAUNCHERS

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi

OTHERS = ("mpirun.hydra", "mpirun.mpd", "mpiexec.platform", "mpirun.platform")
"""Names in scripts of vendors, beside those that launchers have themselves."""
NOT_OURS = ("srun",)
"""It belongs to the batch system, which knows it by this name alone."""
MARK = "# written by mpigauge mpi front"


def names() -> list[str]:
    return [name for name in (*LAUNCHERS, *OTHERS) if name not in NOT_OURS]


def write_fronts(
    folder: Path, mpi: str, dialect: str, strict: bool, abi: Abi | None = None
) -> list[Path]:
    """The files, made or made again. `abi`: that of programs that scripts of theirs start.
    UserError: the folder cannot be written, or holds another launcher."""
    call = f"main({mpi!r}, {dialect!r}, {strict!r}, {abi!r})"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / name for name in names()]
        for file in files:
            _refuse_others(file)
        for file in files:
            _write(file, call)
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from None
    return files


def _refuse_others(file: Path) -> None:
    """Nobody's own launcher is written over."""
    if file.is_symlink() or (file.exists() and MARK not in file.read_text(errors="replace")):
        raise UserError(f"{file} is there already, and is none of ours; name another folder")


def _write(file: Path, call: str) -> None:
    line = python_line(f"from mpigauge.products.exec.front.inner import main\n{call}", {})
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(f'#!/bin/sh\n{MARK}\n{line} "$0" "$@"\n', encoding="utf-8")
    draft.chmod(0o755)
    draft.rename(file)
