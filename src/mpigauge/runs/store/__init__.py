# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Run folders: what was asked for, where it ran, and everything that was measured.

run.json               schema, version, command line, plan, MPI; written first
passport.json          the machine and the environment
cards.json             what each benchmark is
records.jsonl          all records as they came, samples replaced by where they are
samples/launch-NNN.bin samples: little-endian 32-bit words, for each cell all times of the
                       slowest rank, of the fastest, and the means
progress/              what a launch knows before its end; gone when it has ended
logs/launch-NNN.*      the command, and all output that is not a record
history.json           what the run used of earlier runs of its machine; not there where others made
                       it
status.json            how the run ended; not there while it runs, or when it was killed

docs/reference/run-folder.md says what is in each. runs/store/pack.py makes one file of a run.
"""

from mpigauge.runs.store.reader import Run, Summary, list_runs, load, run_folders
from mpigauge.runs.store.writer import RunWriter

__all__ = ["Run", "RunWriter", "Summary", "list_runs", "load", "run_folders"]
