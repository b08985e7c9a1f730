# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Products of matrices: the plan, which library, what is concluded, and the page."""

from __future__ import annotations

import ctypes.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan import LookedUp, Plan, PlanPart, read_request
from mpigauge.measuring.plan.compute.blas import libraries_of
from mpigauge.measuring.plan.resolve import resolve
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.libraries import Blas
from mpigauge.products.node.node_suite import PRODUCTS
from mpigauge.products.node.plan import SINGLE, UPDATES, node_plan
from mpigauge.products.node.show import page
from mpigauge.result.document import Document
from mpigauge.result.node.node import node
from mpigauge.result.node.products import Product, counter_hz, why
from mpigauge.result.stats.launches import rows
from mpigauge.site.mpi import mkl
from mpigauge.site.mpi.blas import find_blas, problem_in, usual_blas
from tests.unit.measuring.plan.test_plan import MPICH
from tests.unit.products.node.test_node import X86, _cards, clock, of_node, resources

LIKE = _cards(*PRODUCTS, *UPDATES, *SINGLE[:4]).benchmarks
CARDS = replace(
    X86,
    benchmarks=(
        *X86.benchmarks,
        *(
            replace(c, options=("blas",)) if "GEMM" in c.name else c
            for c in LIKE
            if c.suite == "NODE"
        ),
    ),
)
G = 1e9
TWO = (Blas("openblas", "/o.so"), Blas("mkl", "/m.so"))


def product(
    gflops: float, threads: int = 1, ranks: int = 1, benchmark: str = "DGEMM", **changed: Any
) -> Cell:
    known = {
        "message_bytes": 8 * 4000**2, "messages": 2.0 * 4000**3, "threads": threads,
        "busy_cores": float(threads), "busy_threads": float(threads), "settings": "blas=openblas",
        "variant": f"OpenBLAS 0.3.34, core SkylakeX, pthreads, {threads} threads",
    }  # fmt: skip
    seconds = known["messages"] / gflops / G  # type: ignore[operator]
    return of_node(benchmark, ranks, time_p50_s=seconds, **{**known, **changed})


def peak(gflops: float, ranks: int = 1, name: str = "avx512", **changed: Any) -> Cell:
    return of_node(f"Peak_{name}", ranks, message_bytes=-1, messages=96_000.0,
                   time_p50_s=96_000 / gflops / G, **changed)  # fmt: skip


def found(*measured: Cell, hz: float = math.nan) -> tuple[Product, ...]:
    seen = node(rows(measured), hz)
    assert seen is not None
    return seen.products


def shown(*measured: Cell) -> str:
    known = tuple(rows(measured))
    seen = node(known, 2.8e9)
    assert seen is not None
    return "\n".join(page(Document(known, CARDS), seen))


# --- which library --------------------------------------------------------------------------
def test_the_usual_library_is_openblas_of_its_wheel() -> None:
    usual = usual_blas()
    assert usual is not None
    assert usual.word == f"openblas={usual.file}"
    assert Path(usual.file).is_file()
    assert find_blas("OpenBLAS") == usual


def test_a_library_is_found_where_modules_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("lib/libmkl_rt.so.2", "libblis-mt.so"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MKLROOT", str(tmp_path))
    assert find_blas("mkl") == Blas("mkl", str(tmp_path / "lib/libmkl_rt.so.2"))
    monkeypatch.setattr(ctypes.util, "find_library", lambda _name: None)
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{tmp_path}")
    assert find_blas("blis") == Blas("blis", str(tmp_path / "libblis-mt.so"))
    monkeypatch.delenv("LD_LIBRARY_PATH")
    with pytest.raises(UserError, match=r"--blas blis: there is none here; Debian's libblis4"):
        find_blas("blis")
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: f"lib{name}.so.4")
    assert find_blas("blis").file == "libblis.so.4"


def test_mkl_is_found_in_wheels_and_in_prefixes_the_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees as its installers make them: oneAPI of two layouts, conda, and a wheel, whose library
    lies outside of site-packages."""
    monkeypatch.setattr(mkl, "BEFORE_ONEAPI", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(ctypes.util, "find_library", lambda _name: None)
    for name in ("MKLROOT", "CONDA_PREFIX", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ONEAPI_ROOT", str(tmp_path / "oneapi"))
    with pytest.raises(UserError, match=r"--blas mkl: there is none here; `pip install mkl`, one"):
        find_blas("mkl")

    def there(name: str) -> str:
        file = tmp_path / name / "libmkl_rt.so.2"
        file.parent.mkdir(parents=True)
        file.touch()
        return str(file)

    assert there("oneapi/mkl/2023.2.0/lib/intel64") == find_blas("mkl").file
    assert there("oneapi/mkl/2024.10/lib") == find_blas("mkl").file
    there("oneapi/mkl/2024.2/lib")
    assert "/2024.10/" in find_blas("mkl").file
    (tmp_path / "oneapi/mkl/latest").symlink_to("2024.2")
    assert "/latest/" in find_blas("mkl").file
    conda = there("conda/lib")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert find_blas("mkl").file == conda
    wheel, packages = there("user/lib"), tmp_path / "user/lib/python3/site-packages"
    (info := packages / "mkl-2025.2.0.dist-info").mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mkl\nVersion: 2025.2.0\n")
    (info / "RECORD").write_text("../../libmkl_rt.so.2,,\n../../libmkl_core.so.2,,\n")
    monkeypatch.syspath_prepend(str(packages))
    assert find_blas("mkl").file == wheel
    root = there("module/lib/intel64")
    monkeypatch.setenv("MKLROOT", str(tmp_path / "module"))
    assert find_blas("mkl").file == root


def test_a_name_or_path_that_is_none_has_the_nearest_named(tmp_path: Path) -> None:
    (tmp_path / "libfast.so.3").touch()
    assert find_blas(str(tmp_path / "libfast.so.3")).file == str(tmp_path / "libfast.so.3")
    with pytest.raises(UserError, match="there is no BLAS called 'openblass'; did you mean"):
        find_blas("openblas" + "s")
    with pytest.raises(UserError, match="or the path of a library"):
        find_blas("zzz")
    with pytest.raises(UserError, match=r"there is no file .*libfats\.so\.3; did you mean '.*fast"):
        find_blas(str(tmp_path / "libfats.so.3"))
    with pytest.raises(UserError, match="'/a=b' has a blank or =; make a link"):
        find_blas("/a=b")
    with pytest.raises(UserError, match="write openblas, mkl, blis or the path of a library"):
        find_blas("/nowhere/libx.so")


@pytest.mark.parametrize(
    ("said", "status", "problem"),
    [
        ("name=x\ntrial=product\nproduct=right\nbits=32\n", 0, ""),
        ("trial=product\nproduct=right\n", -11, ""),
        ("problem=cannot open it\n", 2, "cannot open it"),
        ("name=x\ntrial=product\n", -11,
         "l.so ended its process in a product of 3 x 3 matrices, with signal 11; take another"),
        ("", 7, "l.so ended its process while it was opened, with exit status 7; take another"),
    ],
)  # fmt: skip
def test_what_a_trial_said_is_judged(said: str, status: int, problem: str) -> None:
    assert problem_in(said, "l.so", status) == problem


def test_a_wrong_library_is_refused_before_anything_is_started(capsys: Any) -> None:
    assert run(["run", "NODE:DGEMM", "--blas", "/nowhere/libx.so"]) == 2
    assert "there is no file /nowhere/libx.so" in capsys.readouterr().err


# --- plan -----------------------------------------------------------------------------------
def planned(**said: Any) -> Plan:
    """In so short a time that each part has one launch."""
    return node_plan(replace(read_request({"seconds": "20s"}), **said), CARDS, resources(), MPICH)


def with_products(plan: Plan) -> list[PlanPart]:
    return [part for part in plan.parts if "NODE:DGEMM" in part.benchmarks[0]]


def test_products_are_made_on_one_core_on_each_and_on_all_cores_of_one_rank() -> None:
    ranks, squares, updates = with_products(planned(blas=TWO[:1]))
    assert (ranks.world_ranks, ranks.ranks) == (128, (1, 128))
    assert {"NODE:DGEMM", "NODE:Peak_avx512", "NODE:Peak_avx512_single"} <= set(ranks.benchmarks)
    assert squares.benchmarks == ("NODE:DGEMM", "NODE:SGEMM")
    assert squares.sizes == (8 * 10100**2,)
    assert (updates.benchmarks, updates.sizes) == (("NODE:DGEMM_update",), (8 * 15000**2,))
    for part in (squares, updates):
        assert (part.world_ranks, part.ranks) == (1, (1,))
        assert part.blocks[0].bind == ("+".join(map(str, range(128))),)
        assert part.suite_options == {"blas": "openblas=/o.so"}


def test_several_libraries_have_launches_in_turn() -> None:
    plan = planned(blas=TWO)
    found = with_products(plan)
    assert [part.suite_options["blas"] for part in found] == ["openblas=/o.so", "mkl=/m.so"] * 3
    assert libraries_of(plan) == TWO
    beside_first, beside_second, *_ = found
    assert "NODE:Peak_avx512" in beside_first.benchmarks
    assert beside_second.benchmarks == ("NODE:DGEMM", "NODE:SGEMM")
    again = Plan.from_json(plan.to_json())
    assert [part.suite_options for part in again.parts] == [
        part.suite_options for part in plan.parts
    ]
    assert [part.weight for part in again.parts] == [part.weight for part in plan.parts]


def test_a_run_of_a_product_has_its_library_and_others_have_none() -> None:
    known = LookedUp(blas=TWO, default_blas=TWO[0])
    request = read_request({"benchmarks": ("DGEMM",)}, known)
    plan = resolve(request, CARDS, resources(), MPICH)
    assert [part.suite_options["blas"] for part in plan.parts] == ["openblas=/o.so", "mkl=/m.so"]
    with pytest.raises(UserError, match="--blas has no effect on PingPong"):
        resolve(replace(request, benchmarks=("PingPong",)), CARDS, resources(), MPICH)
    usual = resolve(replace(request, blas=()), CARDS, resources(), MPICH)
    assert [part.suite_options["blas"] for part in usual.parts] == ["openblas=/o.so"]
    other = read_request({"benchmarks": ("PingPong",)}, replace(known, blas=()))
    assert resolve(other, CARDS, resources(), MPICH).parts[0].suite_options == {}


# --- what is concluded ----------------------------------------------------------------------
def test_shares_are_of_the_peak_on_as_many_cores_in_the_same_precision() -> None:
    measured = (
        product(100), product(180, threads=2), product(170, ranks=2),
        product(400, threads=2, benchmark="SGEMM"),
        peak(125), peak(250, 2), peak(500, 2, "avx512_single"), peak(66, name="avx2"),
    )  # fmt: skip
    shares = {(p.name, p.row.ranks, p.row.cell.threads): p.of_peak for p in found(*measured)}
    assert shares["DGEMM", 1, 1] == pytest.approx(0.80)
    assert shares["DGEMM", 1, 2] == pytest.approx(0.72)
    assert shares["DGEMM", 2, 1] == pytest.approx(0.68)
    assert shares["SGEMM", 1, 2] == pytest.approx(0.80)


def test_nominal_counts_the_clock_that_the_machine_says_it_has() -> None:
    clocks = clock("Clock_multiply", 3.9), clock("Clock_xor", 3.9)
    (one,) = found(product(100), peak(124.8), *clocks, hz=2.6e9)
    assert one.nominal == pytest.approx(32 * 2.6e9)
    assert one.of_nominal == pytest.approx(100 / 83.2)
    (unknown,) = found(product(100), peak(124.8), hz=2.6e9)
    assert math.isnan(unknown.of_nominal)


def test_orders_are_found_again() -> None:
    square, update, tiny = found(
        product(1, benchmark="SGEMM", message_bytes=4 * 2000**2),
        product(1, benchmark="DGEMM_update", message_bytes=8 * 15000**2, threads=2),
        product(1, message_bytes=0, threads=3),
    )
    assert (square.order, square.depth) == (2000, 2000)
    assert (update.order, update.depth) == (15000, 192)
    assert tiny.order == 1


def test_one_busy_core_of_twenty_is_a_sequential_library() -> None:
    """The two programs on Ulysses, one of them linked to MKL's sequential layer: 446.8 and 27.0
    GFLOP/s of 448."""
    variant = "MKL 2018.1, core AVX, 1 thread"
    slow, fast = (
        product(26.998839, 20, busy_cores=1.0, busy_threads=1.01, variant=variant),
        product(446.835430, 20, variant="MKL 2018.1, core AVX, 20 threads", busy_cores=19.9),
    )
    (sequential,) = found(slow, peak(448, 20))
    assert sequential.of_peak == pytest.approx(0.0603, abs=1e-4)
    assert why(sequential) == ("one busy core of 20: sequential MKL",)
    (other,) = found(replace(slow, variant="libblas.so.3"), peak(448, 20))
    assert why(other) == ("one busy core of 20: this BLAS is sequential",)
    assert why(found(fast, peak(448, 20))[0]) == ()


def test_a_library_that_takes_the_core_for_an_older_one() -> None:
    cell = product(57, variant="BLIS 0.9.0, core haswell, 1 thread")
    (one,) = found(cell, peak(124), peak(66, name="avx2"), peak(33, name="sse2"))
    assert ", ".join(why(one)) == (
        "core type haswell: 46 % of the peak of avx512, 86 % of that of avx2, which it seems to use"
    )
    (far,) = found(product(4, variant="libblas.so.3"), peak(124), peak(66, name="avx2"))
    assert why(far) == ("libblas.so.3: 3 % of the peak of avx512",)
    assert why(found(product(104), peak(124), peak(66, name="avx2"))[0]) == ()


def test_cores_that_others_had_say_nothing_about_the_library() -> None:
    shared = product(40, 2, busy_cores=0.9, busy_threads=1.96)
    (one,) = found(shared, peak(250, 2), peak(130, 2, "avx2"))
    assert why(one) == ("2 threads had 0.9 cores: others were at work here, or they share a core",)
    alone = product(40, busy_cores=0.5, busy_threads=1.0)
    assert why(found(alone, peak(125))[0])[0].startswith("1 thread had 0.5 cores")
    few = product(40, 8, busy_cores=3.0, busy_threads=3.1)
    assert why(found(few, peak(250, 8))[0]) == (
        "3.1 busy cores of 8: this BLAS uses fewer threads than cores",
    )
    assert why(found(product(40, 2, busy_threads=math.nan), peak(250, 2))[0])[0].startswith("core")


# --- page -----------------------------------------------------------------------------------
def test_the_page_has_libraries_beside_each_other_and_why() -> None:
    other = product(57, settings="blas=blis", variant="BLIS 0.9.0, core haswell, 1 thread")
    text = shown(
        product(104), other, peak(124), peak(66, name="avx2"), peak(248, 1, "avx512_single")
    )
    assert "DGEMM    4000   4000  1 rank × 1 thread" in text
    assert "84 %" in text
    assert "0.55 × openblas" in text
    assert "core type haswell: 46 %" in text
    assert "; single precision: 248" in text
    assert text.index("OpenBLAS 0.3.34") < text.index("BLIS 0.9.0")
    assert "throttl" not in text


@pytest.mark.parametrize(
    ("beside", "flags", "words"),
    [(108.0, (), "1 rank: 124 GFLOP/s before the products, 108 beside them: throttled to 87 %"),
     (123.0, (), "no throttling"), (140.0, (), "no throttling, though the two differ"),
     (108.0, ("tainted",), "undecided, others were at work here")],
)  # fmt: skip
def test_the_page_says_whether_the_cores_were_throttled(
    beside: float, flags: tuple[str, ...], words: str
) -> None:
    before, hot = peak(124, launch=0, flags=flags), peak(beside, launch=1, flags=flags)
    assert words in shown(before, hot, product(90, launch=1)).replace("\n", " ")


def test_the_clock_is_the_counters_where_that_is_the_clocks() -> None:
    class Fake:
        def __init__(self, name: str) -> None:
            clock = type("Clock", (), {"name": name, "hz": 2.6e9})
            self.launches = (type("Launch", (), {"clock": clock}),)

    assert counter_hz(Fake("tsc")) == 2.6e9  # type: ignore[arg-type]
    assert math.isnan(counter_hz(Fake("cntvct")))  # type: ignore[arg-type]
