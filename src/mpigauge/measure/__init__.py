# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From what is asked to a run folder: the plan, its launches, and what is shown meanwhile."""
