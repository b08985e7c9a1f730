# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The network at once: pairs of hosts together and alone, hot spots, victims beside aggressors."""
