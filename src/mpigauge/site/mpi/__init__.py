# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The MPIs of this machine, and the kernels built for them."""

from __future__ import annotations

from mpigauge.site.mpi.find import find, list_all
from mpigauge.site.mpi.make.kernels import kernels, without_build
from mpigauge.site.mpi.packages.install import install

__all__ = ["find", "install", "kernels", "list_all", "without_build"]
