# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The numbers of profiles: accounts, comparisons, likely causes."""
