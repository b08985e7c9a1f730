# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The transports that an MPI can use here, with one name for all MPIs, and their settings.

An MPI is one file in this folder with `@transports_of("name")` over a function from Offers to the
available transports, and `@report_from("name", settings)` over one that parses the MPI's report of
the transport in use. There is no list to edit.
"""
