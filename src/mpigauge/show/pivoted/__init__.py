# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One table of sizes × settings, placements or runs, in each form that people and programs take."""
