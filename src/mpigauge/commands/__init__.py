# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A file for each command; its name is the command's, and it says `command = ...`."""
