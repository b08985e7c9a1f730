# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Questions over thousands of runs: tables that are made from run folders, and SQL on them.

tables     which tables there are, and what a run puts into them
folders    which runs are meant, whether one has changed, and which are copies
build      reads runs into a part: a folder of Parquet files, made whole and then renamed
parts      the parts that are kept: which of their rows count, fewer larger ones from many
library    tables over runs, made where they are missing, ready for queries
apart      a query in a process of its own, with limits of memory and time
memory     the memory that queries may take
ask        a query that only reads, its errors in one line, its result as a file
samples    the raw samples of runs as a table

Run folders are the truth. Everything here can be thrown away at any time and is made again.
"""

from mpigauge.result.library.ask import ask, columns_of, write
from mpigauge.result.library.library import Library, answered
from mpigauge.result.library.tables import TABLES

__all__ = ["TABLES", "Library", "answered", "ask", "columns_of", "write"]
