# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of the ranks of a plan: what --gpu gives them, and what is refused before a launch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.runs.seats import seat_lines
from mpigauge.measuring.jobs.job import job_of
from mpigauge.measuring.plan import Plan, Request, Resources, read_request, resolve
from mpigauge.measuring.plan.memory.gpus import check_fit, with_room_for_gpus
from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostGpus, NamedHost
from mpigauge.model.mpi import Mpi
from mpigauge.model.stored_cards import all_cards
from mpigauge.model.topology import Topology
from mpigauge.session import gpus as session_gpus
from mpigauge.session.gpus import check_gpu_options, with_gpus
from mpigauge.session.targets import Target
from mpigauge.site import topology
from mpigauge.site.mpi.device_memory import LibraryReport
from mpigauge.site.placement import HostResources
from mpigauge.site.topology.devices import nvidia_gpus
from tests.unit.measuring.plan.test_plan import MPICH

MACHINES = Path(__file__).resolve().parents[3] / "machines"
CARDS = all_cards()
GPUS = ("0000:19:00.0", "0000:3b:00.0", "0000:5e:00.0")


@pytest.fixture(scope="module")
def big() -> Topology:
    return topology.read(MACHINES / "epyc-7302-two-sockets.txt")


@dataclass(frozen=True)
class _Setup:
    """The parts of a setup that decide about GPUs."""

    request: Request
    resources: Resources
    cards: Cards = CARDS
    mpi: Mpi = MPICH
    kernels: None = None


def offering(machine: Topology, count: int = 2, size: int = 0) -> Resources:
    """The machine with so many GPUs, as its driver offers them."""
    buses = GPUS[:count]
    sizes = {bus: size for bus in buses if size}
    return Resources(machine, gpus={"": HostGpus(buses, None, sizes)})


def plan(resources: Resources, *names: str, **raw: Any) -> Plan:
    request = read_request({"benchmarks": names, "memory": ("device",)} | raw)
    if not (request.np or request.ranks):
        resources = with_room_for_gpus(resources, request.gpu)
    return resolve(request, CARDS, resources, MPICH)


def gpus(made: Plan) -> list[tuple[str, ...]]:
    return [block.gpus for block in made.parts[0].blocks]


def test_each_rank_has_a_gpu_of_its_own(big: Topology) -> None:
    assert gpus(plan(offering(big), "PingPong")) == [GPUS[:2]]
    assert gpus(plan(offering(big, 3), "Allreduce")) == [GPUS[:3]]
    assert plan(offering(big, 3), "Allreduce").world_ranks == 3
    assert gpus(plan(offering(big), "PingPong", memory=("pinned",))) == [GPUS[:2]]


def test_the_placement_shows_the_gpu_of_each_rank(big: Topology) -> None:
    made = plan(offering(big), "PingPong", gpu="1,0")
    _, heads, *ranks = seat_lines(made.parts[0], offering(big))
    assert heads.split()[-1] == "GPU"
    assert [line.split()[-1] for line in ranks] == [GPUS[1], GPUS[0]]
    unbound = plan(offering(big), "PingPong", bind="none")
    assert f"on GPU {GPUS[0]}, {GPUS[1]}" in seat_lines(unbound.parts[0], offering(big))[-1]
    none = resolve(read_request({"benchmarks": ("PingPong",)}), CARDS, offering(big), MPICH)
    assert "GPU" not in seat_lines(none.parts[0], offering(big))[1]


def test_host_memory_has_no_gpu(big: Topology) -> None:
    for memory in ((), ("host",)):
        request = read_request({"benchmarks": ("PingPong",), "memory": memory})
        assert gpus(resolve(request, CARDS, Resources(big), MPICH)) == [()]


def test_named_gpus_are_given_in_order_and_may_be_shared(big: Topology) -> None:
    assert gpus(plan(offering(big), "PingPong", gpu="1,0")) == [(GPUS[1], GPUS[0])]
    assert gpus(plan(offering(big), "PingPong", gpu="19:00.0, 0")) == [(GPUS[0], GPUS[0])]
    shared = plan(offering(big, 1), "Allreduce", gpu="0,0,0,0")
    assert (gpus(shared), shared.world_ranks) == ([(GPUS[0],) * 4], 4)


@pytest.mark.parametrize(
    ("count", "options", "sentence"),
    [
        (2, {"np": "4"}, "--gpu near: epyc has 2 GPUs for 4 ranks"),
        (2, {"np": "4"}, "or share GPUs: --gpu 0,1,0,1"),
        (1, {}, "--gpu near: epyc has 1 GPU for 2 ranks"),
        (2, {"gpu": "0,2"}, "--gpu 0,2: there is no GPU 2; epyc has 0 (0000:19:00.0), 1 ("),
        (2, {"gpu": "ff:00.0,0"}, "there is no GPU at ff:00.0"),
        (2, {"gpu": "one,0"}, "'one' is neither near, nor an index, nor a PCI address"),
        (2, {"gpu": "0", "np": "2"}, "it names 1 GPU for 2 ranks on epyc"),
        (2, {"memory": ("host",), "gpu": "0,1"}, "--gpu has no effect on buffers in host memory"),
        (0, {}, "the driver of epyc offers no GPU"),
    ],
)
def test_gpus_that_are_too_few_or_missing(
    big: Topology, count: int, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        plan(offering(replace(big, hostname="epyc"), count), "Allreduce", **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_every_host_gives_its_ranks_their_gpus(big: Topology) -> None:
    hosts = tuple(HostResources(name, replace(big, hostname=name)) for name in "ab")
    queried = {"a": HostGpus(GPUS[:2]), "b": HostGpus(GPUS[1:3])}
    made = plan(Resources(big, hosts, gpus=queried), "Allreduce")
    assert gpus(made) == [GPUS[:2], GPUS[1:3]]
    job = job_of(made, made.parts[0], MPICH)
    words = [dict(zip(h.words[::2], h.words[1::2], strict=True)) for h in job.hosts]
    assert [each["--gpus"] for each in words] == [",".join(GPUS[:2]), ",".join(GPUS[1:3])]


# --- --place gpu ----------------------------------------------------------------------------
NODE = topology.read(MACHINES / "xeon-6426y-4-gpus.txt")
OWN = tuple(gpu.bus for gpu in nvidia_gpus(NODE.devices))


def cores(made: Plan) -> list[str]:
    return [core for block in made.parts[0].blocks for core in block.bind]


@pytest.mark.parametrize(
    ("raw", "offered", "expected", "given"),
    [
        ({"np": 4}, OWN, ["0", "1", "16", "17"], OWN),
        ({"np": 2}, OWN[2:], ["16", "17"], OWN[2:]),
        ({"np": 2, "gpu": "3,0"}, OWN, ["16", "0"], (OWN[3], OWN[0])),
        ({"np": 4, "gpu": "2,2,0,0"}, OWN, ["16", "17", "0", "1"], (OWN[2],) * 2 + (OWN[0],) * 2),
    ],
)
def test_ranks_are_next_to_their_own_gpus(
    raw: dict[str, Any], offered: tuple[str, ...], expected: list[str], given: tuple[str, ...]
) -> None:
    resources = Resources(NODE, gpus={"": HostGpus(offered)})
    made = plan(resources, "Allreduce", place=("gpu",), **raw)
    assert cores(made) == expected
    assert gpus(made) == [given]


def test_a_placement_next_to_gpus_without_device_memory() -> None:
    resources = Resources(NODE, gpus={"": HostGpus(visible="3")})
    made = plan(resources, "PingPong", memory=(), place=("gpu",), np=2)
    assert cores(made) == ["16", "17"]
    with pytest.raises(UserError, match="CUDA_VISIBLE_DEVICES is set and empty"):
        plan(
            Resources(NODE, gpus={"": HostGpus(visible="")}), "PingPong", memory=(), place=("gpu",)
        )


def test_buffers_larger_than_the_gpu_are_refused(big: Topology) -> None:
    made = plan(offering(big, 2, 4 << 30), "PingPong", gpu="0,0")
    resources = offering(big, 2, 4 << 30)
    check_fit(made, made.parts[0], resources, 2 << 30)
    for kind in ("device", "managed", "host:managed"):
        with pytest.raises(UserError, match=r"^--sizes: 3 GiB for 2 ranks on the GPU at 0000:19"):
            check_fit(replace(made, memory=(kind,)), made.parts[0], resources, 3 << 30)
    check_fit(replace(made, memory=("pinned",)), made.parts[0], resources, 3 << 30)
    check_fit(made, made.parts[0], offering(big), 1 << 40)


# --- the driver of this machine -----------------------------------------------------------------
def test_without_a_driver_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = "mpigauge.site.mpi.device_memory.libraries.driver_library"
    monkeypatch.setattr(libraries, lambda _: None)
    request = read_request({"benchmarks": ("PingPong",), "memory": ("device", "host")})
    with pytest.raises(UserError, match=r"^--memory device,host needs the driver of an NVIDIA"):
        check_gpu_options(request, request.benchmarks, Target())
    check_gpu_options(request, request.benchmarks, Target(hosts=(NamedHost("a"),)))
    check_gpu_options(replace(request, cuda="/x"), request.benchmarks, Target())
    check_gpu_options(replace(request, memory=("host",)), request.benchmarks, Target())


def test_the_driver_says_which_gpus_there_are(
    big: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tuple((bus, "H") for bus in GPUS)
    offered = LibraryReport(13000, named, bytes=dict.fromkeys(GPUS, 5))
    monkeypatch.setattr(session_gpus, "_driver", lambda: "/lib/libcuda.so.1")
    monkeypatch.setattr("mpigauge.site.mpi.device_memory.ask_library", lambda _: offered)
    request = read_request({"benchmarks": ("Allreduce",), "memory": ("device",)})
    setup: Any = _Setup(request, Resources(big))
    there = with_gpus(setup, request.benchmarks, is_from_file=False)
    assert there.request.cuda == "/lib/libcuda.so.1"
    assert there.resources.gpus_of("") == HostGpus(GPUS, None, dict.fromkeys(GPUS, 5))
    assert there.resources.room == 3
    host: Any = _Setup(replace(request, memory=()), Resources(big))
    assert with_gpus(host, request.benchmarks, is_from_file=False) is host


@pytest.mark.parametrize(("visible", "order"), [(None, GPUS), ("2,1,0", GPUS[::-1])])
def test_gpus_are_counted_by_their_addresses_or_as_the_variable_does(
    big: Topology, monkeypatch: pytest.MonkeyPatch, visible: str | None, order: tuple[str, ...]
) -> None:
    """CUDA counts the fastest first."""
    offered = LibraryReport(13000, tuple((bus, "H") for bus in reversed(GPUS)))
    monkeypatch.setattr(session_gpus, "_driver", lambda: "/lib/libcuda.so.1")
    monkeypatch.setattr("mpigauge.site.mpi.device_memory.ask_library", lambda _: offered)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    request = read_request({"benchmarks": ("Allreduce",), "memory": ("device",)})
    setup: Any = _Setup(request, Resources(big))
    there = with_gpus(setup, request.benchmarks, is_from_file=False)
    assert there.resources.gpus_of("").offered == order


def test_a_driver_that_cannot_be_used_is_refused(
    big: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_gpus, "_driver", lambda: "/lib/libcuda.so.1")
    request = read_request({"benchmarks": ("Allreduce",), "memory": ("device",)})
    setup: Any = _Setup(request, Resources(big))
    for report, sentence in (
        (LibraryReport(13000, problem="it offers no GPU"), "libcuda.so.1: it offers no GPU$"),
        (LibraryReport(10020, ((GPUS[0], "H"),)), "supports CUDA 10.2, and 11.4 is the oldest"),
        (LibraryReport(0), r"supports CUDA \?, and 11.4"),
    ):
        monkeypatch.setattr("mpigauge.site.mpi.device_memory.ask_library", lambda _, r=report: r)
        with pytest.raises(UserError, match=sentence):
            with_gpus(setup, request.benchmarks, is_from_file=False)
