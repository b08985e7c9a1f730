# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks whether programs can pass the memory of GPUs to the MPI."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.products.doctor.check_finding import (
    CheckFinding,
    Host,
    bad,
    good,
    note,
    unknown,
)
from mpigauge.products.doctor.registry import check
from mpigauge.site.gpu import VISIBLE
from mpigauge.site.mpi.device_memory import MpiOnGpus, latest_trials
from mpigauge.site.mpi.device_memory.libraries import DRIVER
from mpigauge.site.topology.devices import nvidia_gpus

_ENDS = "programs that pass device memory to it end by SIGSEGV"


@check("device-memory", "whether the MPI can take messages from the memory of GPUs")
def device_memory(host: Host) -> Iterator[CheckFinding]:
    gpus = nvidia_gpus(host.machine.devices)
    on_gpus = host.on_gpus
    if on_gpus is None:
        yield unknown("no MPI was asked")
        return
    if on_gpus.libraries.driver is None:
        yield _without_driver(len(gpus))
        return
    yield _library(on_gpus)
    yield from _names(on_gpus)
    yield from _peers(on_gpus)
    yield from _support(on_gpus)


def _without_driver(gpus: int) -> CheckFinding:
    if not gpus:
        return good("no driver of NVIDIA GPUs, and none is needed")
    return bad(
        f"the loader finds no {' and no '.join(DRIVER)}",
        "no program can use the GPUs; Intel MPI with I_MPI_OFFLOAD=1 ends by SIGSEGV in MPI_Init",
        "install the libraries of NVIDIA's driver, or add their folder to LD_LIBRARY_PATH",
    )


def _library(on_gpus: MpiOnGpus) -> CheckFinding:
    report = on_gpus.report
    where = f"{on_gpus.libraries.driver} supports CUDA {report.cuda or '?'}"
    if report.problem:
        mend = "`nvidia-smi` shows whether the driver works"
        if (visible := on_gpus.env.get(VISIBLE)) is not None:
            mend = f"{VISIBLE} is set to '{visible}'; unset it, or name GPUs in it"
        return bad(f"{where}, but {report.problem}", "no program can use the GPUs", mend)
    names = ", ".join(dict.fromkeys(name for _, name in report.gpus))
    return good(f"{where} on {len(report.gpus)} × {names}")


def _names(on_gpus: MpiOnGpus) -> Iterator[CheckFinding]:
    """Yields a finding if Intel MPI's own name for the library does not exist."""
    library = on_gpus.libraries.driver
    if on_gpus.mpi.name != "intel" or library is None or library.with_name(DRIVER[1]).exists():
        return
    variable = "I_MPI_OFFLOAD_CUDA_LIBRARY"
    if variable not in on_gpus.env:
        yield note(
            f"there is {library.name}, and no {DRIVER[1]} beside it",
            f"{on_gpus.mpi.label} opens {DRIVER[1]}, and ends by SIGSEGV in MPI_Init without it",
            f"for programs of yours `export {variable}={library}`; --memory device sets it",
        )


def _peers(on_gpus: MpiOnGpus) -> Iterator[CheckFinding]:
    """Yields one finding for the GPUs that reach each other, one for those that do not."""
    peers = on_gpus.report.peers
    apart = [(one, other) for one, other, can in peers if not can and one < other]
    if peers and not apart:
        yield good("all GPUs reach each other's memory")
    if apart:
        pairs = ", ".join(f"{one} and {other}" for one, other in apart)
        yield note(
            f"no peer access between {pairs}",
            "messages between them are copied through the host",
            "`nvidia-smi topo -p2p r` shows the reason; in a virtual machine only its host can "
            "change it",
        )


def _support(on_gpus: MpiOnGpus) -> Iterator[CheckFinding]:
    """Yields what trials showed, and what is missing for the MPI to support device memory."""
    label, support = on_gpus.mpi.label, on_gpus.support
    yield from _trials(on_gpus)
    if support.remedy and any(trial.is_aware for trial in on_gpus.trials):
        return
    if support.remedy and not support.is_known:
        yield unknown(f"the settings of {label} for device memory are not known; {support.remedy}")
    elif support.remedy:
        yield note(f"{label} does not support device memory", _ENDS, support.remedy)
    else:
        yield _settings(on_gpus)


def _settings(on_gpus: MpiOnGpus) -> CheckFinding:
    """A finding about the settings of an MPI that supports device memory."""
    label, support = on_gpus.mpi.label, on_gpus.support
    missing = [
        f"{name}={value}"
        for name, value in support.settings.items()
        if on_gpus.env.get(name) != value
    ]
    if missing and not on_gpus.libraries.ucx_by_default:
        return note(
            f"{label} supports device memory by {support.through}, which is not enabled",
            _ENDS,
            f"for programs of yours `export {' '.join(missing)}`; --memory device sets it",
        )
    return good(f"{label} supports device memory by {support.through}")


def _trials(on_gpus: MpiOnGpus) -> Iterator[CheckFinding]:
    label = on_gpus.mpi.label
    if not on_gpus.trials:
        yield unknown(
            f"which calls of {label} accept device memory was not tried; "
            "`mpigauge run --memory device` tries those that it measures"
        )
    for memory, trials in latest_trials(on_gpus.trials).items():
        accepted = [trial.family for trial in trials if trial.is_aware]
        if accepted:
            yield good(f"{label} accepted {memory} memory in {', '.join(accepted)}")
        for trial in trials:
            if not trial.is_aware:
                yield note(
                    f"{label} and {memory} memory in {trial.family}: {trial.reason}",
                    "programs that pass such memory to these calls end, or get wrong data",
                    "take another MPI (`mpigauge mpi transports --mpi …` shows what each "
                    "supports), or copy the data to the host",
                )
