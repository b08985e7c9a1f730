# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge topo --hosts`: alike hosts have one page, the others say in what they differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.hosts import ProbedHost
from mpigauge.products.topo.alike import pages
from mpigauge.site import topology
from tests import mpi_fakes
from tests.process.test_probe import ELSEWHERE

MACHINES = Path(__file__).resolve().parents[3] / "machines"
ALL = sorted(MACHINES.glob("*.txt"))
DOWN = '[ "$1" != down ] || { echo "no route to host" >&2; exit 255; }'


def node(name: str, machine: str = "container-cgroup-v2") -> ProbedHost:
    return ProbedHost(name, topology.read(MACHINES / f"{machine}.txt"))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_alike_hosts_have_one_page(path: Path) -> None:
    text = pages([node(name, path.stem) for name in ("n1", "n2", "n3")])
    assert text[0] == "3 hosts alike: n[1-3]"
    assert sum("Distances of two ranks" in line or "no two cores" in line for line in text) == 1
    assert not any("otherwise" in line or "differs" in line for line in text)


def test_what_is_different_is_named() -> None:
    odd = node("n2")
    odd = replace(odd, machine=replace(odd.machine, allowed=frozenset({0}), kernel="6.1"))
    text = pages([node("n1"), odd, node("n3")])
    assert text[0] == "2 hosts alike: n[1,3]"
    assert "n2" in text
    start = text.index("n2 built otherwise than n[1,3]:")
    assert "  instead of: L3 11 MiB  0-3 [4-7]" in text[start:]
    assert "  it has:     L3 11 MiB  0 [1-7]" in text[start:]
    assert text[-1].startswith("host n2 differs from n1: 1 core instead of 8 cores")
    assert "kernel 6.1 instead of" in text[-1]


@pytest.fixture
def rsh(tmp_path: Path) -> str:
    return str(mpi_fakes.program(tmp_path / "agent", f"#!/bin/sh\n{DOWN}\n{ELSEWHERE}\n"))


def test_hosts_are_asked_without_an_mpi(
    rsh: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "nothing"))
    assert run(["topo", "--hosts", "far,away", "--rsh", rsh, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {name: each["hostname"] for name, each in told.items()} == {"far": "far", "away": "away"}
    assert all(each["pus"] for each in told.values())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--hosts", "far,down"], "host down does not answer: no route to host"),
        (["--hosts", "a,b", "-o", "x.svg"], "-o is for one machine; leave it or the hosts out"),
        (["--hosts", "a", "--from", "x.xml"], "--from is for one machine; leave it or the hosts"),
        (["--hosts", "a", "--hostfile", "x"], "--hosts and --hostfile contradict"),
    ],
)
def test_hosts_that_cannot_be_shown(
    rsh: str,
    words: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("a\n")  # a file that cannot be read would be named first
    assert run(["topo", *words, "--rsh", rsh]) == 2
    assert says in capsys.readouterr().err
