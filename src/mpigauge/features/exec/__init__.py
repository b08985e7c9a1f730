# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program on any MPI that can run it: launched by us, whichever it was linked to."""
