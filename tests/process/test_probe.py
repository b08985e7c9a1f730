# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts are asked before anything is launched: agents of a few lines of shell stand for ssh."""

from __future__ import annotations

import json
import re
import shlex
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.measuring.jobs.agent import Agent
from mpigauge.measuring.trials import probe as probing
from mpigauge.measuring.trials.probe import probe
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost, ProbedHost
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.site.mpi.here import MARK
from tests import mpi_fakes
from tests.unit.site.launch.test_launch import MPICH


class Site:
    """A fake MPI, fake kernels, and an agent that answers for every host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        library = mpi_fakes.library(folder / "lib" / "libmpi.so.12")
        for name in ("mpiexec", "kernel", "plugin.so"):
            mpi_fakes.program(folder / name, "")
        self.mpi: Mpi = replace(
            MPICH,
            library=library,
            library_string=mpi_fakes.MPICH_SAYS,
            mpiexec=folder / "mpiexec",
            env={"A_B": "c d"},
        )
        self.kernels = Kernels(folder / "kernel", folder / "plugin.so", folder / "cards.json")

    def agent(self, script: str) -> Agent:
        """`$1` is the host, `$2` the command."""
        return Agent((str(mpi_fakes.program(self.folder / "agent", f"#!/bin/sh\n{script}\n")),))

    def ask(self, agent: Agent, *hosts: str, seconds: float = 60.0) -> tuple[ProbedHost, ...]:
        named = [NamedHost(host, 3) for host in hosts]
        return probe(named, self.mpi, self.kernels, self.folder / "runs", agent, seconds)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# Runs the command here, and answers with another name of the host.
ELSEWHERE = r'sh -c "$2" | sed "s,sys/kernel/hostname\\\\t[^\\\\]*,sys/kernel/hostname\\\\t$1,"'


def test_hosts_tell_what_they_are(site: Site) -> None:
    one, other = site.ask(site.agent(ELSEWHERE), "far", "away")
    assert (one.name, one.machine.hostname, one.slots) == ("far", "far", 3)
    assert (other.name, other.machine.hostname) == ("away", "away")
    assert one.library == mpi_fakes.MPICH_SAYS
    assert one.machine.pus
    assert not list(site.folder.glob(".mpigauge-shared-*"))


def test_this_host_is_asked_without_an_agent(site: Site) -> None:
    (node,) = site.ask(site.agent("exit 1"), socket.gethostname())
    assert node.machine.pus


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo 'no route to host' >&2; exit 255", "host far does not answer: no route to host"),
        ("exit 3", "host far does not answer: the launch agent ended with status 3 and printed n"),
        ("echo 'Welcome'", "host far does not answer: Welcome"),
    ],
)
def test_silent_hosts(site: Site, script: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        site.ask(site.agent(script), "far")


def test_a_host_that_hangs(site: Site) -> None:
    with pytest.raises(UserError, match=r"host far does not answer: nothing came within 0\.3 s"):
        site.ask(site.agent("sleep 600"), "far", seconds=0.3)


def test_the_first_of_several_is_named(site: Site) -> None:
    agent = site.agent(f'[ "$1" = far ] || {{ echo "no $1" >&2; exit 1; }}; {ELSEWHERE}')
    with pytest.raises(UserError, match=r"host b does not answer: no b \(and 1 more\)"):
        site.ask(agent, "far", "b", "c")


def test_an_agent_that_is_not_there(site: Site) -> None:
    with pytest.raises(UserError, match="host far does not answer: cannot run /no/agent: No such"):
        site.ask(Agent(("/no/agent",)), "far")


@pytest.mark.parametrize("gone", ["kernel", "plugin.so", "lib/libmpi.so.12", "mpiexec"])
def test_a_host_without_the_files(site: Site, gone: str) -> None:
    path = site.folder / gone
    path.rename(path.with_name("moved"))
    with pytest.raises(
        UserError, match=f"host far does not see {path}; kernels, MPI and run folder"
    ):
        site.ask(site.agent(ELSEWHERE), "far")


def test_a_host_with_another_run_folder(site: Site) -> None:
    """The folder may be there, but not the file that we put into it."""
    name = "$(printf %s \"$2\" | grep -o '[^ ]*mpigauge-shared-[^ ;]*' | head -1)"
    sentence = f"host far does not see {site.folder}, in which the run is to be stored"
    with pytest.raises(UserError, match=sentence):
        site.ask(site.agent(f'echo "mpigauge-missing {name}"'), "far")


def test_a_host_with_another_mpi(site: Site) -> None:
    agent = site.agent(f"{ELSEWHERE} | sed 's/Version:      5/Version: 4/'")
    with pytest.raises(
        UserError, match=r"host far has another MPI in .*: 4\.0\.2, here it is .*: *5\.0"
    ):
        site.ask(agent, "far")


def test_a_host_where_the_library_does_not_load(site: Site) -> None:
    told = json.dumps({"machine": "", "library": "", "problem": "the MPI library x is broken"})
    agent = site.agent(f"cat <<'END'\n{MARK}{told}\nEND")
    with pytest.raises(UserError, match="on host far the MPI library x is broken"):
        site.ask(agent, "far")


def test_two_names_of_one_machine(site: Site) -> None:
    with pytest.raises(UserError, match="hosts far and away are the same machine, "):
        site.ask(site.agent('sh -c "$2"'), "far", "away")


def test_the_far_shell_takes_one_word_apart() -> None:
    assert Agent(("ssh", "-x")).command("far", "a 'b'; c") == [
        "ssh", "-x", "far", "sh -c " + shlex.quote("a 'b'; c"),
    ]  # fmt: skip


def test_a_run_folder_that_cannot_be_written(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(probing, "NamedTemporaryFile", refuse)
    with pytest.raises(UserError, match=f"cannot write into {site.folder}: Permission denied"):
        site.ask(site.agent("exit 1"), "far")
