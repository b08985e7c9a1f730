# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge node` on several hosts: all at once and one at a time, the odd ones by name."""
