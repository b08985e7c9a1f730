# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files that tell an MPI which algorithm a collective uses from which size on: a file for each MPI
that reads such files, and the algorithms that may stand in them (candidates.toml)."""
