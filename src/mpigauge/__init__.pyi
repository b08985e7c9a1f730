# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from mpigauge.interface import OpenedRun as OpenedRun
from mpigauge.interface import OpenedRuns as OpenedRuns
from mpigauge.interface import RunOptions as RunOptions
from mpigauge.interface import compare_runs, open_stored
from mpigauge.interface import measure as measure
from mpigauge.model.errors import RunError as RunError
from mpigauge.model.errors import UserError as UserError

__version__: str
open = open_stored  # noqa: A001
compare = compare_runs
