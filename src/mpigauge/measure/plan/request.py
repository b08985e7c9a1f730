# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a user asks for, each word understood but not yet compared with machine and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.measure.plan import parse
from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import parse_hosts
from mpigauge.model.hosts import NamedHost
from mpigauge.model.libraries import Blas, Compiler
from mpigauge.model.limits import MOST_LAUNCHES, MOST_SEED
from mpigauge.model.option_table import LIMITS
from mpigauge.model.sizes import parse_bytes, parse_sizes
from mpigauge.model.suite_options import read_suite_options
from mpigauge.site.placement import parse_entries
from mpigauge.site.placement import words as parse_place

if TYPE_CHECKING:
    from mpigauge.runs.store.arrivals import ArrivalsOfRun
    from mpigauge.runs.store.replays import ReplayMix

DEFAULT_PRECISION = 0.05


@dataclass(frozen=True)
class LookedUp:
    """What options name that is not in them: files, variables, programs, libraries. The command
    line looks it up (cli/lookups.py), so that a request is a function of values."""

    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    sizes: tuple[int, ...] | None = None
    """Those in the file of --sizes-file."""
    hosts: tuple[NamedHost, ...] = ()
    """Those in the file of --hostfile."""
    folders: str = ""
    """Those of --dir, absolute, with commas."""
    rankfiles: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The texts of the files that placements name, by their paths as they were written."""
    agent: tuple[str, ...] = ()
    """The words of --rsh, with the path of the program."""
    blas: tuple[Blas, ...] = ()
    default_blas: Blas | None = None
    """The one that comes with us; None: not on this kind of processor."""
    compilers: tuple[Compiler, ...] = ()
    arrivals: Mapping[str, ArrivalsOfRun] = field(default_factory=dict, hash=False)
    """How ranks came in the profiles that --arrival names, by their names as they were written."""
    replay: ReplayMix | None = None
    """What the program of the profile that --profile names did."""
    seed: int = 0
    """A random number, for whoever names none."""


@dataclass(frozen=True)
class Request:
    """None and empty mean: not said, so choose."""

    benchmarks: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    np: int | None = None
    sizes: tuple[int, ...] | None = None
    precision: float | None = None
    seconds: float | None = None
    launches: int | None = None
    datatype: str = ""
    op: str = ""
    root_shift: bool = False
    inflight: int | None = None
    cache: str = "hot"
    data: str = "static"
    sync: str = "auto"
    place: tuple[str, ...] = ()
    """Policies of placement, each measured."""
    rankfiles: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The texts of the files that they name."""
    unbound: bool = False
    """Leave binding to others."""
    bound_by: str = "kernel"
    """Who binds the ranks to their cores: kernel, or launcher."""
    suite_options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What was said of options that only some benchmarks use, in the kernels' words."""
    blas: tuple[Blas, ...] = ()
    """Libraries for products of matrices that were named, each measured."""
    default_blas: Blas | None = None
    """The one that is measured where none was named; None: there is none."""
    compilers: tuple[Compiler, ...] = ()
    """That make the simple loops, each measured."""
    arrivals: Mapping[str, ArrivalsOfRun] = field(default_factory=dict, hash=False)
    """How ranks came in the profiles that are named, by their names as they were written."""
    replay: ReplayMix | None = None
    """What the program did that is to be replayed."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    classic: bool = False
    npmin: int | None = None
    multi: int | None = None
    map: tuple[int, int] | None = None
    oversubscribe: bool = False
    hosts: tuple[NamedHost, ...] = ()
    """None: this machine."""
    ppn: int | None = None
    rsh: tuple[str, ...] = ()
    launcher: str = ""
    """Another than the MPI's own."""
    memory: int = 0
    seed: int = 0
    timeout_s: float | None = None

    @property
    def libraries(self) -> tuple[Blas, ...]:
        """The libraries for products of matrices: what was named, else the one that comes with
        us."""
        if self.blas or self.default_blas is None:
            return self.blas
        return (self.default_blas,)


def read_request(raw: Mapping[str, Any], found: LookedUp | None = None) -> Request:
    """The request in the words of a command line; options that were not given are None. `found` is
    what they name that is not in them."""
    said = {name: value for name, value in raw.items() if value not in (None, (), "")}
    found = found or LookedUp()
    _refuse_contradictions(said)
    known = {}
    for name, read in _READERS.items():
        if name in said:
            known[name] = read(said[name])
    known |= _bind(said.get("bind", ""))
    if "sizes_file" in said:
        known["sizes"] = found.sizes
    if "hostfile" in said:
        known["hosts"] = found.hosts
    if "dir" in said:
        said["dir"] = found.folders
    request = Request(
        **known,
        suite_options=read_suite_options(said, found.environment),
        env=parse.parse_env(said.get("env", ()), found.environment),
        rankfiles=found.rankfiles,
        rsh=found.agent,
        blas=found.blas,
        default_blas=found.default_blas,
        compilers=_each_once(found.compilers),
        arrivals=found.arrivals,
        replay=found.replay,
        seed=_seed(said.get("seed", found.seed)),
    )
    if request.unbound and request.bound_by == "launcher":
        raise UserError(
            "--bind none and --placement launcher contradict: nobody binds, or the launcher does; "
            "give one of them"
        )
    return request


def _refuse_contradictions(said: Mapping[str, Any]) -> None:
    for first, second, why in _CONTRADICTIONS:
        if said.get(first) and said.get(second):
            raise UserError(f"--{_option(first)} and --{_option(second)} contradict: {why}")
    if said.get("arrival") and said.get("sync", "clock") not in ("auto", "clock"):
        raise UserError(
            f"--arrival and --sync {said['sync']} contradict: only by a common clock do ranks "
            "come as they should"
        )
    if said.get("classic") and said.get("data", "static") != "static":
        raise UserError(
            f"--classic and --data {said['data']} contradict: the classic mode has IMB's schedule, "
            "which never writes what it sends"
        )


def _option(name: str) -> str:
    return {"seconds": "in"}.get(name, name).replace("_", "-")


_CONTRADICTIONS = (
    ("bind", "place", "both say where ranks sit; give one of them"),
    ("sizes", "sizes_file", "both name the message sizes; give one of them"),
    ("hosts", "hostfile", "both name the hosts; give one of them"),
    ("ranks", "npmin", "--ranks names every size of a group; give one of them"),
    ("root", "root_shift", "every rank is the root in turn, or one is; give one of them"),
    ("classic", "arrival", "in the classic mode ranks come as they do in IMB"),
    ("classic", "profile", "a replay has the calls of its profile, and not IMB's schedule"),
    ("classic", "seconds", "the classic mode has IMB's schedule, which no time budget changes"),
    ("classic", "precision", "the classic mode has IMB's schedule, which knows no precision"),
)


def _bind(text: str) -> dict[str, Any]:
    """--bind 0,4 is short for --place cores:0,4; none leaves binding to others."""
    if not text:
        return {}
    if text.strip().lower() == "none":
        return {"unbound": True}
    return {"place": (f"cores:{','.join(parse_entries(text, '--bind'))}",)}


def _place(texts: Iterable[str]) -> tuple[str, ...]:
    """The policies of all these words, each once."""
    found: dict[str, None] = {}
    for text in texts:
        found |= dict.fromkeys(parse_place(text))
    return tuple(found)


def _each_once(compilers: Sequence[Compiler]) -> tuple[Compiler, ...]:
    names = [each.name for each in compilers]
    for each in compilers:
        if names.count(each.name) > 1:
            raise UserError(f"--compiler: {each.said} is named twice; name each once")
    return tuple(compilers)


def _launches(count: int) -> int:
    if not 1 <= count <= MOST_LAUNCHES:
        raise UserError(
            f"--launches: {count} is out of range; write a number from 1 to {MOST_LAUNCHES}"
        )
    return count


def _inflight(count: int) -> int:
    least, most = LIMITS["inflight"]
    if not least <= count <= most:
        raise UserError(
            f"--inflight: {count} is out of range; write a number from {least} to {most}"
        )
    return count


def _seed(seed: int) -> int:
    if not 0 <= seed <= MOST_SEED:
        raise UserError(f"--seed: {seed} is out of range; write a number from 0 to 2^63 - 1")
    return seed


def _count(option: str, what: str) -> Callable[[Any], int]:
    return lambda value: parse.parse_count(option, str(value), what)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "benchmarks": tuple,
    "ranks": lambda text: parse.parse_counts("--ranks", text, "ranks"),
    "np": _count("--np", "ranks"),
    "sizes": lambda text: tuple(parse_sizes(text)),
    "precision": lambda text: parse.parse_share("--precision", text),
    "seconds": lambda text: parse.parse_duration("--in", text),
    "launches": _launches,
    "datatype": str,
    "op": str,
    "root_shift": bool,
    "inflight": _inflight,
    "cache": str,
    "data": str,
    "sync": str,
    "place": _place,
    "settings": parse.parse_settings,
    "classic": bool,
    "npmin": _count("--npmin", "ranks"),
    "multi": int,
    "map": lambda text: parse.parse_grid("--map", text),
    "oversubscribe": bool,
    "hosts": lambda text: parse_hosts(text, "--hosts"),
    "ppn": _count("--ppn", "ranks"),
    "launcher": str.strip,
    "bound_by": str,
    "memory": lambda text: parse_bytes(text, f"--memory: '{text}'"),
    "timeout_s": lambda text: parse.parse_duration("--timeout", text),
}
