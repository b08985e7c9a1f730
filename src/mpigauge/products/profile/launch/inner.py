# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Replaces a launcher that a script starts by the real one, and adds the profiler to its ranks.

A line that cannot be parsed is passed on unchanged. The hosts in a line are recorded, so that the
files of their ranks are fetched.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.products.profile.launch.gather import note_hosts, prepare_more
from mpigauge.products.profile.launch.launching import (
    FOLDER_VARIABLE,
    LIBRARY_VARIABLE,
    dialect,
    hosts_of,
)
from mpigauge.products.profile.launch.preload import PRELOAD, with_variables
from mpigauge.site.launch.left_session import remove_left_session
from mpigauge.site.launch.lines.read import file_text, read


def main() -> None:
    """Replaces this process by the real launcher. The arguments are those of the stand-in."""
    stand_in, *rest = sys.argv[1:]
    name, folder = Path(stand_in).name, Path(stand_in).parent
    real = _real(name, folder)
    if real is None:
        sys.exit(f"{name}: command not found")
    words = _with_profiler([real, *rest])
    remove_left_session(os.getpid(), os.environ)
    os.execv(real, words)


def _real(name: str, folder: Path) -> str | None:
    """Removes the stand-ins from PATH, and returns the real launcher."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(each for each in folders if Path(each) != folder)
    return shutil.which(name)


def _with_profiler(words: list[str]) -> list[str]:
    """Returns the launch line with the profiler's variables for its ranks."""
    here = dict(os.environ)
    variables = {}
    for name in here:
        if name.startswith(FOLDER_VARIABLE):
            variables[name] = here[name]
    variables[PRELOAD] = here.get(LIBRARY_VARIABLE, "")
    try:
        kind = dialect(words[0], here)
        made = with_variables(words, kind, variables, here, file_text)
        hosts = hosts_of(read(words, kind, file_text))
    except UserError:
        return words
    folder = Path(here.get(FOLDER_VARIABLE, ""))
    note_hosts(folder, hosts)
    for problem in prepare_more(folder, hosts):
        print(f"mpigauge: {problem}", file=sys.stderr)
    return made
