# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge explain`: what stands out in a run, and its likely causes."""
