# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Types of options that name files and folders. One that cannot be read or written is refused while
the command line is read, before anything is built or measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from mpigauge.model.errors import UserError

LATER = "later"
"""The object of a context whose command is carried out later, where paths may be others."""


class CheckedPath(click.Path):
    """A path that is looked at when the command line is read."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is None or not (ctx.resilient_parsing or ctx.obj == LATER):
            try:
                self.check(path)
            except UserError as error:
                self.fail(str(error), param, ctx)
            except OSError as error:  # its name is too long, or a folder above it is closed
                self.fail(f"{path}: {error.strerror}", param, ctx)
        return path

    def check(self, path: Path) -> None:
        """UserError: it is not what the command needs."""
        raise NotImplementedError


class InputFile(CheckedPath):
    """A file that the command reads."""

    def check(self, path: Path) -> None:
        if not path.exists():
            raise UserError(f"there is no file {path}")
        if path.is_dir():
            raise UserError(f"{path} is a folder; name a file")
        if path.is_char_device() or path.is_block_device():
            raise UserError(f"{path} is a device, not a file")


class InputFolder(CheckedPath):
    """A folder that the command reads."""

    def check(self, path: Path) -> None:
        if not path.exists():
            raise UserError(f"there is no folder {path}")
        if not path.is_dir():
            raise UserError(f"{path} is a file; name a folder")


class OutputFile(CheckedPath):
    """A file that the command writes."""

    def check(self, path: Path) -> None:
        from mpigauge.model.outputs import check_file

        check_file(path)


class OutputFolder(CheckedPath):
    """A folder that the command makes with those above it, or writes into."""

    def check(self, path: Path) -> None:
        from mpigauge.model.outputs import check_folder

        check_folder(path, with_parents=True)


class RunFolder(CheckedPath):
    """The folder of a run, which holds nothing yet, or of several runs, each in a folder of its
    own."""

    def check(self, path: Path) -> None:
        from mpigauge.model.outputs import check_empty, check_folder

        check_folder(path)
        if not _holds_only_folders(path):
            check_empty(path)


def _holds_only_folders(path: Path) -> bool:
    """True if this may be the folder of several runs; the writer of one run refuses it."""
    return path.is_dir() and all(entry.is_dir() for entry in path.iterdir())
