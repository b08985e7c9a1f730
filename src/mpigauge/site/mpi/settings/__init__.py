# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings of an MPI: those reported by MPI_T or its info program, and our catalogue."""

from __future__ import annotations

from mpigauge.site.mpi.settings.known import by_name, knobs, search

__all__ = ["by_name", "knobs", "search"]
