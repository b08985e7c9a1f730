# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The changes that a script to source, or an environment module, makes to the environment.

Both run in a bash of their own; variables that they unset are ignored.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 60.0
MOST_WORDS = 300
"""The maximum length of an error message, in characters."""
MARK = b"\0mpigauge-environment\0"

# The script must not take our words for its own, and its output must not get into ours.
SOURCE = """
script=$1; shift $#
. "$script" >&2 || exit
printf '\\0mpigauge-environment\\0'; command -p env -0
"""
# Both module systems print shell code, and fail in what it returns.
LOAD = """
code=$("$@") || exit
eval "$code" || exit
printf '\\0mpigauge-environment\\0'; command -p env -0
"""

NOT_KEPT = re.compile(
    r"_|SHLVL|PWD|OLDPWD|LINES|COLUMNS|BASH_FUNC_.*|_ModuleTable.*|__LMOD_.*|__MODULES_.*|_LMFILES_|MODULES_.*"
)
"""Variables of the shell and of the module systems themselves."""

MODULE_COMMANDS = (
    "/usr/share/lmod/lmod/libexec/lmod",
    "/usr/lib/x86_64-linux-gnu/modulecmd.tcl",
    "/usr/share/Modules/libexec/modulecmd.tcl",
    "/usr/lib/modulecmd.tcl",
)
MPI_MODULES = re.compile(
    r"(^|[/-])(openmpi|ompi|mpich|mvapich2?|impi|intel-?mpi|hpcx(-mpi)?|cray-mpich|spectrum-mpi"
    r"|mpt|mpi)([-/]|$)",
    re.IGNORECASE,
)
"""Names of modules of MPIs."""


def after_script(script: Path) -> dict[str, str]:
    """Returns the variables that a script sets or changes. UserError: it fails or is missing."""
    if not script.is_file():
        raise UserError(f"there is no script {script}")
    return _changes(["bash", "-c", SOURCE, "bash", str(script.absolute())], f"the script {script}")


def after_module(name: str) -> dict[str, str]:
    """Returns the variables that this module sets or changes. UserError: it does not load."""
    command = module_command()
    if command is None:
        raise UserError(
            f"cannot load the module {name}: there is no module command (Lmod or Environment "
            "Modules) here; name the MPI's folder with --mpi"
        )
    words = ["bash", "-c", LOAD, "bash", *command, "bash", "load", name]
    try:
        return _changes(words, f"the module {name}")
    except UserError as error:
        names = modules()
        hint = "" if name in names else did_you_mean(name, names)
        raise UserError(f"{str(error).rstrip('.')}{hint}") from None


def module_command() -> tuple[str, ...] | None:
    """Returns the program behind `module`, which prints shell code; None: it does not exist."""
    named = (os.environ.get("LMOD_CMD"), os.environ.get("MODULES_CMD"), shutil.which("modulecmd"))
    for program in filter(None, (*named, *MODULE_COMMANDS)):
        if Path(program).is_file():
            tcl = program.endswith(".tcl") and not os.access(program, os.X_OK)
            if tcl:
                return ("tclsh", program)
            return (program,)
    return None


def modules() -> list[str]:
    """Returns the names of all available modules; empty if there is no module command."""
    command = module_command()
    if command is None or not os.environ.get("MODULEPATH"):
        return []
    done = _run([*command, "bash", "-t", "avail"])
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
    names: list[str] = []
    for line in lines:
        if line and not line.endswith((":", "/")):
            names.append(_plain(line))
    return names


def mpi_modules() -> list[str]:
    return [name for name in modules() if MPI_MODULES.search(name)]


def _plain(line: str) -> str:
    """Removes the marks that module systems add to a name: (default), <L>."""
    return re.sub(r"\s*[(<].*$", "", line)


def _changes(words: list[str], what: str) -> dict[str, str]:
    done = _run(words)
    _, mark, listed = done.stdout.partition(MARK)
    if not mark:
        raise UserError(f"{what} does not load: {_reason(done)}")
    return difference(os.environ, _parsed(listed))


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Returns variables that are new or have another value."""
    return {
        name: value
        for name, value in sorted(after.items())
        if before.get(name) != value and not NOT_KEPT.fullmatch(name)
    }


def _parsed(listed: bytes) -> dict[str, str]:
    pairs = (os.fsdecode(entry).partition("=") for entry in listed.split(b"\0") if entry)
    return {name: value for name, _, value in pairs}


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns the first paragraph about an error, else the last one."""
    text = done.stderr.decode("utf-8", "replace")
    paragraphs = []
    for part in re.split(r"\n\s*\n", text):
        if part.strip():
            paragraphs.append(" ".join(part.split()))
    telling = [
        part for part in paragraphs if re.search("error|unable|cannot|not found", part, re.I)
    ]
    words = (telling[:1] or paragraphs[-1:] or [f"it ended with status {done.returncode}"])[0]
    if len(words) <= MOST_WORDS:
        return words
    return f"{words[:MOST_WORDS]}…"


def _run(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    seconds = grown(SECONDS)
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise UserError(f"cannot run {words[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{words[-1]} did not end within {seconds:.3g} s") from None
