# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The protocols of UCX, read from its report on a machine with an H200."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from mpigauge.show.device_memory import _tried
from mpigauge.site.mpi.device_memory.awareness import CallTrial, Circumstances, _trial
from mpigauge.site.mpi.device_memory.protocols import used_protocols

REPORT = Path(__file__).resolve().parents[3] / "data" / "gpu" / "ucx-protocols.txt"
DEVICE = (
    "from cuda/GPU0, 4875 B and more: rendezvous zero-copy flushed write to remote, by "
    "cuda_ipc/cuda"
)


def test_each_protocol_that_was_used_is_reported_once() -> None:
    """Both ranks report the same tables; rows without a message and steps are left out."""
    lines = REPORT.read_text(encoding="utf-8").splitlines()
    assert used_protocols(lines) == (
        DEVICE,
        "from host memory, 0 to 92 B: eager short, by sysv/memory",
    )


@pytest.mark.parametrize(
    "line",
    ["", "|", "| 3 |", "| 12 | 0..8 | eager short | shm |", "| a | b | c | d |", "no table at all"],
)
def test_other_lines_are_no_protocols(line: str) -> None:
    assert used_protocols([line, "| ucp_context_0 intra-node cfg#2 |"]) == ()


def test_a_trial_keeps_its_protocols() -> None:
    trial = CallTrial("messages", "device", Circumstances("libcuda.so.1"), ("PingPong",))
    kept = CallTrial(**{**trial.__dict__, "protocols": (DEVICE,)})
    assert _trial(json.loads(json.dumps(asdict(kept)))) == kept
    older = asdict(trial)
    del older["protocols"]
    assert _trial(json.loads(json.dumps(older))) == trial
    assert list(_tried([kept])) == [
        "accepts device memory in: messages",
        f"UCX sends device memory {DEVICE}",
    ]
