# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The programs of IMB in Intel's wheel, which exist as binaries only, on other MPIs: every row that
they print on their own MPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.runs.readers import READERS, Text
from mpigauge.site.mpi import find
from tests.conftest import MPIS
from tests.e2e.commands import mpigauge

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif("intel" not in MPIS, reason="there is no Intel MPI for this processor"),
]
FEW_CALLS = ("-iter", "4", "-iter_policy", "off", "-msglog", "0:6")
"""As many calls whatever they take, so that all of a row but its times is known."""
SHORT = {"IMB-MPI1": ("PingPong", "Allreduce"), "IMB-NBC": ("Ibcast",), "IMB-RMA": ("Put_local",)}
WHOLE = ("IMB-MPI1", "IMB-NBC", "IMB-RMA", "IMB-MT", "IMB-P2P")
OTHERS = ("mpich", "openmpi")
OVER_TCP = ("--set", "btl=self,tcp")
"""One-sided communication of Open MPI 5.0.11 over shared memory ends by signal 11 in
mca_btl_sm_poll_handle_frag, of programs that are not translated, too."""
OPENMP = "intel-openmp==2026.2.0"
"""The wheel with the runtime that IMB-MT needs, and that of Intel MPI does not bring."""
Row = tuple[str, int, int, int, int]


def rows(
    name: str, program: str, words: tuple[str, ...], folder: Path, more: tuple[str, ...] = ()
) -> list[Row]:
    """What a program prints on an MPI, without the times. `more`: options of exec."""
    binary = find("intel").prefix / "bin" / program
    options = ("--mpi", name, "--np", "2", "--oversubscribe", *more)
    done = mpigauge("exec", *options, "--", str(binary), *words, cwd=folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    tables = READERS["imb"].read(Text(done.stdout.encode())).tables
    found = [
        (cell.benchmark, cell.ranks, cell.group, cell.message_bytes, cell.calls)
        for table in tables
        for cell in table.cells()
    ]
    assert found
    return found


@pytest.mark.parametrize("program", SHORT)
def test_some_benchmarks_have_their_rows_on_other_mpis(program: str, tmp_path: Path) -> None:
    words = (*SHORT[program], *FEW_CALLS)
    native = rows("intel", program, words, tmp_path)
    assert {row[0] for row in native} == set(SHORT[program])
    for name in OTHERS:
        assert rows(name, program, words, tmp_path) == native


@pytest.mark.acceptance("imb-translated")
@pytest.mark.parametrize("program", WHOLE)
def test_whole_programs_have_their_rows_on_other_mpis(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program == "IMB-MT":
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
        subprocess.run([*pip, "--prefix", str(tmp_path / "openmp"), OPENMP], check=True)
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "openmp" / "lib"))
    native = rows("intel", program, (), tmp_path)
    for name in OTHERS:
        more = OVER_TCP if (name, program) == ("openmpi", "IMB-RMA") else ()
        assert rows(name, program, (), tmp_path, more) == native
