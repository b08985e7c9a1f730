# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings of an MPI: what it tells through MPI_T or its info program, and what we know."""

from __future__ import annotations

from mpigauge.site.mpi.settings.known import by_name, knobs, search

__all__ = ["by_name", "knobs", "search"]
