# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Why a launch failed, from what launchers really said."""

from __future__ import annotations

import pytest

from mpigauge.measuring.jobs.reasons import why

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
OPENMPI_COMPONENT = """
--------------------------------------------------------------------------
No components were able to be opened in the pml framework.

This typically means that either no components of this type were
installed, or none of the installed components can be loaded.
Sometimes this means that shared libraries required by these
components are unable to be found/loaded.

  Host:      vm
  Framework: pml
--------------------------------------------------------------------------
[vm:23182] PML ucx cannot be selected
--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 0, which may abort other processes.
--------------------------------------------------------------------------
"""
OPENMPI_LATER = """
--------------------------------------------------------------------------
prterun has exited due to process rank 0 calling "abort". This may have
caused other processes in the application to be terminated.
--------------------------------------------------------------------------
[1,0]<stderr>: [vm] cannot open a device
--------------------------------------------------------------------------
[1,0]<stderr>: The requested interface does not exist on this host.
  Interface: eth9
--------------------------------------------------------------------------
"""
OPENMPI_UNAVAILABLE = """
*** An error occurred in MPI_Init_thread
--------------------------------------------------------------------------
A requested component was not found, or was unable to be opened.  This
means that this component is either not installed or is unable to be
used on your system.

Host:      vm
Framework: btl
Component: openib
--------------------------------------------------------------------------
"""
MPICH_STACK = """
Abort(1721743): Fatal error in internal_Init_thread: Other MPI error, error stack:
internal_Init_thread(71).: MPI_Init_thread(argc=(nil), argv=(nil), required=0) failed
MPII_Init_thread(289)....:
MPID_Init(549)...........:
MPIDI_UCX_init_local(240):  ucx function returned with failed status(No such device)
Abort(1721743) on node 1: Fatal error in internal_Init_thread: Other MPI error, error stack:
internal_Init_thread(71).: MPI_Init_thread(argc=(nil), argv=(nil), required=0) failed
"""
HYDRA_LOGIN = """
[proxy:0:0@n1] HYDU_sock_connect (lib/utils/sock.c:139): unable to get host address for login (1)
[proxy:0:0@n1] main (proxy/pmip.c:105): unable to connect to server login (check for firewalls!)
"""
KERNEL = """
[warn] something about a device
mpigauge-kernel: rank 1 on vm: MPI_Send: no such rank
Abort(1) on node 1
"""
NO_COMPONENT = "exit status 1: No components were able to be opened in the pml framework"
NO_INTERFACE = (
    "exit status 1: The requested interface does not exist on this host (Interface: eth9)"
)
UNRESOLVED = (
    "exit status 5: the hosts cannot resolve the name of this machine, login; add it to their "
    "/etc/hosts, or start the command on one of them"
)
UNAVAILABLE = (
    "exit status 14: A requested component was not found, or was unable to be opened "
    "(Framework: btl, Component: openib)"
)
NO_DEVICE = (
    "exit status 15: Fatal error in internal_Init_thread: ucx function returned with failed "
    "status(No such device)"
)
MPICH_SUMMARY = """
==== UCX netmod Capability ====
MPIDI_UCX_CONTEXT_ID_BITS: 16
tag_bits: 30
===============================
==== Various sizes and limits ====
sizeof(MPIDI_per_vci_t): 128
==== collective selection ====
MPIR_CVAR_DEVICE_COLLECTIVES: percoll
MPIR: MPII_coll_generic_json
MPID/shm: MPIDI_POSIX_coll_generic_json
num_vcis: 1
MPICH 5.0.2 -  - Fri Sep 25 20:45:26 UTC 2026
error checking    : enabled
debugger support  : disabled
thread level      : MPI_THREAD_SINGLE
thread CS         : per-vci
==== data structure summary ====
sizeof(MPIR_Request): 520
sizeof(MPIR_Datatype): 280
================================
"""
KILLED = "a rank was killed by signal 9 (SIGKILL)"


@pytest.mark.parametrize(
    ("status", "stderr", "stdout", "sentence"),
    [
        (9, "", HYDRA, KILLED),
        (9, "error checking    : enabled\n", HYDRA, KILLED),
        (1, "", MPICH_SUMMARY, "exit status 1"),
        (1, KERNEL, MPICH_SUMMARY, "exit status 1: rank 1 on vm: MPI_Send: no such rank"),
        (255, "", INTEL, "a rank was killed by signal 11 (SIGSEGV)"),
        (137, OPENMPI, "", KILLED),
        (15, OPENMPI_STATUS, "", "exit status 15: Fatal error in MPI_Init: no network here"),
        (1, OPENMPI_COMPONENT, "", NO_COMPONENT),
        (1, OPENMPI_LATER, "", NO_INTERFACE),
        (5, HYDRA_LOGIN, "", UNRESOLVED),
        (14, OPENMPI_UNAVAILABLE, "", UNAVAILABLE),
        (15, MPICH_STACK, "", NO_DEVICE),
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
