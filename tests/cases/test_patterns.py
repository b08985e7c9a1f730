# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The suites P2P and HALO where they differ from others: grids, random partners, touching."""

from __future__ import annotations

import pytest

from tests.cases.launching import ROUGH, Site, run, site

pytestmark = pytest.mark.mpi

LARGE = 1 << 17
FEW = ("--repetitions", 20, *ROUGH)
"""The options with which a row takes few calls in either mode: its data are the subject."""


@pytest.mark.parametrize("mode", ["adaptive", "classic"])
@pytest.mark.parametrize("touch", [0, 1])
def test_touched_or_not_data_are_right(where: Site, touch: int, mode: str) -> None:
    names = "P2P:PingPong,P2P:PingPing,Unirandom,Birandom,Corandom,SendRecv_Replace"
    ended = run(where, 2, "--benchmarks", names, "--sizes", "0,63,70000", "--touch-send", touch,
                "--touch-recv", touch, "--mode", mode, *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.message_bytes) for c in ended.cells} == {
        (name.removeprefix("P2P:"), size) for name in names.split(",") for size in (0, 63, 70000)
    }


@pytest.mark.parametrize(
    ("ranks", "names"), [(4, "Stencil2D"), (6, "Stencil2D"), (8, "Stencil2D,Stencil3D")]
)
def test_stencils(where: Site, ranks: int, names: str) -> None:
    ended = run(where, ranks, "--benchmarks", names, "--ranks", ranks, "--sizes", LARGE,
                "--mode", "classic", *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells} == set(names.split(","))


@pytest.mark.parametrize("topo", ["", "4", "2x2", "1x4"])
def test_halos_of_four_ranks(topo: str) -> None:
    wish = ("--topo", topo) if topo else ()
    ended = run(site("mpich"), 4, "--benchmarks", "simple_halo", "--ranks", 4, "--sizes", LARGE,
                *wish, "--mode", "classic", *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    dimensions = {"": 2, "4": 1, "2x2": 2, "1x4": 1}[topo]
    assert ended.cells[0].moved_bytes == 4 * dimensions * LARGE


def test_a_halo_that_leaves_ranks_out_is_refused() -> None:
    ended = run(site("mpich"), 4, "--benchmarks", "simple_halo", "--ranks", 4, "--topo", "2x1",
                "--sizes", 8)  # fmt: skip
    assert ended.status == 0
    assert [skip.reason for skip in ended.skips] == [
        "a grid of 2x1 does not have one place for each of 4 ranks"
    ]
