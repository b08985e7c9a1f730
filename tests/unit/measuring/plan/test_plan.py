# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From options to a plan: what is chosen, and every sentence that refuses."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.measuring.plan import (
    LaunchPlan,
    LookedUp,
    Plan,
    PlanPart,
    Request,
    Resources,
    kernel_words,
    read_request,
    resolve,
    where,
)
from mpigauge.measuring.plan.arms.foreign import Foreign
from mpigauge.measuring.plan.resolve import check_ranks
from mpigauge.model.cards import Card, Cards
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostRanks
from mpigauge.model.machine import Machine
from mpigauge.model.mpi import Mpi
from mpigauge.model.option_table import KERNEL_OPTIONS
from mpigauge.model.replayed import Replayed
from mpigauge.products.quick.plan import PAIR_SIZES, quick
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from tests import asked

MPICH = Mpi(
    name="mpich",
    version="5.0.2",
    standard="5.0",
    library=Path("/m/lib/libmpi.so.12"),
    library_string="MPICH Version: 5.0.2",
    abi="mpich",
    launcher="hydra",
    mpiexec=Path("/m/bin/mpiexec"),
    prefix=Path("/m"),
    include=None,
    env={},
    found="at /m",
)
OPENMPI = replace(MPICH, name="openmpi", launcher="openmpi", abi="ompi")


def card(name: str, ranks: str = "any", unit: str = "transfer", **facts: Any) -> Card:
    known: dict[str, Any] = {
        "suite": "MPI1", "about": f"{name}.", "time": "call", "sync": "each", "rooted": False,
        "by_default": True, "columns": "collective",
    }  # fmt: skip
    return Card(name=name, ranks=ranks, unit=unit, **(known | facts))


CARDS = Cards(
    benchmarks=(
        card("PingPong", "pair"),
        card("PingPing", "pair"),
        card("Sendrecv"),
        card("Exchange"),
        card("Allreduce", unit="reduction"),
        card("Bcast", rooted=True, options=("root",)),
        card("Barrier", unit="none"),
        card("Uniband", "pairs", windowed=True, by_default=False),
        card("Biband", "pairs", windowed=True, by_default=False),
    ),
    datatypes=("byte", "int", "float"),
    reduction_datatypes=("int", "float"),
    ops=("sum", "band"),
    op_types=(("sum", ("int", "float")), ("band", ("int",))),
)


@pytest.fixture(scope="module")
def machines(repository: Path) -> Path:
    return repository / "tests" / "machines"


@pytest.fixture
def two_cores(machines: Path) -> Machine:
    return topology.read(machines / "vm-epyc-2-cores.txt")


@pytest.fixture
def one_core(machines: Path) -> Machine:
    return topology.read(machines / "vm-one-core-cgroup-v1.txt")


@pytest.fixture
def big(machines: Path) -> Machine:
    return topology.read(machines / "epyc-7302-two-sockets.txt")


def plan(machine: Machine, *benchmarks: str, mpi: Mpi = MPICH, **raw: Any) -> Plan:
    request = asked.request({"benchmarks": benchmarks} | raw, {"HOME": "/h"})
    return resolve(request, CARDS, Resources(machine), mpi)


def words(plan: Plan, **of_launch: Any) -> dict[str, str]:
    launch = LaunchPlan(number=3, part=plan.parts[0], seed=9, **of_launch)
    line = kernel_words(plan, launch)
    return dict(zip(line[::2], line[1::2], strict=True))


# --- what is chosen -------------------------------------------------------------------------
def test_pairs_get_two_ranks_on_two_cores(big: Machine) -> None:
    part = plan(big, "pingpong", "PingPing").parts[0]
    assert (part.benchmarks, part.world_ranks) == (("PingPong", "PingPing"), 2)
    assert len(set(part.bind)) == 2


def test_collectives_get_all_cores(big: Machine) -> None:
    part = plan(big, "Allreduce").parts[0]
    assert part.world_ranks == big.cores == len(set(part.bind))


@pytest.mark.parametrize(
    ("raw", "world"),
    [
        ({"ranks": "2,4"}, 4),
        ({"np": "3"}, 3),
        ({"bind": "0,1,2"}, 3),
        ({"map": "2x3"}, 6),
        ({"map": "2x2", "ranks": "8"}, 8),
        ({"multi": "0", "ranks": "2"}, 32),
        ({"npmin": "4"}, 32),
    ],
)
def test_ranks_of_the_job(big: Machine, raw: dict[str, Any], world: int) -> None:
    assert plan(big, "Sendrecv", **raw).world_ranks == world


def test_nobody_is_bound_when_cores_are_shared(two_cores: Machine) -> None:
    shared = plan(two_cores, "Bcast", ranks="4", oversubscribe=True)
    assert shared.parts[0].bind == ()
    assert shared.oversubscribe
    assert not plan(two_cores, "Bcast", oversubscribe=True).oversubscribe


def test_bind_none_leaves_binding_to_others(two_cores: Machine) -> None:
    assert plan(two_cores, "Bcast", bind="none").parts[0].bind == ()


def test_a_budget_alone_is_used_up(two_cores: Machine) -> None:
    assert plan(two_cores, "Bcast", seconds="1m30s").use_all
    both = plan(two_cores, "Bcast", seconds="30s", precision="2%")
    assert (both.seconds, both.precision, both.use_all) == (30, 0.02, False)


def test_launches(two_cores: Machine) -> None:
    def rounds(**raw: Any) -> tuple[int, int]:
        made = plan(two_cores, "Bcast", **raw)
        return made.least_rounds, made.most_rounds

    assert rounds() == (6, 20)
    assert rounds(launches=3) == (3, 3)
    assert rounds(seconds="30s") == (6, 20)
    assert rounds(classic=True) == (1, 1)


def test_data_type_in_the_spelling_of_mpi(two_cores: Machine) -> None:
    made = plan(two_cores, "Allreduce", datatype="MPI_INT", op="mpi_band")
    assert (made.datatype, made.op) == ("int", "band")


def test_settings_and_environment(two_cores: Machine) -> None:
    made = plan(two_cores, "Bcast", settings=("A_B=c=d",), env=("HOME", "X="))
    assert (made.settings, made.env) == ({"A_B": "c=d"}, {"HOME": "/h", "X": ""})
    plan(two_cores, "Bcast", mpi=OPENMPI, settings=("btl=self,sm",))


def test_sizes_from_a_file(two_cores: Machine, tmp_path: Path) -> None:
    file = tmp_path / "sizes"
    file.write_text("0  # nothing\n1Ki\n")
    assert plan(two_cores, "Bcast", sizes_file=str(file)).parts[0].sizes == (0, 1024)


# --- what is refused ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("benchmarks", "raw", "sentence"),
    [
        (["PingPog"], {}, "no benchmark 'PingPog'; did you mean 'PingPong'"),
        (["Bcast"], {"sizes": "1..x"}, "'1..x' (word 1 of '1..x') is not a size"),
        (["Bcast"], {"sizes": "8..1"}, "runs downwards"),
        (["Bcast"], {"sizes": "-1"}, "is not a size"),
        (["Bcast"], {"sizes": "2000Gi"}, "more than 1 TiB"),
        (["Bcast"], {"sizes_file": "/no/file"}, "cannot read the file of sizes /no/file"),
        (["Bcast"], {"classic": True, "seconds": "3s"}, "--classic and --time contradict"),
        (["Bcast"], {"classic": True, "precision": "1%"}, "--classic and --precision contradict"),
        (["Bcast"], {"precision": "5 pc"}, "--precision: '5 pc' is not a relative error"),
        (["Bcast"], {"precision": "500%"}, "out of range"),
        (["Bcast"], {"precision": "0"}, "out of range"),
        (["Bcast"], {"seconds": "soon"}, "--time: 'soon' is not a time; write 30s"),
        (["Bcast"], {"seconds": "0s"}, "longer than nothing"),
        (["Bcast"], {"launches": 0}, "--launches: 0 is out of range"),
        (["Bcast"], {"launches": 5000}, "--launches: 5000 is out of range"),
        (["Bcast"], {"seed": -1}, "--seed: -1 is out of range"),
        (["Uniband"], {"inflight": 0}, "--inflight: 0 is out of range"),
        (["Bcast"], {"ranks": "2,two"}, "--ranks: 'two' is not a number of ranks"),
        (["Bcast"], {"ranks": "0"}, "--ranks: '0' is not a number of ranks"),
        (["Bcast"], {"np": "-2"}, "--np: '-2' is not a number of ranks"),
        (
            ["Bcast"],
            {"map": "4"},
            "--rank-grid: '4' is not a grid; write two numbers with x between: 4x2",
        ),
        (["Bcast"], {"map": "0x4"}, "is not a grid"),
        (["Bcast"], {"map": "2x3", "np": "2"}, "--rank-grid 2x3 needs 6 ranks, the job has 2"),
        (["Bcast"], {"ranks": "4", "np": "2"}, "--ranks wants groups of 4 ranks, the job has 2"),
        (["Bcast"], {"ranks": "4"}, "4 ranks are more than the 2 cores that may be used here"),
        (["PingPong"], {"ranks": "1"}, "PingPong needs at least 2 ranks"),
        (["Bcast"], {"bind": "0,9"}, "there is no core 9 on vm; those that may be used are 0-1"),
        (["Bcast"], {"bind": "0,1", "place": ("l3",)}, "--bind and --place contradict"),
        (["Bcast"], {"bind": "none", "bound_by": "launcher"}, "--bind-by launcher contradict"),
        (["Bcast"], {"place": ("l5",)}, "there is no placement 'l5'; there are all, compact"),
        (["PingPong"], {"place": ("numa",)}, "this machine has l3"),
        (["Bcast"], {"place": ("l3",), "np": "3"}, "it places 2 ranks, the job has 3"),
        (["PingPong"], {"place": ("cores:0",)}, "PingPong needs at least 2 ranks, the job has 1"),
        (["Bcast"], {"bind": "0,x"}, "--bind: 'x' (word 2 of '0,x') names no cores"),
        (["Bcast"], {"bind": "3-1"}, "names no cores"),
        (["Bcast"], {"bind": "0,0"}, "ranks 0 and 1 of vm on the same core 0"),
        (["PingPong"], {"bind": "0", "np": "2"}, "names cores for 1 rank, the job has 2"),
        (["Bcast"], {"datatype": "flot"}, "no data type 'flot'; did you mean 'float'"),
        (["Allreduce"], {"op": "sun"}, "no operation 'sun'; did you mean 'sum'"),
        (["Allreduce"], {"op": "band"}, "the operation band is not defined for float"),
        (["Allreduce"], {"datatype": "byte"}, "the operation sum is not defined for byte"),
        (["Bcast"], {"op": "sum"}, "--op has no effect on Bcast; it is for benchmarks that reduce"),
        (["Barrier"], {"root_shift": True}, "--root-shift has no effect on Barrier"),
        (
            ["PingPong", "PingPing", "Sendrecv", "Exchange", "Bcast"],
            {"op": "sum"},
            "--op has no effect on PingPong, PingPing, Sendrecv and 2 more; it is for",
        ),
        (["Barrier"], {"root": "1"}, "--root has no effect on Barrier; it is for MPI1 (Bcast"),
        (["Bcast"], {"root": "-1"}, "--root: '-1' is not a whole number from 0 to 2147483647"),
        (["Bcast"], {"root": "2"}, "--root: there is no rank 2 of 2; name one from 0 to 1"),
        (
            ["Bcast"],
            {"root": "4", "np": "4", "oversubscribe": True},
            "--root: there is no rank 4 of 4; name one from 0 to 3",
        ),
        (["Bcast"], {"root": "1", "root_shift": True}, "--root and --root-shift contradict"),
        (["Barrier"], {"inflight": 3}, "--inflight has no effect on Barrier"),
        (["Bcast"], {"settings": ("btl=self",)}, "resembles an MCA parameter of Open MPI"),
        (["Bcast"], {"settings": ("A",)}, "--set: 'A' is not of the form NAME=VALUE"),
        (["Bcast"], {"env": ("NOT_HERE",)}, "no variable NOT_HERE here"),
        (["Bcast"], {"env": ("1X=2",)}, "--env: '1X=2' is not of the form"),
        (["Bcast"], {"env": ("1X",)}, "'1X' is not a name of a variable"),
        (["Bcast"], {"memory_limit": "much"}, "--memory-limit: 'much' is not a size"),
        (["Bcast"], {"timeout_s": "x"}, "--timeout: 'x' is not a time"),
        ([], {}, "no benchmark is named"),
    ],
)
def test_refusals(
    two_cores: Machine, benchmarks: list[str], raw: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        plan(two_cores, *benchmarks, **raw)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bad_line_of_a_sizes_file_is_named(two_cores: Machine, tmp_path: Path) -> None:
    file = tmp_path / "sizes"
    file.write_text("0\n\nbig\n")
    with pytest.raises(UserError, match=r"'big' \(line 3 of .*sizes\) is not a size"):
        plan(two_cores, "Bcast", sizes_file=str(file))


def test_oversubscribe_allows_a_core_twice(two_cores: Machine) -> None:
    assert plan(two_cores, "Bcast", bind="0,0", oversubscribe=True).parts[0].bind == ("0", "0")


def test_entries_may_be_ranges_and_sums(big: Machine) -> None:
    assert plan(big, "Bcast", bind="0-3,4+6").parts[0].bind == ("0-3", "4+6")


# --- quick ----------------------------------------------------------------------------------
def of_quick(machine: Machine, **raw: Any) -> Plan:
    return quick(read_request(raw), CARDS, Resources(machine), MPICH)


def test_quick_on_two_cores_has_two_jobs(two_cores: Machine) -> None:
    made = of_quick(two_cores)
    assert [part.world_ranks for part in made.parts] == [2, 2]
    pairs, others = made.parts
    assert pairs.benchmarks == ("PingPong", "Sendrecv")
    assert others.benchmarks == ("Uniband", "Allreduce", "Bcast", "Barrier")
    assert (made.seconds, made.use_all) == (40, False)


def test_quick_has_no_collective_that_sends_nothing(two_cores: Machine, big: Machine) -> None:
    for machine in (two_cores, big):
        for part in of_quick(machine).parts:
            assert part.sizes is not None
            assert 0 not in part.sizes or "PingPong" in part.benchmarks
            assert set(part.sizes) <= set(PAIR_SIZES), "all lines of the table have its columns"


def test_quick_measures_the_limits_of_one_pair_of_cores(two_cores: Machine, big: Machine) -> None:
    """Kernels have them; not where several pairs are measured, nor between hosts."""
    limits = ["Line", "Mailbox", "Copy_once"]
    of_node = tuple(card(name, "pairs", suite="NODE") for name in limits)
    known = replace(CARDS, benchmarks=CARDS.benchmarks + of_node)
    resources = Resources(two_cores)
    words = tuple(f"NODE:{name}" for name in limits)
    assert quick(read_request({}), known, resources, MPICH).parts[0].benchmarks[2:] == words
    several = quick(read_request({"place": ("l3,sockets",)}), known, Resources(big), MPICH)
    assert several.parts[0].benchmarks == ("PingPong", "Sendrecv")
    site = tuple(HostResources(name, replace(big, hostname=name)) for name in ("a", "b"))
    between = quick(read_request({}), known, Resources(big, site), MPICH)
    assert between.parts[0].benchmarks == ("PingPong", "Sendrecv")


def test_quick_on_many_cores(big: Machine) -> None:
    pairs, bands, others = of_quick(big, seconds="20s", launches=7).parts
    assert (pairs.world_ranks, bands.world_ranks, others.world_ranks) == (2, 2, 32)
    assert bands.benchmarks == ("Uniband",)
    assert others.ranks == (32,)


def test_quick_on_one_core_says_what_to_do(one_core: Machine) -> None:
    with pytest.raises(UserError, match=r"one core.*scheduler.*--oversubscribe"):
        of_quick(one_core)
    assert of_quick(one_core, oversubscribe=True).oversubscribe


def test_quick_measures_pairs_on_each_placement(big: Machine) -> None:
    made = of_quick(big, place=("l3,sockets",))
    places = {"0,1": "l3", "0,2": "sockets"}
    assert [(part.places, part.world_ranks, part.bind) for part in made.parts] == [
        (places, 3, ("0", "1", "16")),
        (places, 3, ("0", "1", "16")),
        ({}, 32, tuple(map(str, range(32)))),
    ]


def test_quick_measures_collectives_where_a_placement_has_room(big: Machine) -> None:
    made = of_quick(big, place=("scatter",))
    assert [(part.world_ranks, part.ranks) for part in made.parts] == [
        (2, (2,)),
        (2, (2,)),
        (32, (32,)),
    ]
    assert {part.placement for part in made.parts} == {"scatter"}
    assert made.parts[2].bind[:4] == ("0", "16", "2", "18")


def test_quick_needs_two_seats(big: Machine) -> None:
    with pytest.raises(UserError, match="--place cores:3 seats one rank; pairs need at least 2"):
        of_quick(big, place=("cores:3",))


# --- placements -----------------------------------------------------------------------------
def test_placements_of_pairs_share_a_job(big: Machine) -> None:
    (part,) = plan(big, "PingPong", place=("core,sockets", "cores:5,0"), sizes="8").parts
    assert (part.bind, part.sizes, part.ranks) == (("0", "32", "16", "5"), (8,), ())
    assert part.places == {"0,1": "core", "0,2": "sockets", "3,0": "cores:5,0"}
    assert part.pairs == "0-1;0-2;3-0"
    assert Plan.from_json(plan(big, "PingPong", place=("core,sockets",), seed=1).to_json()) == plan(
        big, "PingPong", place=("core,sockets",), seed=1
    )


@pytest.mark.parametrize(
    ("names", "place", "more"),
    [
        ("PingPong", "core,cores:0,1,2", {}),  # more than two ranks
        ("Bcast", "core,sockets", {}),  # not for a pair only
        ("PingPong", "core,sockets", {"ranks": "2"}),  # somebody says how ranks are grouped
        ("PingPong", "core,cores:0,32", {}),  # the same two seats
        ("PingPong", "l3,cores:0-1,2", {}),  # seats that share PUs
    ],
)
def test_else_a_placement_is_a_part(
    big: Machine, names: str, place: str, more: dict[str, Any]
) -> None:
    made = plan(big, names, place=(place,), **more)
    assert len(made.parts) == 2
    assert all(part.placement and not part.places and not part.pairs for part in made.parts)


def test_all_and_one_of_them_is_measured_once(big: Machine) -> None:
    (part,) = plan(big, "PingPong", place=("all,core",)).parts
    names = list(part.places.values())
    assert names[0] == "core"
    assert len(set(names)) == len(names)


def test_collectives_on_a_placement_have_as_many_ranks_as_without(big: Machine) -> None:
    assert plan(big, "Bcast", place=("scatter",)).world_ranks == 32
    assert plan(big, "Bcast", place=("scatter",), ranks="2,4").parts[0].bind == (
        "0",
        "16",
        "2",
        "18",
    )


def test_groups_may_be_smaller_than_a_placement(big: Machine) -> None:
    part = plan(big, "Bcast", bind="0,1,2,3", ranks="2").parts[0]
    assert (part.world_ranks, part.ranks) == (4, (2,))


def test_bind_is_short_for_cores(big: Machine) -> None:
    assert plan(big, "PingPong", bind="0,4", seed=1) == plan(
        big, "PingPong", place=("cores:0,4",), seed=1
    )


# --- the words of the kernels ---------------------------------------------------------------
def test_kernel_words(two_cores: Machine) -> None:
    made = plan(two_cores, "PingPong", "Bcast", sizes="0,8", root_shift=True, seed=5)
    line = words(made, seconds=1.5, use_all=True, stop_file="/run/stop it")
    assert line["--benchmarks"] == "PingPong,Bcast"
    assert line["--sizes"] == "0,8"
    assert line["--bind"] == "0,1"
    assert (line["--seed"], line["--launch"], line["--seconds"]) == ("9", "3", "1.500")
    assert (line["--root-shift"], line["--use-all"], line["--stop-file"]) == (
        "1",
        "1",
        "/run/stop it",
    )
    assert not {"--multi", "--map", "--ranks", "--datatype"} & set(line)


def test_kernel_words_of_imb_groups(big: Machine) -> None:
    line = words(plan(big, "Bcast", map="2x4", multi="1", npmin="4", classic=True))
    assert (line["--map"], line["--multi"], line["--npmin"]) == ("2x4", "1", "4")
    assert line["--mode"] == "classic"
    assert "--stop-file" not in line


# --- what is stored -------------------------------------------------------------------------
def test_a_plan_survives_json(big: Machine) -> None:
    for made in (
        plan(big, "Bcast", map="2x4", sizes="1,2", settings=("A=b",), seconds="3s"),
        of_quick(big),
        of_quick(big, place=("l3",)),
    ):
        assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_seeds_differ_between_launches_and_not_between_runs(two_cores: Machine) -> None:
    made = plan(two_cores, "Bcast", seed=1)
    seeds = [made.seed_of(launch) for launch in range(20)]
    assert len(set(seeds)) == 20
    assert seeds == [plan(two_cores, "Bcast", seed=1).seed_of(launch) for launch in range(20)]
    assert all(0 <= seed < 1 << 63 for seed in seeds)


# --- options that only some benchmarks use ---------------------------------------------------
@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"threads": "2"}, {"threads": "2"}),
        ({"test_every": "0.5us"}, {"test-every": "0.5"}),
        ({"touch_send": "off"}, {"touch-send": "0"}),
        ({"topo": "4X2"}, {"topo": "4x2"}),
        ({"stride": "0"}, {"stride": "0"}),
        ({"layout": "resize_vec"}, {"layout": "resize_vec"}),
        ({"dir": "/,/tmp"}, {"dir": "/,/tmp"}),
    ],
)
def test_options_of_some_benchmarks_reach_the_kernels_in_their_words(
    raw: dict[str, str], words: dict[str, str]
) -> None:
    assert asked.request({"benchmarks": ("PingPong",), **raw}).suite_options == words


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"threads": "none"}, "--threads: 'none' is not a whole number from 1 to 4096"),
        ({"test_every": "0"}, "--test-every: '0' is not a number of microseconds"),
        ({"topo": "4xx"}, "--grid: '4xx' is not a grid"),
        ({"dir": "/nowhere"}, "--dir: there is no folder /nowhere"),
        ({"dir": "/,"}, "--dir: '/,' has an empty name"),
    ],
)
def test_wrong_options_of_some_benchmarks_are_said(raw: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        asked.request({"benchmarks": ("PingPong",), **raw})


def test_two_options_that_say_the_same_contradict() -> None:
    for raw in ({"sizes": "1", "sizes_file": "f"}, {"hosts": "a", "hostfile": "f"}):
        first, second = (f"--{name.replace('_', '-')}" for name in raw)
        with pytest.raises(UserError, match=f"{first} and {second} contradict"):
            read_request(raw)


def test_a_setting_without_effect_is_a_mistake(two_cores: Machine) -> None:
    with pytest.raises(UserError, match="--threads has no effect on Bcast"):
        plan(two_cores, "Bcast", threads="2")


def test_the_kernels_know_all_that_they_are_told(two_cores: Machine) -> None:
    made = plan(two_cores, "PingPong", "Bcast", sizes="8", memory_limit="1Mi", map="1x2")
    made = replace(made, suite_options={"layout": "resize"})
    words = kernel_words(made, LaunchPlan(0, made.parts[0], 1))
    assert {word.removeprefix("--") for word in words[::2]} <= set(KERNEL_OPTIONS)


def test_options_of_an_older_plan_are_read(two_cores: Machine) -> None:
    stored = plan(two_cores, "PingPong").to_json()
    del stored["suite_options"]
    stored["heeded"] = {"layout": "resize"}
    for part in stored["parts"]:
        part["heeded"] = {"stride": "1"}
        del part["suite_options"]
    read = Plan.from_json(stored)
    assert read.suite_options == {"layout": "resize"}
    assert read.parts[0].suite_options == {"stride": "1"}


# --- numbers of a plan -----------------------------------------------------------------------
PART = PlanPart(benchmarks=("Bcast", "Reduce"), world_ranks=8, sizes=(1, 2, 4))


def test_the_weight_of_a_part_is_its_number_of_cells() -> None:
    assert PART.weight == 2 * 3
    assert replace(PART, ranks=(2, 4)).weight == 2 * 3 * 2
    places = {"l3": "0,1", "numa": "0,2", "package": "0,4"}
    assert replace(PART, ranks=(2,), places=places).weight == 2 * 3 * 3
    arms = tuple((f"A={n}", {"A": str(n)}) for n in range(5))
    assert replace(PART, ranks=(2, 4), arms=arms).weight == 2 * 3 * 2 * 5
    options = {"threads": "1,2,4", "layout": "vec"}
    assert replace(PART, suite_options=options).weight == 2 * 3 * 3
    assert replace(PART, sizes=None).weight == 2 * 24  # 0 and 1 to 4 MiB
    assert replace(PART, share=7).weight == 7
    program = Foreign(name="hpl", words=("hpl",), merits=())
    assert replace(PART, foreign=program).weight == 1
    assert replace(PART, foreign=program, share=3).weight == 3


def test_the_largest_group_is_the_largest_that_is_named() -> None:
    assert PART.largest_group == 8
    assert replace(PART, ranks=(2, 4)).largest_group == 4


def test_the_cores_of_a_part_are_those_of_this_machine() -> None:
    here = HostRanks("", 2, ("0", "1"))
    hosts = (HostRanks("a", 1, ("2",)), HostRanks("b", 1, ("3",)))
    assert (PART.bind, PART.hosts) == ((), ())
    assert replace(PART, blocks=(here,)).bind == ("0", "1")
    assert replace(PART, blocks=(here,)).hosts == ()
    assert replace(PART, blocks=hosts).bind == ()
    assert replace(PART, blocks=hosts).hosts == hosts
    other = replace(PART, blocks=(HostRanks("c", 1), hosts[0]), world_ranks=9)
    made = Plan(parts=(replace(PART, blocks=hosts), other), mpi="mpich", seed=1)
    assert (made.hosts, made.world_ranks) == (("a", "b", "c"), 9)


def test_launches_go_through_the_parts_in_turn() -> None:
    parts = tuple(replace(PART, world_ranks=n) for n in (2, 3, 4))
    made = Plan(parts=parts, mpi="mpich", seed=1)
    assert [made.part(launch).world_ranks for launch in range(7)] == [2, 3, 4, 2, 3, 4, 2]
    assert [made.round(launch) for launch in range(7)] == [0, 0, 0, 1, 1, 1, 2]


def test_shuffled_rounds_have_each_part_once_in_orders_that_the_seed_gives() -> None:
    parts = tuple(replace(PART, world_ranks=n) for n in range(2, 8))
    made = Plan(parts=parts, mpi="mpich", seed=1, shuffle=True)
    orders = [tuple(made.part_number(6 * n + i) for i in range(6)) for n in range(8)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 4
    again = replace(made, seed=2)
    assert orders[0] == tuple(made.part_number(i) for i in range(6))
    assert orders != [tuple(again.part_number(6 * n + i) for i in range(6)) for n in range(8)]


def test_seeds_are_positive_numbers_of_63_bits() -> None:
    made = Plan(parts=(PART,), mpi="mpich", seed=5)
    assert made.seed_of(0) == 5
    assert made.seed_of(1) == (5 + 0x9E3779B97F4A7C15) % 2**63
    assert all(0 <= made.seed_of(launch) < 2**63 for launch in range(100))


def test_launches_end_early_only_where_nothing_is_compared_and_no_time_is_given() -> None:
    made = Plan(parts=(PART,), mpi="mpich", seed=1)
    assert made.ends_early
    assert not replace(made, seconds=0.0).ends_early
    assert not replace(made, parts=(PART, replace(PART, arm="A=1"))).ends_early
    assert not replace(made, parts=(replace(PART, arms=(("A=1", {"A": "1"}),)),)).ends_early
    assert (made.least_rounds, made.most_rounds) == (6, 20)
    assert (replace(made, launches=3).least_rounds, replace(made, launches=3).most_rounds) == (3, 3)


def test_a_plan_is_read_as_it_was_stored() -> None:
    program = Foreign(name="hpl", words=("hpl",), merits=(), ranks=4)
    parts = (
        replace(
            PART, ranks=(2, 4), places={"l3": "0,1"}, placement="l3", arm="A=1", share=2,
            blocks=(HostRanks("a", 2, ("0", "1"), "a.cluster"),), settings={"A": "1"},
            env={"N": "2"}, arms=(("B=1", {"B": "1"}),), suite_options={"layout": "vec"},
            in_turn=True, pairs="all",
        ),
        replace(PART, benchmarks=("hpl",), sizes=None, foreign=program),
        replace(PART, sizes=()),
    )  # fmt: skip
    made = Plan(
        parts=parts, mpi="mpich", seed=7, seconds=0.0, use_all=True, launches=3, map=(2, 4),
        rsh=("ssh", "-q"), insist=("Bcast",), suite_options={"threads": "2"}, shuffle=True,
        strict=True, fail_fast=True, settings={"C": "1"}, env={"D": "2"}, oversubscribe=True,
        replay=Replayed(profile="p", calls=3, mpi_s=0.5, covered=0.25, left_out=(("Bcast", 0.5),)),
    )  # fmt: skip
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.parts[0].extra_columns == {"placement": "l3", "arm": "A=1"}
    assert made.to_json()["benchmarks"] == ("Bcast", "Reduce", "hpl")


def test_what_nobody_asked_for_has_these_values() -> None:
    """Of a request, of a plan, of its parts and launches; none of them is empty."""

    def values(of: Any) -> dict[str, Any]:
        every = {each.name: getattr(of, each.name) for each in fields(of)}
        return {name: value for name, value in every.items() if value not in ("", (), {}, None)}

    part = PlanPart(("PingPong",), 2)
    assert values(part) == {
        "benchmarks": ("PingPong",), "world_ranks": 2, "share": 0, "in_turn": False,
        "timeout_s": 0.0,
    }  # fmt: skip
    assert values(LaunchPlan(3, part, 4)) == {
        "number": 3, "part": part, "seed": 4, "seconds": 0.0, "cell_seconds": 0.0,
        "use_all": False, "bound_by": "kernel",
    }  # fmt: skip
    assert values(Plan((), "mpich", 1)) == {
        "mpi": "mpich", "seed": 1, "mode": "adaptive", "precision": 0.05, "use_all": False,
        "op": "sum", "root_shift": False, "inflight": 256, "cache": "hot",
        "cache_bytes": 67_108_864, "sync": "barrier", "data": "static", "npmin": 2,
        "memory_limit": 0, "oversubscribe": False, "timeout_s": 300.0, "start_s": 0.0,
        "bound_by": "kernel", "shuffle": False, "strict": False, "fail_fast": False,
    }  # fmt: skip
    assert values(Request()) == {
        "root_shift": False, "cache": "hot", "data": "static", "sync": "auto", "unbound": False,
        "bound_by": "kernel", "classic": False, "oversubscribe": False, "memory_limit": 0,
        "seed": 0,
    }  # fmt: skip
    assert values(LookedUp()) == {"seed": 0}


def test_a_pair_needs_two_ranks_of_the_job_and_others_of_a_group() -> None:
    pair, single = CARDS.find("PingPong"), CARDS.find("Barrier")
    several = card("Scan", "several")
    for request, chosen, world in (
        (Request(ranks=(1,)), [pair, single], 2),
        (Request(ranks=(1, 2)), [several], 2),
        (Request(map=(2, 2)), [pair], 4),
    ):
        check_ranks(request, chosen, world)
    for request, one, world, why in (
        (Request(ranks=(1,)), several, 2, "Scan needs at least 2 ranks, the job has 1"),
        (Request(), pair, 1, "PingPong needs at least 2 ranks, the job has 1"),
        (Request(ranks=(1, 3)), pair, 2, "--ranks wants groups of 3 ranks, the job has 2"),
        (Request(map=(2, 2)), pair, 3, "--rank-grid 2x2 needs 4 ranks, the job has 3"),
    ):
        with pytest.raises(UserError, match=why):
            check_ranks(request, [one], world)


def test_cores_are_those_of_the_host_on_which_ranks_are(big: Machine, two_cores: Machine) -> None:
    here = Resources(big)
    hosts = Resources(big, (HostResources("a", big), HostResources("b", two_cores)))
    on_a, on_b = HostRanks("a", 3), HostRanks("b", 3)
    assert hosts.topology(on_b) is two_cores
    assert hosts.topology(on_a) is hosts.topology(HostRanks("c", 1)) is big
    assert here.topology(on_b) is big
    wanted = PlanPart(("Bcast",), 6)
    assert not hosts.crowded(replace(wanted, blocks=(on_a, replace(on_b, ranks=2))))
    assert hosts.crowded(replace(wanted, blocks=(on_a, on_b)))
    assert not here.crowded(replace(wanted, blocks=(on_a, on_b)))
    alone = [hosts.cold_bytes(replace(wanted, blocks=(each,))) for each in (on_a, on_b)]
    assert hosts.cold_bytes(replace(wanted, blocks=(on_a, on_b))) == max(alone) > min(alone)
    assert hosts.cold_bytes(wanted) == 0


def test_memory_is_named_by_its_nodes_from_where_it_is_looked_at(big: Machine) -> None:
    """Also without memory on a node, outside of the cpuset, and with a single node."""
    nodes = where.with_memory(big)
    assert nodes == tuple(node.number for node in big.numa)
    assert len(nodes) == 2
    assert where.expanded("1,local,all", big) == ("1", "local", "0", "interleaved")
    assert where.expanded("0", big) == ("0",)
    assert where.seen_from(0, "all,local,remote", big) == ("0", "1", "interleaved")
    assert where.seen_from(1, "remote,local", big) == ("0", "1")
    one = replace(big, allowed_numa=frozenset({1}))
    assert where.with_memory(one) == (1,)
    assert where.expanded("all", one) == ("1",)
    assert where.seen_from(0, "local,remote", one) == ("1",)
    empty = replace(big, numa=(replace(big.numa[0], bytes=0), big.numa[1]))
    assert where.with_memory(empty) == (1,)
    where.check("0+1,local,remote,interleaved", big)
    for text, machine, why in (
        ("remote", one, "only NUMA node 1 has memory, so there is no remote memory"),
        ("0+1", one, "NUMA node 0 of .* may not be used here"),
        ("0", empty, "NUMA node 0 of .* has no memory; only NUMA node 1 has memory"),
        ("0+7", big, "there is no NUMA node 7 on .*; there is memory on 0 and 1"),
        ("1", replace(big, numa=()), "there is no NUMA node 1 .* this machine reports no NUMA"),
    ):
        with pytest.raises(UserError, match=why):
            where.check(text, machine)
