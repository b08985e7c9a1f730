# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From measured candidates to rules that are faster than the default with certainty."""
