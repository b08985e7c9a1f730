# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A file for each kind of plot: `@plot("name", "about")` over a function from runs to a picture."""
