# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels under the names of IMB's programs: their files, and the list of MPIs for the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds.kernel_build import HOST
from mpigauge.site.mpi.find import WHAT_TO_DO, find, list_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.mpi import Mpi
    from mpigauge.site.builds.folders import Tell

PROGRAMS = tuple(
    f"IMB-{part}"
    for part in (
        *("MPI1", "EXT", "IO", "NBC", "RMA", "MPI4", "MT", "P2P", "HALO"),
        *("MPI1-GPU", "RMA-GPU"),
    )
)
HOME = "mpigauge"
"""The folder next to the programs with the files that they open."""
LIST = "mpis.txt"
HEAD = (
    "# MPIs that the IMB-* of mpigauge beside this folder may open; the first that fits is taken."
)
NOTE = """\
# It is chosen by MPIGAUGE_LIBMPI (the path of a libmpi), else by LD_LIBRARY_PATH, else it is the
# one whose launcher started the program, from here or beside the launcher, else the first from
# here, else what the system's loader finds."""
LINK = f"{HOME}/{HOST}"

# The folders' names of an MPI do not matter here: it is opened by its full path.
NOT_KEPT = ("LD_LIBRARY_PATH",)
MOST_MPIS = 24


def mpis_for(specs: Sequence[str], what: str, tell: Tell) -> tuple[Mpi, ...]:
    """Returns the MPIs of these specs, else all installed ones. UserError: there is none `what`."""
    if specs:
        mpis = tuple(dict.fromkeys(find(spec) for spec in specs))
    else:
        everything = list_all()
        for problem in everything.problems:
            tell(f"left out: {problem}")
        mpis = everything.mpis
    if not mpis:
        raise UserError(f"there is no MPI {what}; {WHAT_TO_DO}")
    return mpis[:MOST_MPIS]


def list_text(mpis: Sequence[Mpi]) -> str:
    """Returns the list of MPIs for the host: a block for each, in the order of preference."""
    return "\n".join([HEAD, NOTE, *(line for mpi in mpis for line in _block(mpi))]) + "\n"


def _block(mpi: Mpi) -> Iterator[str]:
    yield ""
    yield f"mpi {mpi.name} {mpi.version}"
    yield f"  abi {mpi.abi}"
    yield f"  launcher {'openmpi' if mpi.abi == 'ompi' else 'hydra'}"
    yield f"  library {mpi.library}"
    yield f"  mpiexec {mpi.mpiexec.resolve()}"
    for name, value in mpi.env.items():
        if name not in NOT_KEPT:
            yield f"  env {name}={value}"
