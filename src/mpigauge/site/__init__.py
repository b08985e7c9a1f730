# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is here and how to start on it: machines, MPIs, launchers, batch systems, placements."""
