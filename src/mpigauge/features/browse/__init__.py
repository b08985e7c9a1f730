# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge browse`: a page over a folder of runs, for one person.

access      who may look: the token, the name of the host, the method (pure)
runs_folder the runs, and questions to the tables over them
site        an address to a page
serve       the server, and what is said where it starts
"""
