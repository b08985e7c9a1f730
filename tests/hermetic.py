# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What tests see of the machine and of whoever starts them: nothing that would change a result.

`tests/conftest.py` makes it so before anything else. What is shared with the user are the MPIs that
`mpigauge mpi install` has put in place, built kernels, and what pip and ccache keep.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.builds import folders
from mpigauge.site.mpi import environment, sources
from mpigauge.site.mpi.quick_start import WITHOUT_OFI

if TYPE_CHECKING:
    import pytest

BATCH = ("SLURM_", "PBS_", "LSB_")
"""In a batch job too, tests measure this machine and not the job's hosts."""
SETTINGS = (
    *("OMPI_", "PMIX_", "PRTE_", "PMI_", "MPICH_", "MPIR_", "I_MPI_", "HYDRA_", "UCX_", "FI_"),
    *("CRAY_MPICH_", "OMP_", "OPENBLAS_", "HWLOC_"),
)
"""Of MPIs and libraries."""
MODULES = ("LMOD_", "MODULE", "__MODULES", "BASH_FUNC_", "LOADEDMODULES", "_LMFILES_")
PERSON = ("LC_", "LANG", "XDG_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TZ")
YIELDING = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "50",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "I_MPI_WAIT_MODE": "1",
}
"""Makes waiting ranks of MPICH 5, Open MPI and Intel MPI leave their cores to others. `make test`
runs two jobs at a time, so that even two ranks share two cores; ranks that spin take whole time
slices from each other. On one core 500 messages each way take 13 s with Open MPI and 16 s with
Intel MPI, and less than 1 s where they yield. MPICH's ranks need both settings: with the throttle
alone, all algorithms on 9 ranks of 2 cores take 70 s of processor time, with both 6 s."""
OURS = ("MPIGAUGE_KERNELS",)
SHELL = ("BASH_ENV", "ENV", "CDPATH", "GIT_", "MAKE", "MFLAGS")
UMASK = 0o022
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def isolate() -> None:
    """Leaves a plain environment: an empty home, UTF-8, no settings, no modules."""
    kept = _kept_folders()
    for name in list(os.environ):
        if name.startswith((*BATCH, *SETTINGS, *MODULES, *PERSON, *OURS, *SHELL)):
            del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="mpigauge-tests-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ |= {"HOME": str(home), "LC_ALL": "C.UTF-8", "TZ": "UTC", **kept, **_own(home)}
    os.environ |= WITHOUT_OFI  # Open MPI 5 sleeps for a second in each job otherwise
    os.environ |= YIELDING
    os.environ["MPIGAUGE_HISTORY"] = "off"  # what this machine remembers is not part of a test
    os.umask(UMASK)
    hear_signals()
    keep_bytecode()
    find_python()


def keep_bytecode() -> None:
    """Each file is compiled once, here and in each program that a test starts, as Python does it
    where nobody forbids it: else a command of mpigauge takes twice its time."""
    os.environ.pop(NO_BYTECODE, None)
    sys.dont_write_bytecode = False


def find_python() -> None:
    """Scripts that ask for `python3` get the one that runs the tests. Where versions of Python are
    managed, this name is a script that looks for one, which takes longer than most tests."""
    ours = Path(sys.executable).resolve()
    found = shutil.which("python3")
    if found is None or Path(found).resolve() != ours:
        os.environ["PATH"] = f"{ours.parent}{os.pathsep}{os.environ['PATH']}"


def hear_signals() -> None:
    """Ctrl-C and the like end what tests start, though a shell has them ignored in its background,
    and nohup a lost terminal. Main thread only."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _kept_folders() -> dict[str, str]:
    """By their variables: what would be made again, at much cost, in a new home."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    ccache = Path("~/.ccache").expanduser()
    usual = {
        "MPIGAUGE_HOME": folders.home(),
        "MPIGAUGE_CACHE": folders.cache(),
        "PIP_CACHE_DIR": caches / "pip",
        "CCACHE_DIR": ccache if ccache.is_dir() else caches / "ccache",
    }
    return {name: os.environ.get(name) or str(path) for name, path in usual.items()}


def _own(home: Path) -> dict[str, str]:
    return {
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
    }


def hide_mpis_of_the_system(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither alternatives nor usual prefixes nor modules: the file system looks empty."""
    monkeypatch.setattr(sources, "ROOT", empty)
    monkeypatch.setattr(environment, "MODULE_COMMANDS", ())
