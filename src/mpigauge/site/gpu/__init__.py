# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""NVIDIA GPUs: which ones a job may use, which rank gets which, and the driver's library."""

from __future__ import annotations

from mpigauge.site.gpu.assign import assign
from mpigauge.site.gpu.usable import VISIBLE, usable_gpus

__all__ = ["VISIBLE", "assign", "usable_gpus"]
