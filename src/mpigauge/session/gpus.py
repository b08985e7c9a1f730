# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of this host for a request, and the trials that show what an MPI does with them."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan.memory.buffer_memory import is_on_gpu
from mpigauge.measuring.plan.memory.gpus import check_gpus, uses_gpus, uses_nccl, with_room_for_gpus
from mpigauge.measuring.plan.resources import GPU
from mpigauge.model.cards import NCCL_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostGpus
from mpigauge.model.stored_cards import all_cards
from mpigauge.site import batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.measuring.plan import Plan, Request
    from mpigauge.session.targets import Setup, Target

OLDEST = 11040
"""The oldest driver that the kernels use, by the version of CUDA that it supports."""
TRIALS = "device_memory_trials"
"""The key of the trials in run.json."""


def check_gpu_options(request: Request, benchmarks: Iterable[str], target: Target) -> None:
    """Checks before anything is built that these benchmarks can have their buffers where they are
    requested. UserError: they cannot, or this machine has no driver of a GPU."""
    words = list(benchmarks)
    has_nccl = any(NCCL_SUITE in word.upper() for word in words)
    if not (request.memory or request.gpu or request.cuda or request.nccl or has_nccl):
        return
    from mpigauge.measuring.plan.memory.memory_check import check_memory

    chosen = all_cards().chosen(words)
    check_memory(request, chosen, all_cards().named(words))
    check_gpus(request, chosen)
    if target.hosts or target.topology:
        return
    if uses_gpus(request, chosen) and not request.cuda:
        _check_driver(request)
    if uses_nccl(chosen) and not request.nccl:
        _nccl()


def _check_driver(request: Request) -> None:
    from mpigauge.site.mpi.device_memory.libraries import driver_library

    if driver_library(os.environ) is None:
        kinds = ",".join(request.memory)
        what = f"--memory {kinds}" if kinds else "a GPU"
        raise UserError(
            f"{what} needs the driver of an NVIDIA GPU, and there is no libcuda.so.1 here; take "
            "--memory host, or a machine with a GPU"
        )


def _nccl() -> str:
    """The library of NCCL of this host. UserError: there is none."""
    from mpigauge.site.mpi.device_memory.libraries import NCCL, nccl_library

    library = nccl_library(os.environ)
    if library is None:
        raise UserError(
            f"there is no {NCCL} here; name the library with --nccl FILE, or install one, such as "
            "by `pip install nvidia-nccl-cu13`"
        )
    return str(library)


def with_gpus(setup: Setup, benchmarks: Iterable[str], is_from_file: bool) -> Setup:
    """The setup with the GPUs that the driver of this machine offers, and with as many ranks by
    default; unchanged if no buffer needs one. `is_from_file`: the machine is one in a file.
    UserError: the driver cannot be used, or there is no GPU."""
    request, resources = setup.request, setup.resources
    chosen = setup.cards.chosen(benchmarks)
    if not uses_gpus(request, chosen):
        return _with_visible_gpus(setup, is_from_file)
    if not resources.hosts and not is_from_file:
        request = replace(request, cuda=request.cuda or _driver())
        resources = replace(resources, gpus={"": _offered(request.cuda)})
        if uses_nccl(chosen):
            request = replace(request, nccl=_checked_nccl(setup))
    if not (request.np or request.ranks or resources.ppn or request.map):
        resources = with_room_for_gpus(resources, request.gpu)
    return replace(setup, request=request, resources=resources)


def _with_visible_gpus(setup: Setup, is_from_file: bool) -> Setup:
    """The setup with the value of CUDA_VISIBLE_DEVICES, for a placement next to GPUs by a job that
    does not use them."""
    if GPU not in setup.request.place or setup.resources.hosts or is_from_file:
        return setup
    from mpigauge.site.gpu import VISIBLE

    gpus = {"": HostGpus(visible=os.environ.get(VISIBLE))}
    return replace(setup, resources=replace(setup.resources, gpus=gpus))


def _driver() -> str:
    from mpigauge.site.mpi.device_memory.libraries import driver_library

    return str(driver_library(os.environ) or "")


def _checked_nccl(setup: Setup) -> str:
    """The library of NCCL that kernels open. UserError: it cannot be used."""
    from mpigauge.site.mpi.device_memory.nccl import check_nccl

    library = setup.request.nccl or _nccl()
    if setup.built is not None:
        check_nccl(library, setup.mpi, setup.built)
    return library


def _offered(library: str) -> HostGpus:
    """The GPUs that the driver offers, in the order of CUDA_VISIBLE_DEVICES if it is set, else of
    their PCI addresses: by default CUDA counts the fastest first."""
    from mpigauge.site.gpu import VISIBLE
    from mpigauge.site.mpi.device_memory import ask_library

    report = ask_library(Path(library))
    if report.problem:
        raise UserError(f"--memory: the driver's library {library}: {report.problem}")
    if report.version < OLDEST:
        raise UserError(
            f"--memory: the driver's library {library} supports CUDA {report.cuda or '?'}, and "
            "11.4 is the oldest that is supported; install a newer driver"
        )
    buses = [bus for bus, _ in report.gpus]
    if VISIBLE not in os.environ:
        buses.sort()
    return HostGpus(offered=tuple(buses), bytes=report.bytes)


def transport_for_gpus(setup: Setup, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a transport, with the transports of UCX for CUDA if buffers are on a GPU."""
    from mpigauge.site.mpi.device_memory import cuda_libraries, device_settings
    from mpigauge.site.mpi.device_memory.settings import UCX_TLS

    request = setup.request
    if UCX_TLS not in settings or not any(map(is_on_gpu, request.memory)):
        return dict(settings)
    cuda = cuda_libraries(setup.mpi, os.environ)
    if request.cuda:
        cuda = replace(cuda, driver=Path(request.cuda))
    chosen = {**request.settings, **request.env}
    needed = device_settings(setup.mpi, cuda, chosen, os.environ, settings)
    return {**settings, UCX_TLS: needed.get(UCX_TLS, settings[UCX_TLS])}


def with_trials(plan: Plan, setup: Setup) -> tuple[Plan, dict[str, Any]]:
    """The plan without the calls that its MPI cannot make with buffers on a GPU, as trial launches
    show, and the trials for run.json."""
    if setup.built is None or not any(map(is_on_gpu, plan.memory)):
        return plan, {}
    from mpigauge.measuring.trials import device_trials

    given = batch.here(os.environ)
    system = given.system.name if given else ""
    setup.view.start()
    report = setup.view.report
    site = device_trials.TrialSite(setup.mpi, setup.built, setup.cards, os.environ, system, report)
    tried, trials = device_trials.with_trials(plan, site)
    return tried, {TRIALS: [asdict(trial) for trial in trials]}
