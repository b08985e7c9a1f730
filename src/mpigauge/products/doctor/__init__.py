# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Diagnoses what distorts timings on a machine, what it costs, and how to mend it.

A check is a function in a file of `checks/` that says `@check("name", "about")` over a function
from a Host to its findings. There is no list to edit.
"""
