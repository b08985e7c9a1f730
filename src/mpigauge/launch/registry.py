# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the launchers: every module of this folder is looked into once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from mpigauge.launch.job import Command, Job
from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.modules import import_all

Commander = Callable[[Job], Command]
_registered: dict[str, Commander] = {}


def launcher(name: str) -> Callable[[Commander], Commander]:
    """Makes a function the launcher of this name."""

    def register(function: Commander) -> Commander:
        if name in _registered:
            raise RuntimeError(f"two launchers are named '{name}'")
        _registered[name] = function
        return function

    return register


@cache
def launchers() -> Mapping[str, Commander]:
    import_all(__name__.rpartition(".")[0])
    return MappingProxyType(_registered)


def command(job: Job) -> Command:
    """The words that start this job, with its MPI's own launcher if it names no other."""
    name = job.launcher.partition(":")[0] or job.mpi.launcher
    known = launchers()
    if name not in known:
        raise UserError(f"unknown launcher '{name}'{did_you_mean(name, known)}")
    return known[name](job)
