# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Folders of ours, and a lock that a crash cannot leave behind."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tell = Callable[[str], None]


def home() -> Path:
    """Returns the folder in which MPIs are installed."""
    return homes()[0]


def homes() -> list[Path]:
    """Returns the folders of installed MPIs, that for new ones first: $MPIGAUGE_HOME, the virtual
    environment, or the user's data folder, which precedes an environment that is not writable."""
    if chosen := os.environ.get("MPIGAUGE_HOME"):
        return [Path(chosen).expanduser().absolute()]
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "mpigauge"
    if sys.prefix == sys.base_prefix:
        return [data]
    environment = Path(sys.prefix) / "share" / "mpigauge"
    if _can_be_written(environment):
        return [environment]
    return [data, environment]


def _can_be_written(path: Path) -> bool:
    """True if a path is writable, or can be created."""
    nearest = next(folder for folder in (path, *path.parents) if os.access(folder, os.F_OK))
    return os.access(nearest, os.W_OK)


def cache() -> Path:
    """Returns the folder of builds: $MPIGAUGE_CACHE or the user's cache folder."""
    if chosen := os.environ.get("MPIGAUGE_CACHE"):
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mpigauge"


def say_nothing(_: str) -> None:
    """Ignores a report of progress."""


def make_folder(path: Path, what: str, variable: str) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot make the folder for {what}, {path}: {error.strerror}; "
            f"set {variable} to a folder that can be written"
        ) from None
    return path


@contextmanager
def locked(path: Path, *, wait: bool = True, tell: Tell = say_nothing) -> Iterator[bool]:
    """Waits for the lock, and yields whether we hold it. `tell` reports a wait for its holder.

    The operating system frees it when its holder ends, in any way. Some network file systems have
    no locks: there two processes may do the same work, so each has to do it in a folder of its own
    and put the result in place by a rename.
    """
    import fcntl

    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                yield False
                return
            tell(f"waiting for another process, which holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            print(f"mpigauge: no lock on {path}: {error.strerror}; going on", file=sys.stderr)
            yield False
            return
        yield True


@contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """Yields an empty folder next to the target, and removes those left by killed processes."""
    import tempfile

    mark = f".new-{target.name}-"
    for left in target.parent.glob(f"{mark}*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix=mark, dir=target.parent) as work:
            yield Path(work)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
