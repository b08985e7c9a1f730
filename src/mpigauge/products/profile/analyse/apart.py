# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Words on ranks that do not see each other: their MPI is not that of the launcher."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mpigauge.model.secrets import masked_words
from mpigauge.site.mpi.query import name_and_version

if TYPE_CHECKING:
    from mpigauge.products.profile.read.rank_file import RankFile
    from mpigauge.products.profile.store.stored import ProfiledJob


def apart_sentence(job: ProfiledJob) -> str:
    """Returns the warning about a job whose ranks do not see each other."""
    file = job.ranks[0]
    mpi = " ".join(name_and_version(file.library))
    return (
        f"Ranks do not see each other: the launcher started {file.launched}, and each is rank 0 of "
        f"1, as the launcher is not that of their MPI, {mpi}. All numbers are of one of them."
    )


def apart_command(file: RankFile) -> str:
    """Returns the command that starts the program of this rank with the launcher of its MPI."""
    name, version = name_and_version(file.library)
    mpi = f"--mpi {name}=={version} " if version and name != "unknown" else ""
    program = shlex.join(masked_words(file.words))
    return f"mpigauge profile --np {file.launched} {mpi}-- {program}"
