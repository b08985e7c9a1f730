# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two libraries beside each other from the command line, and one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.runs.store import load
from tests.blas_fakes import fake_blas
from tests.e2e.commands import ROUGH

pytestmark = pytest.mark.mpi

WORDS = ("run", "DGEMM", "--sizes", "80000", "--np", "1", "--bind", "0-1", "--launches", "1",
         *ROUGH, "--mpi", "mpich")  # fmt: skip


def test_two_libraries_are_measured_in_turn_and_shown_beside_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, simple = tmp_path / "run", str(fake_blas("simple"))
    assert run([*WORDS, "--blas", "openblas", "--blas", simple, "--output", str(folder)]) == 0
    stored = load(folder)
    assert [cell.settings for cell in stored.cells] == ["blas=openblas", f"blas={simple}"]
    assert [cell.threads for cell in stored.cells] == [2, 2]
    capsys.readouterr()
    assert run(["node", str(folder)]) == 0
    page = capsys.readouterr().out
    assert "Products of matrices, GFLOP/s" in page
    assert "× openblas" in page
    assert "one busy core of 2: this BLAS is sequential" in page


def test_a_library_that_breaks_is_refused_and_nothing_is_launched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLAS_FAULT", "crash")
    folder = tmp_path / "run"
    words = [*WORDS, "--blas", str(fake_blas("simple")), "--output", str(folder)]
    assert run(words) == 2
    said = capsys.readouterr().err
    assert "libsimple.so ended its process in a product of 3 x 3 matrices, with signal 6" in said
    assert said.count("\n") == 1
    assert not folder.exists()
