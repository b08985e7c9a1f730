# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests that start processes, other than MPI jobs: installs, compilers, servers, launchers of
tests, and campaigns on these.
"""

from tests.bare_machine import empty_root, machine_with_nothing

__all__ = ["empty_root", "machine_with_nothing"]
