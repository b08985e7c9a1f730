# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What spoils times on a machine: what was found, what it costs, and what mends it.

A check is a function in a file of `checks/` that says `@check("name", "about")` over a function
from a Host to its findings. There is no list to edit.
"""
