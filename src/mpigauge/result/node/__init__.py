# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What runs of the suite NODE say of a machine."""
