# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files of ranks on other hosts are unpacked as each host sends them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from mpigauge.measuring.jobs.agent import Agent
from mpigauge.products.profile.launch.gather import copy_now, fetch
from mpigauge.products.profile.read.files import SUFFIX

HERE = Agent(("sh", "-c", 'echo welcome to $0; printf "last login: today "; eval "$1"'))
"""An agent that runs the line for a host on this one, whose shell prints more."""
HOSTS = ("n1", "n2")


def files_in(folder: Path, size: int = 1000) -> Path:
    """A folder as ranks leave it on another host, with a file that is none of theirs."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for rank in range(2):
        (folder / f"rank{rank}{SUFFIX}").write_bytes(rng.bytes(size))
    (folder / "other").write_text("other")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == SUFFIX}


def test_files_of_ranks_that_still_run_are_copied(tmp_path: Path) -> None:
    there, to = files_in(tmp_path / "there"), tmp_path / "to"
    to.mkdir()
    assert copy_now(there, HOSTS, HERE, to) == []
    assert content(to) == content(there)
    assert len(list(to.iterdir())) == 2


def test_a_host_that_sends_nothing_is_named(tmp_path: Path) -> None:
    broken = Agent(("sh", "-c", "echo no route to $0 >&2; exit 255"))
    problems = fetch(tmp_path, HOSTS, broken)
    assert problems == [f"{host} did not hand over its files: no route to {host}" for host in HOSTS]
    assert copy_now(tmp_path, ["n3"], Agent(("true",)), tmp_path) == [
        "n3 did not show its files: the launch agent ended with status 0 and printed nothing"
    ]


def test_files_on_their_way_are_not_held_in_memory(tmp_path: Path) -> None:
    size = 4 << 20
    there, to = files_in(tmp_path / "there", size), tmp_path / "to"
    to.mkdir()
    tracemalloc.start()
    try:
        assert copy_now(there, HOSTS, HERE, to) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert content(to) == content(there)
    assert peak < size / 2
