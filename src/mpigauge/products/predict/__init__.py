# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times of collectives on machines that are not here: computed from the times of messages."""
