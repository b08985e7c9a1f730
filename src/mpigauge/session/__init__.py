# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The steps from a request to stored runs: look-ups, set-up, checks and campaigns.

Commands and programs of users share them. Nothing here reads a command line or prints; a view
(view.py) gets what is worth showing.
"""
