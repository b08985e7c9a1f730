# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles of applications: what the profiler's library wrote, read, joined, given names."""

KIND = "profile"
"""The kind of a run that is a profile, as run.json has it."""
