# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles of applications: reading, merging and symbolizing the files of the profiler."""

KIND = "profile"
"""The kind of a run that is a profile, as run.json has it."""
