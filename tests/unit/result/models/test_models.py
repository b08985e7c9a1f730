# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Models of a run: what breaks are called, LogGP, bounds of collectives, and how they are shown."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as main
from mpigauge.model.errors import UserError
from mpigauge.products.message_model.result import CurveModel, model
from mpigauge.products.message_model.show import COLUMNS, page, to_csv, to_json
from mpigauge.result.models.bounds import MOVED, bounds
from mpigauge.result.models.breaks import algorithms, kinds
from mpigauge.result.models.loggp import LogGP, loggp
from mpigauge.result.run_view import RunView
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.pieces import Break
from tests import cells, planted
from tests.planted import OPEN_MPI, ROME, SIZES, curve, line, ranks, run, stepping

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.runs.store import Run

HERE = str(ROME["hostname"])


def only(of: Run) -> CurveModel:
    (found,) = model(of).curves
    return found


def first_reason(of: Run) -> tuple[str, bool, tuple[str, ...]]:
    reason = only(of).breaks[0].reasons[0]
    return reason.kind, reason.is_likely, reason.knobs


def named(
    mpi: str, benchmark: str, suite: str = "MPI1", hosts: tuple[str, str] = ("n1", "n1")
) -> list[str]:
    """The settings of this MPI that choose the algorithm of a collective of two ranks."""
    places = [replace(rank, host=host) for rank, host in zip(ranks(["0", "1"]), hosts, strict=True)]
    measured = curve(line(), benchmark, suite=suite)
    view = RunView.of(run(measured, places, mpi={"name": mpi, "version": ""}))
    return algorithms(view, view.rows[0])


def test_what_sends_no_messages_meets_no_limit_of_them() -> None:
    for does in ("node", "files", "local", "one-sided"):
        assert kinds(Break(4096, 8192, 1.5, 1), does) == ("cache",)
        assert kinds(Break(4096, 8192, 0.7, 1), does) == ()
    loop = stepping(65536, 1.5, benchmark="Copy_once", suite="NODE")
    assert only(run(loop, ranks(["0", "1"]))).breaks[0].reasons == ()


# --- breaks ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("step", "slope", "first"),
    [(1.5, 1, "eager"), (0.7, 1, "single copy"), (1.0, 2.0, "cache"), (1.0, 0.5, "segment")],
)
def test_the_shape_says_what_it_may_be(step: float, slope: float, first: str) -> None:
    assert kinds(Break(4096, 8192, step, slope))[0] == first
    assert kinds(Break(4096, 8192, step, slope), "collective")[0] == "algorithm"


def test_no_rendezvous_of_a_few_bytes() -> None:
    assert kinds(Break(32, 64, 2.0, 1))[0] == "inline"


def test_a_known_limit_is_named_where_ranks_share_a_host() -> None:
    measured = stepping(2048, 1.5)
    name = "OMPI_MCA_btl_sm_eager_limit"
    assert first_reason(run(measured, ranks(["0", "1"]), **OPEN_MPI)) == ("eager", True, (name,))
    assert first_reason(run(measured, **OPEN_MPI)) == ("eager", False, (name,))
    older: dict[str, Any] = {"mpi": {"name": "openmpi", "version": "4.1.1"}}
    (knob,) = first_reason(run(measured, ranks(["0", "1"]), **older))[2]
    assert knob == "OMPI_MCA_btl_vader_eager_limit"


def test_between_hosts_the_network_has_its_own_limit() -> None:
    apart = [*ranks(["0"]), replace(ranks(["0"], "n2")[0], rank=1)]
    measured = stepping(32768, 1.5)
    kind, known, knobs = first_reason(run(measured, apart, **OPEN_MPI))
    assert (kind, known, knobs) == ("eager", True, ("OMPI_MCA_btl_tcp_eager_limit",))


def test_between_hosts_nothing_is_copied_in_one_go() -> None:
    """Also where the place of the ranks is known by its word alone, as in a reference."""
    fallen = stepping(32768, 0.7)
    apart = [*ranks(["0"]), replace(ranks(["0"], "n2")[0], rank=1)]
    by_word = stepping(32768, 0.7, placement="hosts")
    here = only(run(fallen, ranks(["0", "1"]))).breaks[0].reasons
    assert "single copy" in [each.kind for each in here]
    for measured in (run(fallen, apart), run(by_word)):
        kinds_there = [each.kind for each in only(measured).breaks[0].reasons]
        assert kinds_there == ["segment"]


@pytest.mark.parametrize("prefix", ["", "OMPI_MCA_"])
def test_what_a_sweep_sets_counts_for_its_own_curve(prefix: str) -> None:
    arm = f"{prefix}btl_sm_eager_limit=16k"
    measured = stepping(8192, 1.5, arm=arm)
    reason = only(run(measured, ranks(["0", "1"]), **OPEN_MPI)).breaks[0].reasons[0]
    assert reason.words == "eager to rendezvous: OMPI_MCA_btl_sm_eager_limit is set to 16 KiB"


def test_a_cache_is_named_beside_the_ranks() -> None:
    bent = curve(lambda n: 1e-6 + 1e-10 * n + max(0, n - (1 << 23)) * 1e-9, sizes=SIZES + [
        1 << i for i in range(23, 27)])  # fmt: skip
    found = only(run(bent, ranks(["0", "1"], HERE), machine=ROME))
    reason = found.breaks[0].reasons[0]
    assert (reason.kind, reason.is_likely) == ("cache", True)
    assert reason.words == "past the capacity of the L3 cache (16 MiB)"


def test_settings_of_a_collective_have_its_name() -> None:
    assert sorted(named("openmpi", "Allreduce")) == [
        "OMPI_MCA_coll_han_allreduce_dynamic_global_communicator_module",
        "OMPI_MCA_coll_tuned_allreduce_algorithm",
    ]
    assert "MPIR_CVAR_BCAST_INTRA_ALGORITHM" in named("mpich", "Bcast")
    assert named("intel", "Bcast") == ["I_MPI_ADJUST_BCAST"]
    assert named("intel", "Ibcast_pure", "NBC") == ["I_MPI_ADJUST_IBCAST"]
    assert named("openmpi", "Gatherv") == []
    assert named("mpich", "Bcast_persist", "MPI4") == []
    assert named("mpt", "Bcast") == []
    measured = stepping(1 << 18, 2, benchmark="Allreduce", ranks=4, datatype="float")
    assert first_reason(run(measured, ranks(["0", "1", "2", "3"]), **OPEN_MPI)) == (
        "algorithm", False, ("OMPI_MCA_coll_tuned_allreduce_algorithm",)
    )  # fmt: skip


def test_what_chooses_among_hosts_is_named_where_there_are_several() -> None:
    several = named("openmpi", "Allreduce", hosts=("n1", "n2"))
    assert several == [
        "OMPI_MCA_coll_tuned_allreduce_algorithm",
        "OMPI_MCA_coll_han_allreduce_dynamic_global_communicator_module",
    ]


def test_an_mpi_that_nobody_names_has_no_settings() -> None:
    assert first_reason(run(stepping(2048, 1.5), mpi={})) == ("eager", False, ())


def test_a_collective_of_no_bytes_is_left_out() -> None:
    """It returns at once, which is not a break."""
    measured = curve(lambda n: 2e-8 if n == 0 else 1e-6 + 1e-10 * n, "Bcast", ranks=4)
    found = only(run(measured))
    assert found.breaks == ()
    assert found.line is not None
    assert found.line.first_bytes == 1


# --- LogGP -----------------------------------------------------------------------------------
def uniband(gap: float, whole: float, inflight: int = 64, launches: int = 6) -> list[Cell]:
    """As the model has it: T = (W - 1) g + 2 (L + 2o)."""
    time = (inflight - 1) * gap + 2 * whole
    more: dict[str, Any] = {"inflight": inflight, "messages": float(inflight)}
    return curve(lambda _: time, "Uniband", [8], launches, **more)


def test_loggp_finds_its_parameters_again() -> None:
    found = loggp(rows([*curve(line(1e-6, 2e-10)), *uniband(1e-7, 1e-6)]))
    assert found.latency_and_overheads is not None
    assert found.gap is not None
    assert found.gap_per_byte is not None
    assert found.overhead is not None
    assert found.latency is not None
    assert found.latency_and_overheads.value == pytest.approx(1e-6, rel=0.01)
    assert found.gap.value == pytest.approx(1e-7, rel=0.02)
    assert found.gap.low < 1e-7 < found.gap.high
    assert found.gap_per_byte.value == pytest.approx(2e-10, rel=0.01)
    assert found.overhead == (0.0, found.gap.high)
    assert found.latency[0] == pytest.approx(8e-7, rel=0.05)
    assert found.latency[1] == pytest.approx(1e-6, rel=0.05)
    assert found.missing == ()


def test_loggp_says_what_is_missing() -> None:
    assert loggp(rows(uniband(1e-7, 1e-6))) == LogGP(
        missing=("PingPong of two ranks with a message of at most 64 B: gives L + 2o and G",)
    )
    without = loggp(rows(curve(line())))
    assert (without.gap, without.overhead, without.latency) == (None, None, None)
    assert "Uniband" in without.missing[0]
    few = loggp(rows([*curve(line(), sizes=[8]), *uniband(1e-7, 1e-6, inflight=1)]))
    assert len(few.missing) == 2
    drowned = loggp(rows([*curve(line(1e-6)), *uniband(-1e-8, 1e-6)]))
    assert drowned.gap is None


# --- bounds ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("benchmark", "moved"),
    [("Bcast", 1.0), ("Reduce", 1.0), ("Allreduce", 1.75), ("Allgather", 7.0), ("Alltoall", 7.0)],
)
def test_a_collective_takes_at_least(benchmark: str, moved: float) -> None:
    """On 8 ranks: three steps of α, or so many times the message by β."""
    size = 1 << 20
    measured = [*curve(line(1e-6, 1e-10)), *curve(lambda _: 1e-3, benchmark, [8, size], ranks=8)]
    small, large = bounds(rows(measured))
    assert small.limit == "α"
    assert small.bound_s.value == pytest.approx(3e-6, rel=0.01)
    assert large.limit == "β"
    assert large.bound_s.value == pytest.approx(moved * size * 1e-10, rel=0.02)
    assert large.ratio.low < large.ratio.value < large.ratio.high
    assert large.ratio.value == pytest.approx(1e-3 / large.bound_s.value, rel=0.01)


def test_a_barrier_takes_the_steps_alone() -> None:
    barrier = curve(lambda _: 4e-6, "Barrier", [-1], ranks=5, moved_bytes=0.0)
    (found,) = bounds(rows([*curve(line()), *barrier]))
    assert found.ratio.value == pytest.approx(4 / 3, rel=0.01)


def test_no_bound_without_a_pingpong_alike() -> None:
    collective = curve(line(), "Bcast", ranks=4, placement="socket")
    assert bounds(rows(collective)) == []
    assert bounds(rows([*curve(line()), *collective])) == []
    assert len(bounds(rows([*curve(line(), placement="socket"), *collective]))) == len(SIZES) - 1


def test_every_bound_is_of_a_benchmark() -> None:
    names = {card.name for card in cells.cards()}
    assert set(MOVED) <= names


# --- how they are shown ----------------------------------------------------------------------
def whole() -> Run:
    measured = [
        *stepping(2048, 1.5),
        *uniband(1e-7, 1e-6),
        *curve(line(2e-6, 3e-10), "Bcast", SIZES[2:], ranks=4),
    ]
    return run(measured, ranks(["0", "1", "2", "3"]), **OPEN_MPI)


def test_the_page_names_breaks_and_bounds() -> None:
    text = page(model(whole()))
    assert "PingPong\n  t = α + β·n  α = " in text
    assert "    break between 2 KiB and 4 KiB: the time jumps to 1.5 × what" in text
    assert (
        "      likely: eager to rendezvous: OMPI_MCA_btl_sm_eager_limit is usually 4 KiB\n" in text
    )
    assert "fitted µs" in text
    assert "in pieces µs" in text
    assert "Bcast on 4 ranks\n" in text
    assert "bound µs" in text
    assert "  no break that the errors carry" in text
    assert "Uniband with 64 in flight\n  fewer than three sizes: no line (1 of them)" in text
    assert "LogGP between two ranks\n  L + 2o     1.00 µs" in text


def test_observed_lies_in_the_fitted_interval_of_a_line() -> None:
    (found,) = to_json("r", model(run(curve(line()))))["curves"]
    assert all(r["fitted_low_s"] <= r["fitted_s"] <= r["fitted_high_s"] for r in found["rows"])
    assert all(abs(r["fitted_s"] / r["observed_s"] - 1) < 0.01 for r in found["rows"])
    assert found["breaks"] == []
    assert found["line"]["half_bandwidth_bytes"][0] == pytest.approx(1e4, rel=0.02)


def test_csv_has_a_line_for_each_row() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(model(whole())))))
    assert len(lines) == len(whole().cells) / 6
    assert tuple(lines[0]) == COLUMNS
    pingpong = {int(each["message_bytes"]): each for each in lines
                if each["benchmark"] == "PingPong"}  # fmt: skip
    assert (pingpong[2048]["piece"], pingpong[4096]["piece"]) == ("1", "2")
    assert pingpong[8]["bound_s"] == ""
    bcast = [line for line in lines if line["benchmark"] == "Bcast"]
    assert all(float(line["bound_ratio"]) > 1 for line in bcast)


def test_a_wrong_benchmark_has_a_hint() -> None:
    assert [c.curve.benchmark for c in model(whole(), "bcast").curves] == ["Bcast"]
    assert model(whole(), "Bcast").pairs == ()
    with pytest.raises(UserError, match=r"the run has no 'Bcats'; did you mean 'Bcast'\?"):
        model(whole(), "Bcats")
    with pytest.raises(UserError, match="the run has no rows"):
        model(run([]))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(planted.store(whole(), tmp_path / "r"))
    assert main(["model", folder]) == 0
    assert "break between 2 KiB and 4 KiB" in capsys.readouterr().out
    assert main(["model", folder, "PingPong", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["curves"][0]["breaks"][0]["reasons"][0]["settings"] == [
        "OMPI_MCA_btl_sm_eager_limit"
    ]
    assert not math.isnan(data["curves"][0]["line"]["alpha_s"][0])
    assert main(["model", folder, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("benchmark,ranks,")
    assert main(["model", folder, "PingPing"]) == 2
    assert "did you mean 'PingPong'?" in capsys.readouterr().err
