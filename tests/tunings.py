# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunings for tests: whole folders, as `mpigauge tune` writes them, with nothing measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.tune.show.text import environment_lines
from mpigauge.runs.store.tuned_rules import Evidence, TunedMessages, TunedRule
from mpigauge.runs.store.tunings import Tuning, build_of, save, variables_of, write_files
from mpigauge.site.mpi.rule_files.candidates import candidates_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS

CHOSEN = Evidence(0.5, 0.45, 0.55, 6)


def shown_as(folder: Path, tuning: Tuning, form: str) -> list[str]:
    """What `mpigauge tune env` prints."""
    return list(environment_lines(tuning, variables_of(folder, tuning), form))


def with_messages(mpi: Mpi, settings: Mapping[str, str]) -> Tuning:
    """Without a rule, but with settings of messages from rank to rank."""
    return Tuning(
        mpi=build_of(mpi),
        hostname="here",
        cores=2,
        data="fresh",
        thread_level="single",
        sizes=(8, 8192),
        rules=(),
        messages=TunedMessages(settings, chosen=CHOSEN, confirmed=CHOSEN, tried=3),
    )


def make(folder: Path, mpi: Mpi, collective: str = "Alltoall") -> Tuning:
    """One rule, for two ranks and messages up to 1 MiB, or of all sizes."""
    candidate = next(each for each in candidates_of(mpi.name) if each.collective == collective)
    last = 1 << 20 if RULE_FORMATS[mpi.name].names_default else MOST_BYTES
    rule = Rule(collective, 2, 0, last, candidate.name)
    tuning = Tuning(
        mpi=build_of(mpi),
        hostname="here",
        cores=2,
        data="fresh",
        thread_level="single",
        sizes=(8, 8192),
        rules=(TunedRule(rule, CHOSEN, CHOSEN),),
        files=write_files(folder, RULE_FORMATS[mpi.name].write(mpi, [rule])),
    )
    save(folder, tuning)
    return tuning
