# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge fabric`: the whole network at once, and which host, link or switch is to blame."""
