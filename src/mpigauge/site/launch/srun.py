# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""srun of Slurm, with the way to start processes that the MPI understands: pmi2 or pmix."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from mpigauge.site.launch.job import LONGEST_WORD, Command, Job, RankSet, mask
from mpigauge.site.launch.openmpi import is_mca
from mpigauge.site.launch.registry import launcher

PMI = {"openmpi": "pmix", "spectrum": "pmix", "cray-mpich": "cray_shasta"}
"""The process management interfaces of some MPIs; the others are started with pmi2."""
FIXED = ("--overlap", "--kill-on-bad-exit=1", "--input=none")


@launcher(
    "srun",
    program="srun",
    batch_system="slurm",
    outside="starts ranks in a job of Slurm, and this is not one; begin one with salloc, or use "
    "`mpigauge submit --system slurm`",
    variants=("pmi2", "pmix", "cray_shasta"),
)
def command(job: Job) -> Command:
    """Starts ranks in exactly this order, with a host name for each. Settings are variables."""
    pmi = job.variant or PMI.get(job.mpi.name, "pmi2")
    intel = {"I_MPI_PIN": "0", "I_MPI_PMI": pmi} if job.mpi.name == "intel" else {}
    settings = {f"OMPI_MCA_{n}" if is_mca(n) else n: v for n, v in job.settings.items()}
    words = ["srun", f"--mpi={pmi}", f"--ntasks={job.ranks}", f"--nodes={len(job.hosts) or 1}"]
    nodes, files = _nodes(job)
    words += [*nodes, _bound(job), *FIXED, *(["--overcommit"] if job.oversubscribe else [])]
    words += [f"--chdir={job.wdir}"] if job.wdir else []
    listed, programs = _by_rank(job) if job.apps else (_program(job), {})
    env = {**job.mpi.env, **intel, **settings, **job.env}
    return Command((*words, *listed), env, {**files, **programs})


def _nodes(job: Job) -> tuple[list[str], Mapping[str, str]]:
    """Returns the options for the host of each rank, and the file of many ranks' hosts."""
    fixed, names = "--distribution=arbitrary", ",".join(host for host, _ in job.order)
    if not job.hosts or len(names) <= LONGEST_WORD:
        return [fixed, f"--nodelist={names}"] if job.hosts else [], {}
    file = f"{job.stem}.hosts"  # srun takes a word with a slash for a file
    return [fixed, "--nodelist", file], {file: names.replace(",", "\n") + "\n"}


def _bound(job: Job) -> str:
    """Returns the option for binding; each node gets the whole list, for its local ranks."""
    how = f"mask_cpu:{','.join(map(mask, job.bind))}" if job.bind else "none"
    return f"--cpu-bind={how}"


def _by_rank(job: Job) -> tuple[list[str], Mapping[str, str]]:
    """Returns the option for several programs, and their file; env(1) sets what differs."""
    lines, first = [], 0
    for ranks in job.sets():
        ends = f"{first}-{first + ranks.ranks - 1}" if ranks.ranks > 1 else str(first)
        lines.append(f"{ends} {shlex.join([*_alone(ranks), *ranks.program])}\n")
        first += ranks.ranks
    file = f"{job.stem}.programs"
    return ["--multi-prog", file], {file: "".join(lines)}


def _alone(ranks: RankSet) -> list[str]:
    sets = [f"{name}={value}" for name, value in sorted(ranks.env.items())]
    where = [f"--chdir={ranks.wdir}"] if ranks.wdir else []
    return ["env", *where, *sets] if sets or where else []


def _program(job: Job) -> list[str]:
    """Returns the program; if its words differ between hosts, a shell on each host adds its own."""
    if len(sets := job.sets()) == 1:
        return list(sets[0].program)
    cases = (f'{shlex.quote(h.name)}) set -- "$@" {shlex.join(h.words)};;' for h in job.hosts)
    script = f'case "$SLURMD_NODENAME" in {" ".join(cases)} esac; exec "$@"'
    return ["sh", "-c", script, "sh", *job.program]
