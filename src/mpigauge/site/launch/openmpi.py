# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The launcher of Open MPI: that of version 5 (prrte.py), and the one before it (orte.py)."""

from __future__ import annotations

from collections.abc import Mapping

from mpigauge.site.launch import orte, prrte
from mpigauge.site.launch.job import LONGEST_WORD, Command, Job, RankSet, in_words, of_launcher
from mpigauge.site.launch.registry import launcher

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Settings that let Open MPI run as root, as in containers."""


@launcher("openmpi")
def command(job: Job) -> Command:
    variables = {name: value for name, value in job.settings.items() if not is_mca(name)}
    parameters = {name: value for name, value in job.settings.items() if is_mca(name)}
    env = {**job.mpi.env, **variables, **job.env}
    options, files = orte.words_and_files(job) if _is_old(job) else (prrte.words_of_job(job), {})
    words = [str(job.mpi.mpiexec), *options, *_mca(parameters), *_forwarded(env)]
    for number, ranks in enumerate(job.sets()):
        words += [":"] if number else []
        hosts, more = _hosts(job, ranks, number)
        words += ["-n", str(ranks.ranks), *hosts]
        files = {**files, **more}
        words += ranks.words(lambda name, value: ("-x", f"{name}={value}"), "--wdir")
        words += ranks.program
    return Command(tuple(words), {**AS_ROOT, **of_launcher(env)}, files)


def is_mca(name: str) -> bool:
    """True for an MCA parameter, in lowercase letters; environment variables have capitals."""
    return name == name.lower()


def _is_old(job: Job) -> bool:
    """True for Open MPI before version 5, and for Spectrum MPI, which is based on Open MPI 4."""
    major = job.mpi.version.partition(".")[0]
    return job.mpi.name == "spectrum" or (major.isdigit() and int(major) < 5)


def _hosts(job: Job, ranks: RankSet, number: int) -> tuple[list[str], Mapping[str, str]]:
    """Returns the options for the hosts of one set of ranks, and the file of very many hosts."""
    if not ranks.hosts:
        return [], {}
    listed = ",".join(f"{host.name}:{host.ranks}" for host in ranks.hosts)
    if len(listed) <= LONGEST_WORD:
        return ["--host", listed], {}
    file = f"{job.stem}-{number}.hosts"
    lines = (f"{host.name} slots={host.ranks}\n" for host in ranks.hosts)
    return ["--hostfile", file], {file: "".join(lines)}


def _mca(parameters: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(parameters) for word in ("--mca", name, parameters[name])]


def _forwarded(env: Mapping[str, str]) -> list[str]:
    """Returns the -x options; a name alone takes its value from the launcher's environment."""
    visible = in_words(env)
    words = [f"{name}={env[name]}" if name in visible else name for name in sorted(env)]
    return [part for word in words for part in ("-x", word)]
