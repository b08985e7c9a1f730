# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Why a launch failed, from what launchers really said."""

from __future__ import annotations

import pytest

from mpigauge.measure.campaign.reasons import why

HYDRA = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 23155 RUNNING AT vm
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
INTEL = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK 1 PID 23222 RUNNING AT vm
=   KILLED BY SIGNAL: 11 (Segmentation fault)
===================================================================================
"""
OPENMPI = """
--------------------------------------------------------------------------
prterun noticed that process rank 1 with PID 23182 on node vm exited on
signal 9 (Killed).
--------------------------------------------------------------------------
"""
OPENMPI_STATUS = """
Fatal error in MPI_Init: no network here
Fatal error in MPI_Init: no network here
--------------------------------------------------------------------------
prterun detected that one or more processes exited with non-zero status,
thus causing the job to be terminated. The first process to do so was:

   Process name: [prterun-vm-21200@1,0]
   Exit code:    15
--------------------------------------------------------------------------
"""
KERNEL = """
[warn] something about a device
mpigauge-kernel: rank 1 on vm: MPI_Send: no such rank
Abort(1) on node 1
"""
KILLED = "a rank was killed by signal 9 (SIGKILL)"


@pytest.mark.parametrize(
    ("status", "stderr", "stdout", "sentence"),
    [
        (9, "", HYDRA, KILLED),
        (9, "error checking    : enabled\n", HYDRA, KILLED),
        (255, "", INTEL, "a rank was killed by signal 11 (SIGSEGV)"),
        (137, OPENMPI, "", KILLED),
        (15, OPENMPI_STATUS, "", "exit status 15: Fatal error in MPI_Init: no network here"),
        (1, KERNEL, HYDRA, f"{KILLED}: rank 1 on vm: MPI_Send: no such rank"),
        (1, KERNEL, "", "exit status 1: rank 1 on vm: MPI_Send: no such rank"),
        (-9, "", "", "the launcher was killed by signal 9 (SIGKILL)"),
        (0, "", "", "it ended without its last record"),
        (3, "a\nb\nc\n", "", "exit status 3: b | c"),
        (-99, "", "", "the launcher was killed by signal 99 (unknown)"),
    ],
)  # fmt: skip
def test_why(status: int, stderr: str, stdout: str, sentence: str) -> None:
    assert why(status, stderr.splitlines(), stdout.splitlines()) == sentence
