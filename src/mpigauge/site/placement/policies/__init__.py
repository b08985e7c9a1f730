# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A file for each policy; it says `@policy("name", ...)` over a function from request to seats."""
