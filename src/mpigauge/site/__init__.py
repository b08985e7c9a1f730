# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The properties of a site and its ways to start jobs: machines, MPIs, launchers, batch systems,
placements."""
