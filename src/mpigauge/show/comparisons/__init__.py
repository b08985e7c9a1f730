# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Values side by side, for people and for programs."""
