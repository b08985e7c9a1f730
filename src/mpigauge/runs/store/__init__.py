# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Run folders: the request, the machine, and everything that was measured.

run.json               schema, version, command line, plan, MPI; written first
passport.json          the machine and the environment
cards.json             descriptions of the benchmarks
records.jsonl          all records in the order of arrival, samples replaced by their location
samples/launch-NNN.bin samples: little-endian 32-bit words, for each cell all times of the
                       slowest rank, of the fastest, and the means
progress/              results of a launch before its end; removed when it has ended
logs/launch-NNN.*      the command, and all output that is not a record
history.json           the history of the machine that the run used; missing in imported runs
status.json            how the run ended; missing while it runs, or if it was killed

docs/reference/run-folder.md describes each of them. runs/store/pack.py makes one file of a run.
"""

from mpigauge.runs.store.reader import Run, Summary, list_runs, load, run_folders
from mpigauge.runs.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "Summary", "list_runs", "load", "run_folders"]
