# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One file for each cause that `mpigauge explain` knows."""
