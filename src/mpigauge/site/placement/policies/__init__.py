# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A file for each policy, with `@policy("name", ...)` over a function from a request to seats."""
