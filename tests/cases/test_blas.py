# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Products of matrices on real ranks, by OpenBLAS and by libraries that are wrong. Times are never
judged. One MPI must do, as it measures none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.libraries import Blas
from mpigauge.site.mpi.blas import check_blas, usual_blas
from tests import patience
from tests.blas_fakes import fake_blas
from tests.cases.launching import ROUGH, Ended, run, site

pytestmark = pytest.mark.mpi

SMALL = 8 * 100 * 100
ALL = "NODE:DGEMM,NODE:SGEMM,NODE:DGEMM_update,NODE:SGEMM_update"
CLASSIC = ("--mode", "classic", "--repetitions", 2)


def product(library: Path | str, *options: object, ranks: int = 1) -> Ended:
    words = () if not library else ("--blas", f"mine={library}")
    return run(site("mpich"), ranks, "--benchmarks", "NODE:DGEMM", "--ranks", ranks,
               "--sizes", SMALL, *words, *CLASSIC, *options)  # fmt: skip


def tried(library: Path | str) -> dict[str, str]:
    """What a kernel says of a library in a process of its own."""
    where = site("mpich")
    words = [str(where.kernels.executable), "--libmpi", str(where.mpi.library), "--plugin",
             str(where.kernels.plugin), "--try-blas", str(library)]  # fmt: skip
    done = patience.run(words)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def openblas() -> Path:
    found = usual_blas()
    assert found is not None
    return Path(found.file)


def test_openblas_on_each_rank_and_on_all_cores_of_one() -> None:
    words = ("--benchmarks", ALL, "--ranks", "1,2", "--sizes", SMALL, *ROUGH, "--blas",
             f"openblas={openblas()}")  # fmt: skip
    ended = run(site("mpich"), 2, *words, "--bind", "0,1")
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.ranks, c.threads) for c in ended.cells} == {
        (name.removeprefix("NODE:"), ranks, 1) for name in ALL.split(",") for ranks in (1, 2)
    }
    for cell in ended.cells:
        assert re.fullmatch(r"OpenBLAS [\d.]+, core \w+, pthreads, 1 thread", cell.variant)
        assert cell.settings == "blas=openblas"
        assert 0 < cell.busy_cores < 2
        assert 1 <= cell.busy_threads < 1.5
        assert cell.check == "exact"
    assert ended.cell("DGEMM", SMALL).messages == 2.0 * 100**3
    assert ended.cell("SGEMM", SMALL).messages == 2.0 * 141**3
    assert ended.cell("DGEMM_update", SMALL).messages == 2.0 * 100**2 * 192


def test_a_rank_with_several_cores_has_a_thread_on_each(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = product(openblas(), "--bind", "0-1")
    assert ended.cell("DGEMM", SMALL).threads == 2
    assert ended.cell("DGEMM", SMALL).variant.endswith("2 threads")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    ended = product(openblas(), "--bind", "0-1")
    assert ended.cell("DGEMM", SMALL).threads == 1


def test_ranks_that_nobody_bound_share_the_cores() -> None:
    assert product(openblas(), ranks=2).cell("DGEMM", SMALL).threads == 1


@pytest.mark.parametrize(
    ("kind", "bits", "symbol"),
    [("simple", "32", "cblas_dgemm"), ("wide", "64", "cblas_dgemm"),
     ("named64", "64", "cblas_dgemm64_"), ("misnamed64", "64", "cblas_dgemm64_")],
)  # fmt: skip
def test_integers_of_any_width_are_understood(kind: str, bits: str, symbol: str) -> None:
    """A call is the same for both, so a name that lies does no harm."""
    found = tried(fake_blas(kind))
    assert (found["product"], found["bits"], found["symbol"]) == ("right", bits, symbol)
    assert "problem" not in found


def test_a_library_of_either_width_multiplies_and_is_found_to_be_sequential() -> None:
    for kind in ("simple", "wide"):
        ended = product(fake_blas(kind), "--bind", "0-1")
        assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
        cell = ended.cell("DGEMM", SMALL)
        assert (cell.threads, cell.variant) == (2, f"lib{kind}.so")
        assert cell.busy_threads < 1.5


@pytest.mark.parametrize(("fault", "least"), [("wrong", 1), ("nan", 1)])
def test_one_wrong_number_ends_in_an_error(
    fault: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLAS_FAULT", fault)
    ended = product(fake_blas("simple"))
    assert ended.cell("DGEMM", SMALL).wrong_count == least
    assert ended.status == 1


@pytest.mark.parametrize(
    ("fault", "problem"),
    [("crash", "in a product of 3 x 3 matrices, with Aborted"),
     ("leave", "in a product of 3 x 3 matrices, with exit status 7"),
     ("nothing", "gives a wrong product of 3 x 3 matrices")],
)  # fmt: skip
def test_a_library_that_breaks_is_left_out_and_the_job_goes_on(
    fault: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLAS_FAULT", fault)
    ended = product(fake_blas("simple"), ranks=2)
    assert ended.status == 0, ended.errors
    (skip,) = ended.skips
    assert skip.reason.startswith(str(fake_blas("simple")))
    assert skip.reason.endswith(problem)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [("crash", r"libsimple.so ended its process in a product of 3 x 3 matrices, with signal 6"),
     ("nothing", r"libsimple.so gives a wrong product of 3 x 3 matrices")],
)  # fmt: skip
def test_a_library_that_breaks_is_refused_before_anything_is_launched(
    fault: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLAS_FAULT", fault)
    where = site("mpich")
    with pytest.raises(UserError, match=f"^--blas: .*{problem}"):
        check_blas(Blas("mine", str(fake_blas("simple"))), where.mpi, where.kernels)
    monkeypatch.delenv("BLAS_FAULT")
    check_blas(Blas("mine", str(fake_blas("simple"))), where.mpi, where.kernels)


def test_what_is_no_blas_is_named() -> None:
    assert tried("/etc/passwd")["problem"].startswith("cannot open the BLAS /etc/passwd: ")
    assert tried(fake_blas("fortran"))["problem"].endswith(
        "has no cblas_dgemm and cblas_sgemm by any name known here: it has Fortran's dgemm_ alone"
    )


def test_without_a_library_and_with_too_little_memory_rows_are_left_out() -> None:
    (skip,) = product("").skips
    assert skip.reason == "no BLAS is named: --blas openblas, mkl, blis or a file"
    ended = product(openblas(), "--sizes", f"{SMALL},{8 << 42}")
    assert [cell.message_bytes for cell in ended.cells] == [SMALL]
    (skip,) = ended.skips
    assert skip.reason.startswith("not enough memory: matrices of 1006")
