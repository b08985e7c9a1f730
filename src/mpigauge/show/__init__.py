# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows results and computes none: formats/ holds a file for each word of --format.

Nothing is imported here: a command that measures must not wait for what shows.
"""
