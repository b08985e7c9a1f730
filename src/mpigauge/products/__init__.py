# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A folder for each thing that mpigauge can do beyond measuring a benchmark and showing it.

plan.py, result.py, show.py and command.py are its steps, where it has them. No feature imports
another; they meet in the stages that all share.
"""
