# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge browse`: a page over a folder of runs, for one person.

access      access control: the token and the host name (pure)
runs_folder the runs, and queries of the tables over them
addresses   the page for an address
serve       the server, and the lines it prints at start
"""
