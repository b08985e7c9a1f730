# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge node --compiler`: the simple loops as several compilers make them."""
