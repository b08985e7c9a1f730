# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks before anything is started that a command can write its files and folders.

Permissions are not sufficient: root has them in /proc and in a read-only file system. So a folder
is tested with a file that is removed at once.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mpigauge.model.errors import UserError


def check_file(path: Path) -> None:
    """UserError: no file can be written there. An existing file may be replaced."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; name a file")
        if path.exists() and not path.is_file():
            _check_in_place(path)
            return
        _try(path, path.parent)
    except (OSError, ValueError) as error:
        raise _refused(path, error) from None


def _check_in_place(path: Path) -> None:
    """UserError: it is not a pipe, a terminal or the null device, which keep their place."""
    if not os.access(path, os.W_OK):
        raise UserError(f"cannot write {path}: permission denied")
    if path.is_socket():
        raise UserError(f"{path} is a socket; name a file")
    if path.is_fifo() or path.stat().st_rdev == Path(os.devnull).stat().st_rdev:
        return
    if path.is_block_device() or not _is_terminal(path):
        raise UserError(f"{path} is a device; name a file, a pipe or a terminal")


def _is_terminal(path: Path) -> bool:
    terminal = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        return os.isatty(terminal)
    finally:
        os.close(terminal)


def check_folder(path: Path, with_parents: bool = False) -> None:
    """UserError: nothing can be written into this folder, or it cannot be made; `with_parents`: the
    command also makes its parents."""
    try:
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file; name a folder")
        nearest = path if path.exists() else path.parent
        while with_parents and not nearest.exists():
            nearest = nearest.parent
        _try(path, nearest)
    except (OSError, ValueError) as error:
        raise _refused(path, error) from None


def check_empty(folder: Path) -> None:
    """UserError: the folder of a run is not empty."""
    try:
        used = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror}") from None
    if used:
        raise UserError(
            f"{folder} is not empty; two runs cannot share a folder: "
            "name a new one, or continue the run in it with 'mpigauge resume'"
        )


def _try(path: Path, folder: Path) -> None:
    """Makes a file in the folder, and removes it."""
    if not folder.exists():
        raise UserError(f"cannot write {path}: there is no folder {folder}")
    if not folder.is_dir():
        raise UserError(f"cannot write {path}: {folder} is a file, not a folder")
    path.exists()  # its name may be too long
    with tempfile.NamedTemporaryFile(prefix=".mpigauge-", dir=folder):
        pass


def _refused(path: Path, error: OSError | ValueError) -> UserError:
    if isinstance(error, ValueError):
        return UserError(f"cannot write {str(path)!r}: its name holds a zero byte")
    if isinstance(error, FileNotFoundError):
        return UserError(f"cannot write {path}: nothing can be made there")
    return UserError(f"cannot write {path}: {error.strerror}")
