# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge imb`: the kernels under the names of IMB's programs."""
