# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options and names of launchers and of other benchmarks, and their words here."""
