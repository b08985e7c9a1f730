# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files of all ranks as one profile: clocks, matching calls, waiting."""
