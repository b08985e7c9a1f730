# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Batch systems: the hosts of a job, its script, its states, and what cannot be understood."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.site import batch
from mpigauge.site.batch import BatchState, Wish

NODEFILE = "n1\nn1\nn2\n"


def hosts(tmp_path: Path, **environment: str) -> tuple[str, list[tuple[str, int | None]]]:
    file = tmp_path / "nodes"
    file.write_text(NODEFILE)
    found = batch.here(
        {name: value.replace("NODES", str(file)) for name, value in environment.items()}
    )
    assert found is not None
    return f"{found.system.name} {found.job}", [
        (host.name, host.slots) for host in batch.hosts(found)
    ]


# --- the hosts of the job that we are in -----------------------------------------------------
def test_slurm_gives_tasks_or_cpus(tmp_path: Path) -> None:
    job = {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "n[1-3],gpu",
        "SLURM_TASKS_PER_NODE": "2(x3),1",
    }
    told = [("n1", 2), ("n2", 2), ("n3", 2), ("gpu", 1)]
    assert hosts(tmp_path, **job, SLURM_NTASKS="7") == ("slurm 7", told)
    cpus = {"SLURM_JOB_CPUS_PER_NODE": "128(x3),64"}
    many = [("n1", 128), ("n2", 128), ("n3", 128), ("gpu", 64)]
    assert hosts(tmp_path, **job, **cpus) == ("slurm 7", many)
    each = {"SLURM_NTASKS_PER_NODE": "4", **cpus, "SLURM_TASKS_PER_NODE": "128(x3),64"}
    four = [("n1", 4), ("n2", 4), ("n3", 4), ("gpu", 4)]
    assert hosts(tmp_path, **{**job, **each}) == ("slurm 7", four)
    assert hosts(tmp_path, **job, SLURM_NTASKS_PER_NODE="4", SLURM_NPROCS="7") == ("slurm 7", told)


def test_pbs_has_a_file(tmp_path: Path) -> None:
    told = hosts(tmp_path, PBS_JOBID="8.head", PBS_NODEFILE="NODES")
    assert told == ("pbs 8.head", [("n1", 2), ("n2", 1)])


def test_lsf_has_a_list(tmp_path: Path) -> None:
    told = hosts(tmp_path, LSB_JOBID="9", LSB_MCPU_HOSTS="n1 4 n2 2")
    assert told == ("lsf 9", [("n1", 4), ("n2", 2)])


@pytest.mark.parametrize(
    "environment", [{}, {"SLURM_JOB_NODELIST": "n1"}, {"SLURM_JOB_ID": "1"}, {"PBS_JOBID": "1"}]
)
def test_no_job_or_one_that_names_no_hosts(environment: dict[str, str]) -> None:
    assert batch.hosts(batch.here(environment)) == ()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        (
            {
                "SLURM_JOB_ID": "1",
                "SLURM_JOB_NODELIST": "n[1-3]",
                "SLURM_JOB_CPUS_PER_NODE": "2(x2)",
            },
            "SLURM_JOB_CPUS_PER_NODE names 2 hosts, not the 3 of SLURM_JOB_NODELIST=n[1-3]",
        ),
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-"}, "SLURM_JOB_NODELIST, column 2"),
        (
            {"PBS_JOBID": "1", "PBS_NODEFILE": "/no/file"},
            "list of hosts, /no/file, cannot be read: No",
        ),
        ({"LSB_JOBID": "1", "LSB_MCPU_HOSTS": "n1 4 n2"}, "is not a list of hosts and their slots"),
        ({"LSB_JOBID": "1", "LSB_MCPU_HOSTS": "n1 x"}, "is not a list of hosts and their slots"),
    ],
)
def test_what_cannot_be_understood(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        batch.hosts(batch.here(environment))


def test_hosts_outside_of_the_job() -> None:
    given = batch.here({"LSB_JOBID": "9", "LSB_MCPU_HOSTS": "n1.site 4 n2.site 2"})
    batch.check_inside(given, ["n1", "n2.site", "localhost"])
    with pytest.raises(
        UserError, match=r"host n3 is not in job 9 of lsf, which has n1.site,n2.site"
    ):
        batch.check_inside(given, ["n1", "n3"])
    batch.check_inside(None, ["n3"])
    batch.check_inside(batch.here({"LSB_JOBID": "9"}), ["n3"])


# --- scripts ----------------------------------------------------------------------------------
WISH = Wish(
    "mpigauge", "/w/out.log", nodes=4, ppn=128, minutes=90, queue="short", account="x1",
)  # fmt: skip
SMALL = Wish("mpigauge", "/w/out.log", nodes=2)
WORDS = ("mpigauge", "run", "Allreduce", "--sizes", "8", "--env", "A=b c")


@pytest.mark.parametrize(
    ("name", "option"),
    [("slurm", "--constraint=rome"), ("pbs", "-l mem=4gb"), ("lsf", "-R rusage[mem=4G]")],
)
def test_scripts(name: str, option: str, repository: Path) -> None:
    """As recorded; MPIGAUGE_HOME is what a shell has to be told."""
    system = batch.SYSTEMS[name]
    made = "".join(
        batch.script(system, wish, WORDS, "/w/my runs", {"MPIGAUGE_HOME": "/s h"}) + "\n"
        for wish in (replace(WISH, options=(option,)), SMALL)
    )
    assert made == (repository / "tests" / "golden" / "batch" / f"{name}.txt").read_text()


def test_a_script_is_what_a_shell_understands(tmp_path: Path) -> None:
    say = tmp_path / "say"
    say.write_text('#!/bin/sh\npwd; printf "%s|" "$A" "$@"\n')
    say.chmod(0o755)
    folder = tmp_path / "a b"
    folder.mkdir()
    words = (str(say), "it's", "a\nb", "$HOME", *(f"--word-{number}" for number in range(30)))
    text = batch.script(batch.SYSTEMS["slurm"], SMALL, words, str(folder), {"A": "x y"})
    shell = shutil.which("sh")
    assert shell is not None
    done = subprocess.run([shell], input=text, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == f"{folder}\n" + "".join(f"{word}|" for word in ("x y", *words[1:]))


# --- states -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "status", "answer", "state"),
    [
        ("slurm", 0, "JobState=PENDING Reason=Resources Dep=", BatchState("waiting", "Resources")),
        ("slurm", 0, "JobId=1 JobState=RUNNING Reason=None", BatchState("running")),
        ("slurm", 0, "JobState=TIMEOUT Reason=TimeLimit",
         BatchState("ended", "ran out of its time")),
        ("slurm", 0, "JobId=1 JobState=CANCELLED Reason=None",
         BatchState("ended", "was cancelled")),
        ("slurm", 0, "JobId=1 JobState=COMPLETED Reason=None", BatchState("ended")),
        ("slurm", 1, "slurm_load_jobs error: Invalid job id", BatchState("unknown")),
        ("pbs", 0, "Job Id: 1\n    job_state = Q\n    comment = Not Running: no nodes\n",
         BatchState("waiting", "Not Running: no nodes")),
        ("pbs", 0, "    job_state = R\n", BatchState("running")),
        ("pbs", 0, "    job_state = F\n    Exit_status = 0\n", BatchState("ended")),
        ("pbs", 0, "    job_state = F\n    Exit_status = 271\n",
         BatchState("ended", "was cancelled or ran out of its time")),
        ("pbs", 0, "job_state = F\nExit_status = 1\n", BatchState("ended", "failed with status 1")),
        ("pbs", 153, "", BatchState("unknown")),
        ("lsf", 0, "PEND|-|New job is waiting for scheduling\n",
         BatchState("waiting", "New job is waiting for scheduling")),
        ("lsf", 0, "RUN|-|-\n", BatchState("running")),
        ("lsf", 0, "DONE|-|-\n", BatchState("ended")),
        ("lsf", 0, "EXIT|TERM_RUNLIMIT: job killed after reaching LSF run time limit|-\n",
         BatchState("ended", "ran out of its time")),
        ("lsf", 0, "EXIT|TERM_OWNER: job killed by owner|-\n",
         BatchState("ended", "was cancelled")),
        ("lsf", 0, "EXIT|-|-\n", BatchState("ended", "failed")),
        ("lsf", 255, "", BatchState("unknown")),
    ],
)  # fmt: skip
def test_states(name: str, status: int, answer: str, state: BatchState) -> None:
    assert batch.SYSTEMS[name].state(status, answer) == state


@pytest.mark.parametrize(
    ("name", "answer", "number"),
    [
        ("slurm", "sbatch: note\nSubmitted batch job 12\n", "12"),
        ("pbs", "12.head.cluster\n", "12.head.cluster"),
        ("lsf", "Job <12> is submitted to queue <short>.\n", "12"),
    ],
)
def test_numbers_of_jobs(name: str, answer: str, number: str) -> None:
    found = batch.SYSTEMS[name].number.search(answer)
    assert found is not None
    assert found[1] == number


def test_unknown_systems() -> None:
    with pytest.raises(UserError, match="there is no batch system 'slrum'; did you mean 'slurm'"):
        batch.SYSTEMS.find("slrum")


def test_a_host_of_a_job_has_no_more_room_than_cores(repository: Path) -> None:
    """Slurm counts hardware threads; a host that somebody names has the slots that he says."""
    from mpigauge.session.setup import slots_of
    from mpigauge.session.targets import Target
    from mpigauge.site.topology import built

    machine = built(repository / "tests" / "machines" / "skylake-2s-snc-off.xml")
    given = batch.here({"SLURM_JOB_ID": "1"})
    assert slots_of(80, machine, Target(given=given)) == machine.cores == 40
    assert slots_of(8, machine, Target(given=given)) == 8
    assert slots_of(80, machine, Target()) == 80
    assert slots_of(None, machine, Target(given=given)) is None


@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "a", "SLURM_JOB_CPUS_PER_NODE": "{}"},
        {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "a", "SLURM_JOB_CPUS_PER_NODE": "2(x{})"},
        {"LSB_JOBID": "1", "LSB_MCPU_HOSTS": "a {}"},
    ],
)
def test_numbers_of_thousands_of_digits(variables: dict[str, str]) -> None:
    digits = "9" * 5000
    given = batch.here({name: text.format(digits) for name, text in variables.items()})
    with pytest.raises(UserError, match="if this is not a job"):
        batch.hosts(given)
