# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Looks up the files, variables, programs and libraries that options name."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan import LookedUp
from mpigauge.measuring.plan.arms.parse import parse_agent
from mpigauge.model.errors import UserError
from mpigauge.model.hostfile import read_hostfile
from mpigauge.model.inputs import read_text
from mpigauge.model.sizes import read_sizes
from mpigauge.model.stored_cards import all_cards
from mpigauge.site.placement import files_in

if TYPE_CHECKING:
    from mpigauge.model.libraries import Blas, Compiler
    from mpigauge.runs.store.arrivals import ArrivalsOfRun
    from mpigauge.runs.store.replays import ReplayMix


def look_up(options: Mapping[str, Any]) -> LookedUp:
    """Looks up all that the options of a command name. UserError: something is not there."""
    _check_files(options)
    sizes, hostfile = options.get("sizes_file"), options.get("hostfile")
    return LookedUp(
        environment=os.environ,
        sizes=tuple(read_sizes(Path(sizes))) if sizes else None,
        hosts=read_hostfile(Path(hostfile)) if hostfile else (),
        folders=_folders(options.get("dir") or ""),
        rankfiles=_rankfiles(options.get("place") or ()),
        agent=_agent(options.get("rsh") or ""),
        cuda=_file("--cuda", options.get("cuda") or ""),
        nccl=_file("--nccl", options.get("nccl") or ""),
        blas=_libraries(options.get("blas") or ()),
        default_blas=_default_blas(options.get("benchmarks") or ()),
        compilers=_compilers(options.get("compilers") or ()),
        arrivals=_arrivals(options.get("arrival") or ""),
        replay=_replay(options.get("profile") or ""),
        seed=random.SystemRandom().getrandbits(31),
    )


def _check_files(options: Mapping[str, Any]) -> None:
    """UserError: a setting or variable names a file that the MPI would not read."""
    words = [*(options.get("settings") or ()), *(options.get("env") or ())]
    pairs = (word.partition("=") for word in words)
    named = {name: value if sign else os.environ.get(name, "") for name, sign, value in pairs}
    if named:
        from mpigauge.site.mpi.settings.files import check_files

        check_files(named)


def _file(option: str, text: str) -> str:
    """Absolute, since ranks may start elsewhere. UserError: it is not a file."""
    if text and not Path(text).is_file():
        raise UserError(f"{option}: there is no file {text}")
    return str(Path(text).absolute()) if text else ""


def _folders(text: str) -> str:
    """Absolute, since ranks may start elsewhere. An empty name is refused later."""
    names = [name.strip() for name in text.split(",")]
    for name in filter(None, names):
        if not Path(name).is_dir():
            raise UserError(f"--dir: there is no folder {name}; make it, or name another")
    return ",".join(str(Path(name).absolute()) if name else "" for name in names)


def _rankfiles(places: tuple[str, ...]) -> dict[str, str]:
    rankfiles: dict[str, str] = {}
    for name in files_in(places):
        rankfiles[name] = read_text(
            Path(name), f"--place rankfile:{name}: ", called=f"the rankfile {name}"
        )
    return rankfiles


def _agent(text: str) -> tuple[str, ...]:
    """The agent with the path of its program, since launchers look for it in different places."""
    if not text:
        return ()
    program, *words = parse_agent(text)
    path = which(program)
    if path is None:
        raise UserError(
            f"--rsh: there is no program '{program}'; write one, such as 'ssh -p 50000'"
        )
    return str(Path(path).absolute()), *words


def _libraries(names: tuple[str, ...]) -> tuple[Blas, ...]:
    if not names:
        return ()
    from mpigauge.site.mpi.blas import find_blas

    return tuple(dict.fromkeys(map(find_blas, names)))


def _default_blas(benchmarks: Sequence[str]) -> Blas | None:
    """The library for products of matrices; None: no benchmark makes any."""
    try:
        chosen = all_cards().chosen(benchmarks)
    except UserError:
        return None  # the name is refused later, with those that the kernels have
    if not any("blas" in card.options for card in chosen):
        return None
    from mpigauge.site.mpi.blas import usual_blas

    return usual_blas()


def _compilers(texts: tuple[str, ...]) -> tuple[Compiler, ...]:
    if not texts:
        return ()
    from mpigauge.site.mpi.make.compilers import find_compiler

    return tuple(map(find_compiler, texts))


def _arrivals(text: str) -> dict[str, ArrivalsOfRun]:
    """The arrivals of the profiles that are named among patterns of arrivals."""
    words = [word.strip().partition(":") for word in text.split(",")]
    arrivals: dict[str, ArrivalsOfRun] = {}
    for kind, _, name in words:
        if kind == "profile" and name:
            arrivals[name] = _patterns(name)
    return arrivals


def _patterns(name: str) -> ArrivalsOfRun:
    from mpigauge.runs.store.arrivals import ArrivalsOfRun, arrival_patterns
    from mpigauge.session.run_names import find_run

    path = find_run(name)
    if path.is_file():
        raise UserError(f"--arrival: {name} is packed; name the folder that it was made of")
    patterns = arrival_patterns(path)
    if not patterns:
        _refuse_report("--arrival", name, path)
        raise UserError(
            f"--arrival: the run {name} has no arrival times at collectives; "
            "`mpigauge profile` makes one that does"
        )
    return ArrivalsOfRun(path.name, patterns)


def _refuse_report(option: str, name: str, folder: Path) -> None:
    """UserError: the run is a report of another profiler."""
    from mpigauge.runs.store import load

    try:
        source = (load(folder).header.get("profile") or {}).get("source")
    except UserError:
        return
    if source:
        raise UserError(
            f"{option}: {name} is a report of {source}, which records neither when ranks "
            "entered a call, nor the size and communicator of each call; `mpigauge profile` "
            "records all of them"
        )


def _replay(name: str) -> ReplayMix | None:
    """The calls of the program to replay."""
    if not name:
        return None
    from mpigauge.runs.store.replays import load_replay
    from mpigauge.session.run_names import find_run

    path = find_run(name)
    if path.is_file():
        raise UserError(f"--replay: {name} is packed; name the folder that it was made of")
    mix = load_replay(path)
    if mix is None:
        _refuse_report("--replay", name, path)
        raise UserError(
            f"--replay: the run {name} does not have the calls of all ranks of a program; "
            "`mpigauge profile` makes one that does"
        )
    return mix
