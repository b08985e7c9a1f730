# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles as text, JSON, CSV, reports of other profilers, and pages."""
