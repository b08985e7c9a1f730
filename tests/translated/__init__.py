# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs of a program of an ABI and the MPI on which it runs translated."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import MPIS

HERE = Path(__file__).parent


def _there(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair[1].partition("@")[0] in MPIS]


IN_CI = _there([("mpich", "openmpi"), ("openmpi", "mpich"), ("openmpi", "intel@std")])
OTHERS = _there(
    [
        *(("mpich", target) for target in ("mpich@std", "intel@std")),
        *(("openmpi", target) for target in ("intel", "mpich@std")),
        *(("mpich@std", target) for target in ("mpich", "openmpi", "intel")),
        *(("mpich", target) for target in ("mpich", "intel")),
        ("openmpi", "openmpi"),
    ]
)
PAIRS = [*IN_CI, *OTHERS]
