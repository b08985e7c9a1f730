# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The request of a user, parsed but not yet checked against machine and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan.arms import parse
from mpigauge.measuring.plan.general import RequestFields
from mpigauge.measuring.plan.memory.buffer_memory import memory_options
from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import parse_hosts
from mpigauge.model.hosts import NamedHost
from mpigauge.model.libraries import Blas, Compiler
from mpigauge.model.limits import MOST_SEED
from mpigauge.model.option_table import GENERAL, OptionRow
from mpigauge.model.sizes import parse_sizes
from mpigauge.model.suite_options import flag_of, read_suite_options
from mpigauge.site.placement import parse_entries
from mpigauge.site.placement import words as parse_place

if TYPE_CHECKING:
    from mpigauge.runs.store.arrivals import ArrivalsOfRun
    from mpigauge.runs.store.replays import ReplayMix


@dataclass(frozen=True)
class LookedUp:
    """Files, variables, programs and libraries that options name. The command line looks them up
    (session/lookups.py), so that a request is a function of values."""

    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    sizes: tuple[int, ...] | None = None
    """The sizes in the file of --sizes-file."""
    hosts: tuple[NamedHost, ...] = ()
    """The hosts in the file of --hostfile."""
    folders: str = ""
    """The folders of --dir, absolute, separated by commas."""
    rankfiles: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The texts of the files that placements name, by their paths as given."""
    agent: tuple[str, ...] = ()
    """The words of --rsh, with the path of the program."""
    cuda: str = ""
    """The path of the library of --cuda, absolute."""
    nccl: str = ""
    """The path of the library of --nccl, absolute."""
    blas: tuple[Blas, ...] = ()
    default_blas: Blas | None = None
    """The BLAS that mpigauge brings; None: it has none for this kind of processor."""
    compilers: tuple[Compiler, ...] = ()
    arrivals: Mapping[str, ArrivalsOfRun] = field(default_factory=dict, hash=False)
    """Arrival patterns of the profiles that --arrival names, by their names as given."""
    replay: ReplayMix | None = None
    """The mix of calls of the profile that --replay names."""
    seed: int = 0
    """A random seed, for requests without one."""


@dataclass(frozen=True)
class Request(RequestFields):
    """The options of a user, with the files and other objects that they name."""

    benchmarks: tuple[str, ...] = ()
    rankfiles: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The texts of the files that the policies name."""
    unbound: bool = False
    """True if ranks are not to be bound."""
    suite_options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Options that only some benchmarks use, in the kernels' words."""
    blas: tuple[Blas, ...] = ()
    """Libraries for matrix products that the user named, each measured."""
    default_blas: Blas | None = None
    """The library that is measured by default; None: it does not exist."""
    compilers: tuple[Compiler, ...] = ()
    """Compilers for the simple loops, each measured."""
    arrivals: Mapping[str, ArrivalsOfRun] = field(default_factory=dict, hash=False)
    """Arrival patterns of the profiles that the user named, by their names as given."""
    replay: ReplayMix | None = None
    """The mix of calls that is to be replayed."""

    @property
    def libraries(self) -> tuple[Blas, ...]:
        """The libraries for matrix products: those that the user named, else the default."""
        if self.blas or self.default_blas is None:
            return self.blas
        return (self.default_blas,)


def read_request(raw: Mapping[str, Any], looked_up: LookedUp | None = None) -> Request:
    """The request in the words of a command line; options that were not given are None.
    `looked_up`: the files and other objects that they name. UserError: an option is invalid, or two
    contradict."""
    options = {name: value for name, value in raw.items() if value not in (None, (), "")}
    looked_up = looked_up or LookedUp()
    _refuse_contradictions(options)
    values: dict[str, Any] = {"benchmarks": tuple(options.get("benchmarks", ()))}
    for row in GENERAL:
        read = _READERS.get(row.form) if row.key in _FIELDS else None
        if read and row.key in options:
            values[row.key] = read(row, options[row.key])
    values |= _bind(options.get("bind", ""))
    values |= _memory(options)
    if "sizes_file" in options:
        values["sizes"] = looked_up.sizes
    if "hostfile" in options:
        values["hosts"] = looked_up.hosts
    if "dir" in options:
        options["dir"] = looked_up.folders
    request = Request(
        **values,
        suite_options=read_suite_options(options, looked_up.environment),
        env=parse.parse_env(options.get("env", ()), looked_up.environment),
        rankfiles=looked_up.rankfiles,
        rsh=looked_up.agent,
        cuda=looked_up.cuda,
        nccl=looked_up.nccl,
        blas=looked_up.blas,
        default_blas=looked_up.default_blas,
        compilers=_each_once(looked_up.compilers),
        arrivals=looked_up.arrivals,
        replay=looked_up.replay,
        seed=_seed(options.get("seed", looked_up.seed)),
    )
    if request.unbound and request.bound_by == "launcher":
        raise UserError(
            "--bind none and --bind-by launcher contradict: nobody binds, or the launcher does; "
            "give one of them"
        )
    return request


def _refuse_contradictions(options: Mapping[str, Any]) -> None:
    for first, second, why in _CONTRADICTIONS:
        if options.get(first) and options.get(second):
            raise UserError(f"{_option(first)} and {_option(second)} contradict: {why}")
    if options.get("arrival") and options.get("sync", "clock") not in ("auto", "clock"):
        raise UserError(
            f"--arrival and --sync {options['sync']} contradict: only by a common clock do ranks "
            "come as they should"
        )
    if options.get("classic") and options.get("data", "static") != "static":
        raise UserError(
            f"--classic and --data {options['data']} contradict: the classic mode has IMB's "
            "schedule, which never writes what it sends"
        )


def _option(name: str) -> str:
    return "--time" if name == "seconds" else flag_of(name.replace("_", "-"))


_CONTRADICTIONS = (
    ("bind", "place", "both place ranks; give one of them"),
    ("sizes", "sizes_file", "both name the message sizes; give one of them"),
    ("hosts", "hostfile", "both name the hosts; give one of them"),
    ("ranks", "npmin", "--ranks names every size of a group; give one of them"),
    ("root", "root_shift", "every rank is the root in turn, or one is; give one of them"),
    ("classic", "arrival", "in the classic mode ranks come as they do in IMB"),
    ("classic", "profile", "a replay has the calls of its profile, and not IMB's schedule"),
    ("classic", "seconds", "the classic mode has IMB's schedule, which no time budget changes"),
    ("classic", "precision", "the classic mode has IMB's schedule, which has no precision"),
)


def _bind(text: str) -> dict[str, Any]:
    """The options for --bind: 0,4 is short for --place cores:0,4; none leaves ranks unbound."""
    if not text:
        return {}
    if text.strip().lower() == "none":
        return {"unbound": True}
    return {"place": (f"cores:{','.join(parse_entries(text, '--bind'))}",)}


def _memory(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for --memory and --memory-limit."""
    texts = options.get("memory", ())
    return memory_options(
        (texts,) if isinstance(texts, str) else texts, options.get("memory_limit", "")
    )


def _place(texts: Iterable[str]) -> tuple[str, ...]:
    """The policies of all these words, each once."""
    policies: dict[str, None] = {}
    for text in texts:
        policies |= dict.fromkeys(parse_place(text))
    return tuple(policies)


def _each_once(compilers: Sequence[Compiler]) -> tuple[Compiler, ...]:
    names = [each.name for each in compilers]
    for each in compilers:
        if names.count(each.name) > 1:
            raise UserError(f"--compiler: {each.said} is named twice; name each once")
    return tuple(compilers)


def _seed(seed: int) -> int:
    if not 0 <= seed <= MOST_SEED:
        raise UserError(f"--seed: {seed} is out of range; write a number from 0 to 2^63 - 1")
    return seed


def _rank_count(row: OptionRow, value: object) -> int:
    return parse.parse_count(row.flag, str(value), "ranks")


def _number(row: OptionRow, number: int) -> int:
    if not row.least <= number <= row.most:
        raise UserError(
            f"{row.flag}: {number} is out of range; write a number from {row.least} to {row.most}"
        )
    return number


def _word(row: OptionRow, word: str) -> str | int:
    """One of the choices, as a number if all of them are numbers."""
    return int(word) if all(map(str.isdigit, row.choices)) else str(word)


_FIELDS = frozenset(each.name for each in fields(RequestFields))
_READERS: Mapping[str, Callable[[OptionRow, Any], Any]] = {
    "flag": lambda _, value: bool(value),
    "text": lambda _, value: str(value),
    "name": lambda _, value: str(value).strip(),
    "word": _word,
    "int": _number,
    "rank_count": _rank_count,
    "rank_counts": lambda row, text: parse.parse_counts(row.flag, text, "ranks"),
    "rank_grid": lambda row, text: parse.parse_grid(row.flag, text),
    "sizes": lambda _, text: tuple(parse_sizes(text)),
    "share": lambda row, text: parse.parse_share(row.flag, text),
    "duration": lambda row, text: parse.parse_duration(row.flag, text),
    "hosts": lambda row, text: parse_hosts(text, row.flag),
    "policies": lambda _, texts: _place(texts),
    "settings": lambda _, words: parse.parse_settings(words),
}
"""The readers by the form of an option, without forms that read_request looks up."""
