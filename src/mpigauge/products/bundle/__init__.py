# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge bundle`: mpigauge with all that it needs in one archive, for other machines."""
