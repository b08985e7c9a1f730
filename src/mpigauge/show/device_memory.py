# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The support of device memory by an MPI, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.site.mpi.device_memory import latest_trials
from mpigauge.site.mpi.device_memory.libraries import DRIVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.site.mpi.device_memory import CallTrial, LibraryReport, MpiOnGpus


def support_lines(on_gpus: MpiOnGpus) -> Iterator[str]:
    """The driver's library, how the MPI supports device memory, and what trials showed."""
    mpi, report, support = on_gpus.mpi, on_gpus.report, on_gpus.support
    if on_gpus.libraries.driver is None:
        yield f"there is no {' and no '.join(DRIVER)}: the driver's libraries are missing"
        return
    yield f"driver: {on_gpus.libraries.driver}, {_offer(report)}"
    if apart := [(one, other) for one, other, can in report.peers if not can and one < other]:
        yield f"no peer access: {', '.join(f'{one} and {other}' for one, other in apart)}"
    elif report.peers:
        yield "peer access: between all GPUs"
    if not support.is_known:
        yield f"{mpi.label}: its settings for device memory are not known; {support.remedy}"
    elif support.remedy:
        yield f"{mpi.label}: no support of device memory; {support.remedy}"
    else:
        settings = " ".join(f"{name}={value}" for name, value in sorted(support.settings.items()))
        by = f", with {settings} (set by --memory device)" if settings else ""
        yield f"{mpi.label}: device memory by {support.through}{by}"
    yield from _tried(on_gpus.trials)


def _offer(report: LibraryReport) -> str:
    cuda = f"CUDA {report.cuda or '?'}"
    if report.problem:
        return f"{cuda}; {report.problem}"
    return f"{cuda}, {', '.join(f'{bus} {name}' for bus, name in report.gpus)}"


def _tried(trials: Iterable[CallTrial]) -> Iterator[str]:
    by_memory = latest_trials(trials)
    if not by_memory:
        yield "not tried yet: `mpigauge run --memory device` tries the calls that it measures"
    for memory, each in by_memory.items():
        accepted = ", ".join(trial.family for trial in each if trial.is_aware)
        yield f"accepts {memory} memory in: {accepted or 'no call that was tried'}"
        for trial in each:
            if not trial.is_aware:
                yield f"not in {trial.family}: {trial.reason}"
        used = dict.fromkeys(line for trial in each for line in trial.protocols)
        yield from (f"UCX sends {memory} memory {line}" for line in used)
