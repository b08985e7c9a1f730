# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The MPIs of this machine, and the kernels built for them."""

from __future__ import annotations

from mpigauge.site.mpi.find import find, list_all
from mpigauge.site.mpi.make import kernels, without_build

__all__ = ["find", "kernels", "list_all", "without_build"]
