# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launchers by the names of every MPI's, which start programs on one MPI of ours."""
