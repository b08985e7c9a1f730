# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files that select the algorithm of a collective by message size: a module for each MPI that reads
such files, and the algorithms that they may contain (candidates.toml)."""
