# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program of Debian with Debian's own Open MPI is profiled, and computes what it computes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.store.stored import load_jobs
from tests.e2e.debian import installed, needs_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.mpi, pytest.mark.heavy, needs_root]
INPUT = """HPLinpack benchmark input file
nobody
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
200          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
1            Number of additional problem sizes for PTRANS
200          values of N
1            number of additional blocking sizes for PTRANS
40           values of NB
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(tmp_path_factory.mktemp("hpcc"), "hpcc", "openmpi-bin") as made:
        yield made


def test_hpcc_of_debian(machine: Installed, tmp_path: Path) -> None:
    (tmp_path / "hpccinf.txt").write_text(INPUT)
    mpirun = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "hpcc")
    done = machine.mpigauge("profile", "--output", "out", "--", *mpirun, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "hpccoutf.txt").read_text()
    assert re.search(r"1 tests completed and passed residual checks", said)
    assert "Success=1" in said
    assert "2 of 2 ranks seen" in done.stderr
    (job,) = load_jobs(tmp_path / "out")
    account = Account(job)
    assert job.program == "hpcc"
    assert account.ranks[0].abi == "ompi"
    calls = {each.spot.call for each in account.inside}
    assert {"MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Barrier"} <= calls
    sent = {(pair.source, pair.target): pair.bytes for pair in account.pairs}
    assert sent[0, 1] > 100_000
    assert sent[1, 0] > 100_000
    assert json.loads((tmp_path / "out" / "status.json").read_text())["exit_status"] == 0
