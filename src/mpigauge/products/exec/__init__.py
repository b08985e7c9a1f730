# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program on any MPI: launched by us, whatever MPI it was made for."""
