# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers from numbers: nothing here starts, reads or writes anything."""
