# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/columns.toml: change that file, not this one.
"""Every stored column of a cell record, and what is derived from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 2


class Column(NamedTuple):
    """What schema/columns.toml says of a column; the head of that file explains each field."""

    name: str
    type: str
    unit: str
    group: str
    about: str
    role: str = ""
    usual: Any = None
    imported: Any = None
    in_table: bool = False
    over_launches: str = ""
    quantile: float | None = None
    values: tuple[str, ...] = ()
    label: str = ""
    empty: str = ""
    words: Mapping[str, str] = MappingProxyType({})
    heading: str = ""
    in_name: str = ""
    phrase: str = ""
    column: str = ""


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(word) for word in value)


@dataclass(frozen=True)
class Cell:
    """One cell of one launch: each stored column, and derived values."""

    # Number of the launch (one start of the MPI job), from 0.
    launch: int

    # Suite of the benchmark, as IMB names it (MPI1).
    suite: str

    # Registered name of the benchmark.
    benchmark: str

    # Ranks that take part in one group.
    ranks: int

    # Groups that run at the same time (IMB -multi); 1 without.
    groups: int

    # Which of these groups the row is about; -1: all of them together.
    group: int

    # Ranks of the job that make the group, as 0,3, where pairs were named (map); else empty.
    members: str

    # Message size as IMB counts it: per message, or per rank in collectives. -1: the benchmark
    # has no message. [B]
    message_bytes: int

    # MPI data type of the message.
    datatype: str

    # Reduction operation; empty where nothing is reduced.
    op: str

    # hot: the same buffers at every call; cold: buffers rotate through more memory than the
    # caches hold.
    cache: str

    # static: the send buffer is written once, as IMB does; fresh: before each call, by the rank
    # that sends it.
    data: str

    # How ranks start a timed call together: none, barrier, dissemination, clock (at the opening
    # of a window of the common clock, from which the time counts).
    sync: str

    # The root moves by one rank at each call.
    root_shift: bool

    # Messages sent before a wait (Uniband, Biband); 1 elsewhere.
    inflight: int

    # When operations are completed: each: after each one (IMB's NON-AGGREGATE); end: all of a
    # sample together (AGGREGATE); empty: the operation is complete when it returns.
    completion: str

    # Threads of each rank that run the benchmark at the same time, or that a library (BLAS) was
    # set to use; 1 elsewhere.
    threads: int

    # Where a benchmark on files has them; empty for others.
    directory: str

    # How the elements of a message lie in memory, as IMB's -contig_type: base: one behind the
    # other; base_vec: as one element of a vector type; resize: with as much room behind each;
    # resize_vec: both.
    layout: str

    # Options that only some benchmarks use and that are not as usual: name=value, with blanks
    # between.
    settings: str

    # The policy that ranks were placed by (--place); empty: a core for each rank, or as --bind
    # none leaves it. Where each rank really was is in the rank records of the launch.
    placement: str

    # What a sweep varies, as it was set here: name=value, with blanks between; empty: nothing is
    # varied, or the default.
    arm: str

    # The program whose number this is, with its version where it is printed (IMB 2021.7); empty:
    # mpigauge.
    source: str

    # adaptive: mpigauge's sampling; classic: the schedule and arithmetic of IMB.
    mode: str

    # The memory of the buffers: host: ordinary; pinned: host memory that the driver of the GPU
    # has locked; device: of a GPU; managed: its pages move between host and GPU. A>B: the two
    # sides differ, rank 0 (or the sender) has A and rank 1 (or the receiver) B.
    memory: str

    # measured, imported, simulated or predicted.
    origin: str

    # The thread level at which MPI was initialised, where one was asked for (--thread-level), as
    # the library provided it: single, funneled, serialized, multiple; empty: the lowest that the
    # benchmark needs.
    thread_level: str

    # When ranks come to the call (--arrival): late:1:50us: rank 1 that much after the others;
    # uniform:100us: by chance within that time; sorted:100us: one after the other within it;
    # profile:RUN: as in a profile; empty: together. Where they do not, time_p50_s counts from the
    # last to come.
    arrival: str

    # shared: ranks of the row share a GPU, and their buffers are on it (--gpu names it more than
    # once); empty: each rank has a GPU of its own, or the buffers are on none.
    sharing: str

    # Calls between two clock reads (one sample). In classic mode: the repetitions of the row.
    calls: int

    # Timed samples that the statistics rest on.
    samples: int

    # Chunks (runs of samples at one visit) that the samples came in.
    chunks: int

    # Visits to this cell, the discarded first one left out.
    rounds: int

    # How many different sets of buffers were used.
    epochs: int

    # Why sampling ended: precise, budget, time, interrupted; classic: schedule.
    stop: str

    # What time_p50_s is where it is not the median of samples: mean over calls, best of
    # repetitions, …; empty: the median.
    statistic: str

    # Share of chunks in which a rank was switched out, moved to another core, or lost time to the
    # hypervisor. [1]
    tainted_ratio: float

    # What is suspicious: tainted, drift, bimodal, unconverged, cold-sensitive, sync, clock,
    # detours, oversubscribed, aggressors; shared-gpu where sharing is not empty.
    flags: tuple[str, ...]

    # Elements that arrived different from what was sent, in the untimed checked call.
    wrong_count: int

    # How the benchmark did its work, where it chose the way by a short trial on this machine:
    # avx2 4 strips …; or the library that did it, as that names itself: OpenBLAS 0.3.34, core
    # SkylakeX, pthreads, 2 threads; empty for others.
    variant: str

    # Cores that the first rank of the group kept busy while a library that it called (BLAS) was
    # at work: the CPU time of its process by the time on the clock. Empty for others. [1]
    busy_cores: float

    # Threads of that rank that shared the work: the CPU time of all of them by that of the
    # busiest, whether they had cores of their own or not. Empty for others. [1]
    busy_threads: float

    # What the aggressors sent meanwhile, all of them together (FABRIC). Empty for others. [B/s]
    beside_bytes_per_s: float

    # exact: every element was compared; none: the benchmark moves no data.
    check: str

    # Time of one call: median over the medians of chunks, of the slowest rank of each sample. Not
    # halved. [s]
    time_p50_s: float

    # Lower end of the 95 % interval of time_p50_s from order statistics of chunk medians. [s]
    ci_low_s: float

    # Upper end of that interval. [s]
    ci_high_s: float

    # Over ranks: fastest rank of a sample, median over samples. Classic: smallest rank mean. [s]
    time_min_s: float

    # Over ranks: mean of the ranks of a sample, median over samples. Classic: mean of rank means.
    # [s]
    time_avg_s: float

    # Over ranks: slowest rank of a sample, median over samples. Classic: largest rank mean. [s]
    time_max_s: float

    # Mean over all samples of the slowest rank, disturbed ones included: what IMB prints. [s]
    time_mean_s: float

    # Smallest sample. [s]
    time_best_s: float

    # 1st percentile of samples. [s]
    time_p01_s: float

    # 99th percentile of samples. [s]
    time_p99_s: float

    # Largest sample. [s]
    time_worst_s: float

    # First call after another cell had its turn, median over visits: caches hold other data. [s]
    time_first_s: float

    # What the common start may be wrong by (sync = clock): of the common clock, or of noticing
    # it; 0 elsewhere. [s]
    sync_error_s: float

    # Communication alone, without the computation; median over samples of the slowest rank. Empty
    # where there is none. [s]
    time_pure_s: float

    # The computation alone, as it really took; median over samples of the slowest rank. [s]
    time_cpu_s: float

    # Communication and computation together, where the computation calls MPI_Test now and then.
    # [s]
    time_progress_s: float

    # Writing the send buffer before the call where data are fresh, median over samples of the
    # slowest rank; no part of time_p50_s. Empty where they are static. [s]
    time_write_s: float

    # Of a rank in the mean, from its own arrival to the end of its call, where ranks come apart
    # (arrival), and of a program that is replayed all that it spends in MPI; median over samples.
    # Empty elsewhere. [s]
    time_own_s: float

    # The same as time_own_s in the mean over all samples, as a profile counts all calls. Empty
    # where that is. [s]
    time_own_mean_s: float

    # How much later the last rank comes than the first, where they come apart; median over
    # samples. [s]
    time_skew_s: float

    # Share of overlap: (time_pure_s + time_cpu_s - time_p50_s) / max(time_pure_s, time_cpu_s),
    # between 0 and 1, of each visit; median over visits. In MPI-IO of the smaller of the two, as
    # IMB has it. The library makes progress on its own. [1]
    overlap_ratio: float

    # Lower end of the 95 % interval of overlap_ratio, from order statistics over visits. [1]
    overlap_low_ratio: float

    # Upper end of it. [1]
    overlap_high_ratio: float

    # Share of overlap with time_progress_s in place of time_p50_s. [1]
    overlap_progress_ratio: float

    # What one call's time is multiplied by to give the printed time: 0.5 for a half round trip.
    # [1]
    time_scale: float

    # Bytes that count for bandwidth in one printed time (factor 2 in Sendrecv, 4 in Exchange); 0:
    # no bandwidth. [B]
    moved_bytes: float

    # Messages that count for the message rate in one printed time; 0: no rate. [1]
    messages: float

    # The bandwidth that another program printed beside its time, as it printed it: in megabytes
    # of 10^6 bytes, in IMB before 2017 of 2^20, counted its own way. What follows from the time
    # is bandwidth_bytes_per_s. Empty where none was printed. [MB/s]
    printed_mb_per_s: float

    # The message rate that another program printed, as it printed it. Empty where none was
    # printed. [1/s]
    printed_msg_per_s: float

    @property
    def latency_s(self) -> float:
        """The printed time: half round trip for PingPong, time of a call elsewhere. [s]"""
        return self.time_p50_s * self.time_scale

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bandwidth; the factor for directions is in moved_bytes. [B/s]"""
        return _ratio(self.moved_bytes, self.latency_s)

    @property
    def message_rate_per_s(self) -> float:
        """Messages per second. [1/s]"""
        return _ratio(self.messages, self.latency_s)

    @property
    def key(self) -> tuple[str | int | bool, ...]:
        """What makes this cell one cell: the columns of group "cell" without the launch."""
        found: tuple[str | int | bool, ...] = _key(self)
        return found

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Cell:
        """The cell in a record line; keys that are not columns are left out."""
        try:
            full = {**ABSENT, **record}
            cell = object.__new__(cls)  # not by its __init__, which sets a frozen field at a time
            cell.__dict__.update({name: read(full[name]) for name, read in _READ.items()})
            return cell
        except KeyError as error:
            raise ValueError(f"the cell record has no column {error}") from None
        except TypeError as error:
            raise ValueError(f"the cell record has a value of a wrong type: {error}") from None


KEY_COLUMNS = (
    "suite",
    "benchmark",
    "ranks",
    "groups",
    "group",
    "members",
    "message_bytes",
    "datatype",
    "op",
    "cache",
    "data",
    "sync",
    "root_shift",
    "inflight",
    "completion",
    "threads",
    "directory",
    "layout",
    "settings",
    "placement",
    "arm",
    "source",
    "mode",
    "memory",
    "origin",
    "thread_level",
    "arrival",
    "sharing",
)
_key = attrgetter(*KEY_COLUMNS)

_READ: dict[str, Any] = {
    "launch": int,
    "suite": str,
    "benchmark": str,
    "ranks": int,
    "groups": int,
    "group": int,
    "members": str,
    "message_bytes": int,
    "datatype": str,
    "op": str,
    "cache": str,
    "data": str,
    "sync": str,
    "root_shift": bool,
    "inflight": int,
    "completion": str,
    "threads": int,
    "directory": str,
    "layout": str,
    "settings": str,
    "placement": str,
    "arm": str,
    "source": str,
    "mode": str,
    "memory": str,
    "origin": str,
    "thread_level": str,
    "arrival": str,
    "sharing": str,
    "calls": int,
    "samples": int,
    "chunks": int,
    "rounds": int,
    "epochs": int,
    "stop": str,
    "statistic": str,
    "tainted_ratio": _float,
    "flags": _words,
    "wrong_count": int,
    "variant": str,
    "busy_cores": _float,
    "busy_threads": _float,
    "beside_bytes_per_s": _float,
    "check": str,
    "time_p50_s": _float,
    "ci_low_s": _float,
    "ci_high_s": _float,
    "time_min_s": _float,
    "time_avg_s": _float,
    "time_max_s": _float,
    "time_mean_s": _float,
    "time_best_s": _float,
    "time_p01_s": _float,
    "time_p99_s": _float,
    "time_worst_s": _float,
    "time_first_s": _float,
    "sync_error_s": _float,
    "time_pure_s": _float,
    "time_cpu_s": _float,
    "time_progress_s": _float,
    "time_write_s": _float,
    "time_own_s": _float,
    "time_own_mean_s": _float,
    "time_skew_s": _float,
    "overlap_ratio": _float,
    "overlap_low_ratio": _float,
    "overlap_high_ratio": _float,
    "overlap_progress_ratio": _float,
    "time_scale": _float,
    "moved_bytes": _float,
    "messages": _float,
    "printed_mb_per_s": _float,
    "printed_msg_per_s": _float,
}

# Of records that were written before there were these columns.
ABSENT: dict[str, Any] = {
    "members": "",
    "completion": "",
    "threads": 1,
    "directory": "",
    "layout": "base",
    "settings": "",
    "placement": "",
    "arm": "",
    "source": "",
    "thread_level": "",
    "arrival": "",
    "sharing": "",
    "statistic": "",
    "variant": "",
    "busy_cores": None,
    "busy_threads": None,
    "beside_bytes_per_s": None,
    "time_pure_s": None,
    "time_cpu_s": None,
    "time_progress_s": None,
    "time_write_s": None,
    "time_own_s": None,
    "time_own_mean_s": None,
    "time_skew_s": None,
    "overlap_ratio": None,
    "overlap_low_ratio": None,
    "overlap_high_ratio": None,
    "overlap_progress_ratio": None,
    "printed_mb_per_s": None,
    "printed_msg_per_s": None,
}

# In which people are told of columns.
ORDER_OF_WORDS = (
    "members",
    "groups",
    "group",
    "memory",
    "mode",
    "origin",
    "root_shift",
    "threads",
    "directory",
    "completion",
    "layout",
    "settings",
    "placement",
    "arm",
    "source",
    "inflight",
    "arrival",
    "cache",
    "data",
    "suite",
    "benchmark",
    "ranks",
    "message_bytes",
    "datatype",
    "op",
    "sync",
    "thread_level",
    "sharing",
)

# By which rows are sorted.
ORDER_OF_ROWS = (
    ("benchmark",),
    ("ranks",),
    ("groups",),
    ("placement", "arm"),
    ("threads",),
    ("directory",),
    ("completion",),
    ("arrival",),
    ("message_bytes",),
    ("cache",),
    ("data",),
    ("group",),
    ("memory",),
    ("thread_level",),
    ("sharing",),
)

COLUMNS = (
    Column(
        "launch",
        "int",
        "",
        "cell",
        "Number of the launch (one start of the MPI job), from 0.",
        role="fact",
    ),
    Column(
        "suite",
        "str",
        "",
        "cell",
        "Suite of the benchmark, as IMB names it (MPI1).",
        role="what",
    ),
    Column(
        "benchmark",
        "str",
        "",
        "cell",
        "Registered name of the benchmark.",
        role="what",
    ),
    Column(
        "ranks",
        "int",
        "",
        "cell",
        "Ranks that take part in one group.",
        role="what",
    ),
    Column(
        "groups",
        "int",
        "",
        "cell",
        "Groups that run at the same time (IMB -multi); 1 without.",
        role="what",
        usual=1,
        in_name="{} groups",
    ),
    Column(
        "group",
        "int",
        "",
        "cell",
        "Which of these groups the row is about; -1: all of them together.",
        role="what",
        usual=-1,
        in_table=True,
        in_name="group {}",
    ),
    Column(
        "members",
        "str",
        "",
        "cell",
        "Ranks of the job that make the group, as 0,3, where pairs were named (map); else empty.",
        role="what",
        usual="",
        in_table=True,
        in_name="{}",
    ),
    Column(
        "message_bytes",
        "int",
        "B",
        "cell",
        (
            "Message size as IMB counts it: per message, or per rank in collectives. -1: the "
            "benchmark has no message."
        ),
        role="what",
        imported=-1,
        in_table=True,
        label="bytes",
    ),
    Column(
        "datatype",
        "str",
        "",
        "cell",
        "MPI data type of the message.",
        role="what",
    ),
    Column(
        "op",
        "str",
        "",
        "cell",
        "Reduction operation; empty where nothing is reduced.",
        role="what",
    ),
    Column(
        "cache",
        "str",
        "",
        "cell",
        (
            "hot: the same buffers at every call; cold: buffers rotate through more memory "
            "than the caches hold."
        ),
        role="how",
        usual="hot",
        values=("hot", "cold"),
        in_name="{}",
        phrase="with {} caches",
    ),
    Column(
        "data",
        "str",
        "",
        "cell",
        (
            "static: the send buffer is written once, as IMB does; fresh: before each call, "
            "by the rank that sends it."
        ),
        role="how",
        usual="static",
        values=("static", "fresh"),
        phrase="with {} data",
    ),
    Column(
        "sync",
        "str",
        "",
        "cell",
        (
            "How ranks start a timed call together: none, barrier, dissemination, clock (at "
            "the opening of a window of the common clock, from which the time counts)."
        ),
        role="how",
        usual="none",
        heading="started {}",
        words={
            "none": "on their own",
            "barrier": "after a barrier",
            "clock": "by the clock",
            "dissemination": "after a barrier of our own",
        },
    ),
    Column(
        "root_shift",
        "bool",
        "",
        "cell",
        "The root moves by one rank at each call.",
        role="how",
        usual=False,
        heading="moving root",
    ),
    Column(
        "inflight",
        "int",
        "",
        "cell",
        "Messages sent before a wait (Uniband, Biband); 1 elsewhere.",
        role="what",
        usual=1,
        heading="{} in flight",
        phrase="with {} in flight",
    ),
    Column(
        "completion",
        "str",
        "",
        "cell",
        (
            "When operations are completed: each: after each one (IMB's NON-AGGREGATE); end: "
            "all of a sample together (AGGREGATE); empty: the operation is complete when it "
            "returns."
        ),
        role="what",
        usual="",
        heading="completed {}",
        in_name="completed {}",
        words={
            "each": "one by one",
            "end": "together",
        },
    ),
    Column(
        "threads",
        "int",
        "",
        "cell",
        (
            "Threads of each rank that run the benchmark at the same time, or that a library "
            "(BLAS) was set to use; 1 elsewhere."
        ),
        role="what",
        usual=1,
        in_name="{} threads",
    ),
    Column(
        "directory",
        "str",
        "",
        "cell",
        "Where a benchmark on files has them; empty for others.",
        role="how",
        usual="",
        empty="no directory",
        heading="in {}",
    ),
    Column(
        "layout",
        "str",
        "",
        "cell",
        (
            "How the elements of a message lie in memory, as IMB's -contig_type: base: one "
            "behind the other; base_vec: as one element of a vector type; resize: with as "
            "much room behind each; resize_vec: both."
        ),
        role="what",
        usual="base",
    ),
    Column(
        "settings",
        "str",
        "",
        "cell",
        (
            "Options that only some benchmarks use and that are not as usual: name=value, "
            "with blanks between."
        ),
        role="what",
        usual="",
        heading="{}",
    ),
    Column(
        "placement",
        "str",
        "",
        "cell",
        (
            "The policy that ranks were placed by (--place); empty: a core for each rank, or "
            "as --bind none leaves it. Where each rank really was is in the rank records of "
            "the launch."
        ),
        role="how",
        usual="",
        empty="the default",
        in_name="{}",
        phrase="at {}",
    ),
    Column(
        "arm",
        "str",
        "",
        "cell",
        (
            "What a sweep varies, as it was set here: name=value, with blanks between; empty:"
            " nothing is varied, or the default."
        ),
        role="how",
        usual="",
        empty="the default",
        heading="{}",
        in_name="{}",
        phrase="with {}",
    ),
    Column(
        "source",
        "str",
        "",
        "cell",
        (
            "The program whose number this is, with its version where it is printed (IMB "
            "2021.7); empty: mpigauge."
        ),
        role="how",
        usual="",
        empty="mpigauge",
        heading="{}",
    ),
    Column(
        "mode",
        "str",
        "",
        "cell",
        "adaptive: mpigauge's sampling; classic: the schedule and arithmetic of IMB.",
        role="how",
        usual="adaptive",
        imported="classic",
        heading="{}",
    ),
    Column(
        "memory",
        "str",
        "",
        "cell",
        (
            "The memory of the buffers: host: ordinary; pinned: host memory that the driver "
            "of the GPU has locked; device: of a GPU; managed: its pages move between host "
            "and GPU. A>B: the two sides differ, rank 0 (or the sender) has A and rank 1 (or "
            "the receiver) B."
        ),
        role="how",
        usual="host",
        values=("host", "pinned", "device", "managed"),
        heading="{} memory",
        in_name="{} memory",
        phrase="in {} memory",
    ),
    Column(
        "origin",
        "str",
        "",
        "cell",
        "measured, imported, simulated or predicted.",
        role="how",
        usual="measured",
        imported="imported",
        heading="{}",
    ),
    Column(
        "thread_level",
        "str",
        "",
        "cell",
        (
            "The thread level at which MPI was initialised, where one was asked for "
            "(--thread-level), as the library provided it: single, funneled, serialized, "
            "multiple; empty: the lowest that the benchmark needs."
        ),
        role="how",
        usual="",
        values=("", "single", "funneled", "serialized", "multiple"),
        label="thread level",
        empty="the default",
        heading="thread level {}",
        in_name="thread level {}",
        phrase="at thread level {}",
    ),
    Column(
        "arrival",
        "str",
        "",
        "cell",
        (
            "When ranks come to the call (--arrival): late:1:50us: rank 1 that much after the"
            " others; uniform:100us: by chance within that time; sorted:100us: one after the "
            "other within it; profile:RUN: as in a profile; empty: together. Where they do "
            "not, time_p50_s counts from the last to come."
        ),
        role="how",
        usual="",
        empty="together",
        heading="ranks come {}",
        in_name="{}",
        phrase="with ranks that come {}",
    ),
    Column(
        "sharing",
        "str",
        "",
        "cell",
        (
            "shared: ranks of the row share a GPU, and their buffers are on it (--gpu names "
            "it more than once); empty: each rank has a GPU of its own, or the buffers are on"
            " none."
        ),
        role="what",
        usual="",
        values=("", "shared"),
        empty="a GPU for each rank",
        heading="{}",
        in_name="{}",
        phrase="where {}",
        words={
            "shared": "ranks share a GPU",
        },
    ),
    Column(
        "calls",
        "int",
        "",
        "effort",
        "Calls between two clock reads (one sample). In classic mode: the repetitions of the row.",
        role="fact",
        imported=0,
    ),
    Column(
        "samples",
        "int",
        "",
        "effort",
        "Timed samples that the statistics rest on.",
        role="fact",
        imported=1,
        over_launches="sum",
    ),
    Column(
        "chunks",
        "int",
        "",
        "effort",
        "Chunks (runs of samples at one visit) that the samples came in.",
        role="fact",
        imported=1,
        over_launches="sum",
    ),
    Column(
        "rounds",
        "int",
        "",
        "effort",
        "Visits to this cell, the discarded first one left out.",
        role="fact",
        imported=1,
        over_launches="sum",
    ),
    Column(
        "epochs",
        "int",
        "",
        "effort",
        "How many different sets of buffers were used.",
        role="fact",
        imported=1,
        over_launches="sum",
    ),
    Column(
        "stop",
        "str",
        "",
        "effort",
        "Why sampling ended: precise, budget, time, interrupted; classic: schedule.",
        role="fact",
        imported="schedule",
    ),
    Column(
        "statistic",
        "str",
        "",
        "effort",
        (
            "What time_p50_s is where it is not the median of samples: mean over calls, best "
            "of repetitions, …; empty: the median."
        ),
        role="how",
        usual="",
        empty="median",
    ),
    Column(
        "tainted_ratio",
        "float",
        "1",
        "effort",
        (
            "Share of chunks in which a rank was switched out, moved to another core, or lost"
            " time to the hypervisor."
        ),
        role="fact",
    ),
    Column(
        "flags",
        "words",
        "",
        "effort",
        (
            "What is suspicious: tainted, drift, bimodal, unconverged, cold-sensitive, sync, "
            "clock, detours, oversubscribed, aggressors; shared-gpu where sharing is not "
            "empty."
        ),
        role="fact",
    ),
    Column(
        "wrong_count",
        "int",
        "",
        "effort",
        "Elements that arrived different from what was sent, in the untimed checked call.",
        role="fact",
        over_launches="sum",
    ),
    Column(
        "variant",
        "str",
        "",
        "effort",
        (
            "How the benchmark did its work, where it chose the way by a short trial on this "
            "machine: avx2 4 strips …; or the library that did it, as that names itself: "
            "OpenBLAS 0.3.34, core SkylakeX, pthreads, 2 threads; empty for others."
        ),
        role="fact",
        usual="",
    ),
    Column(
        "busy_cores",
        "float",
        "1",
        "effort",
        (
            "Cores that the first rank of the group kept busy while a library that it called "
            "(BLAS) was at work: the CPU time of its process by the time on the clock. Empty "
            "for others."
        ),
        role="fact",
    ),
    Column(
        "busy_threads",
        "float",
        "1",
        "effort",
        (
            "Threads of that rank that shared the work: the CPU time of all of them by that "
            "of the busiest, whether they had cores of their own or not. Empty for others."
        ),
        role="fact",
    ),
    Column(
        "beside_bytes_per_s",
        "float",
        "B/s",
        "effort",
        "What the aggressors sent meanwhile, all of them together (FABRIC). Empty for others.",
        role="fact",
    ),
    Column(
        "check",
        "str",
        "",
        "effort",
        "exact: every element was compared; none: the benchmark moves no data.",
        role="fact",
        imported="none",
    ),
    Column(
        "time_p50_s",
        "float",
        "s",
        "time",
        (
            "Time of one call: median over the medians of chunks, of the slowest rank of each"
            " sample. Not halved."
        ),
        role="time",
    ),
    Column(
        "ci_low_s",
        "float",
        "s",
        "time",
        "Lower end of the 95 % interval of time_p50_s from order statistics of chunk medians.",
        role="time",
    ),
    Column(
        "ci_high_s",
        "float",
        "s",
        "time",
        "Upper end of that interval.",
        role="time",
    ),
    Column(
        "time_min_s",
        "float",
        "s",
        "time",
        "Over ranks: fastest rank of a sample, median over samples. Classic: smallest rank mean.",
        role="time",
    ),
    Column(
        "time_avg_s",
        "float",
        "s",
        "time",
        (
            "Over ranks: mean of the ranks of a sample, median over samples. Classic: mean of"
            " rank means."
        ),
        role="time",
    ),
    Column(
        "time_max_s",
        "float",
        "s",
        "time",
        "Over ranks: slowest rank of a sample, median over samples. Classic: largest rank mean.",
        role="time",
    ),
    Column(
        "time_mean_s",
        "float",
        "s",
        "time",
        "Mean over all samples of the slowest rank, disturbed ones included: what IMB prints.",
        role="time",
    ),
    Column(
        "time_best_s",
        "float",
        "s",
        "time",
        "Smallest sample.",
        role="time",
        over_launches="least",
        quantile=0,
    ),
    Column(
        "time_p01_s",
        "float",
        "s",
        "time",
        "1st percentile of samples.",
        role="time",
        quantile=0.01,
    ),
    Column(
        "time_p99_s",
        "float",
        "s",
        "time",
        "99th percentile of samples.",
        role="time",
        quantile=0.99,
    ),
    Column(
        "time_worst_s",
        "float",
        "s",
        "time",
        "Largest sample.",
        role="time",
        over_launches="most",
        quantile=1,
    ),
    Column(
        "time_first_s",
        "float",
        "s",
        "time",
        "First call after another cell had its turn, median over visits: caches hold other data.",
        role="time",
    ),
    Column(
        "sync_error_s",
        "float",
        "s",
        "time",
        (
            "What the common start may be wrong by (sync = clock): of the common clock, or of"
            " noticing it; 0 elsewhere."
        ),
        role="time",
    ),
    Column(
        "time_pure_s",
        "float",
        "s",
        "parts",
        (
            "Communication alone, without the computation; median over samples of the slowest"
            " rank. Empty where there is none."
        ),
        role="time",
    ),
    Column(
        "time_cpu_s",
        "float",
        "s",
        "parts",
        "The computation alone, as it really took; median over samples of the slowest rank.",
        role="time",
    ),
    Column(
        "time_progress_s",
        "float",
        "s",
        "parts",
        (
            "Communication and computation together, where the computation calls MPI_Test now"
            " and then."
        ),
        role="time",
    ),
    Column(
        "time_write_s",
        "float",
        "s",
        "parts",
        (
            "Writing the send buffer before the call where data are fresh, median over "
            "samples of the slowest rank; no part of time_p50_s. Empty where they are static."
        ),
        role="time",
        column="write µs",
    ),
    Column(
        "time_own_s",
        "float",
        "s",
        "parts",
        (
            "Of a rank in the mean, from its own arrival to the end of its call, where ranks "
            "come apart (arrival), and of a program that is replayed all that it spends in "
            "MPI; median over samples. Empty elsewhere."
        ),
        role="time",
        column="own µs",
    ),
    Column(
        "time_own_mean_s",
        "float",
        "s",
        "parts",
        (
            "The same as time_own_s in the mean over all samples, as a profile counts all "
            "calls. Empty where that is."
        ),
        role="time",
    ),
    Column(
        "time_skew_s",
        "float",
        "s",
        "parts",
        (
            "How much later the last rank comes than the first, where they come apart; median"
            " over samples."
        ),
        role="time",
        column="skew µs",
    ),
    Column(
        "overlap_ratio",
        "float",
        "1",
        "parts",
        (
            "Share of overlap: (time_pure_s + time_cpu_s - time_p50_s) / max(time_pure_s, "
            "time_cpu_s), between 0 and 1, of each visit; median over visits. In MPI-IO of "
            "the smaller of the two, as IMB has it. The library makes progress on its own."
        ),
        role="time",
    ),
    Column(
        "overlap_low_ratio",
        "float",
        "1",
        "parts",
        "Lower end of the 95 % interval of overlap_ratio, from order statistics over visits.",
        role="time",
    ),
    Column(
        "overlap_high_ratio",
        "float",
        "1",
        "parts",
        "Upper end of it.",
        role="time",
    ),
    Column(
        "overlap_progress_ratio",
        "float",
        "1",
        "parts",
        "Share of overlap with time_progress_s in place of time_p50_s.",
        role="time",
    ),
    Column(
        "time_scale",
        "float",
        "1",
        "facts",
        (
            "What one call's time is multiplied by to give the printed time: 0.5 for a half "
            "round trip."
        ),
        role="fact",
        imported=1.0,
    ),
    Column(
        "moved_bytes",
        "float",
        "B",
        "facts",
        (
            "Bytes that count for bandwidth in one printed time (factor 2 in Sendrecv, 4 in "
            "Exchange); 0: no bandwidth."
        ),
        role="fact",
        imported=0.0,
    ),
    Column(
        "messages",
        "float",
        "1",
        "facts",
        "Messages that count for the message rate in one printed time; 0: no rate.",
        role="fact",
        imported=0.0,
    ),
    Column(
        "printed_mb_per_s",
        "float",
        "MB/s",
        "facts",
        (
            "The bandwidth that another program printed beside its time, as it printed it: in"
            " megabytes of 10^6 bytes, in IMB before 2017 of 2^20, counted its own way. What "
            "follows from the time is bandwidth_bytes_per_s. Empty where none was printed."
        ),
        role="fact",
    ),
    Column(
        "printed_msg_per_s",
        "float",
        "1/s",
        "facts",
        (
            "The message rate that another program printed, as it printed it. Empty where "
            "none was printed."
        ),
        role="fact",
    ),
)

DERIVED = (
    Column(
        "latency_s",
        "float",
        "s",
        "derived",
        "The printed time: half round trip for PingPong, time of a call elsewhere.",
    ),
    Column(
        "bandwidth_bytes_per_s",
        "float",
        "B/s",
        "derived",
        "Bandwidth; the factor for directions is in moved_bytes.",
    ),
    Column(
        "message_rate_per_s",
        "float",
        "1/s",
        "derived",
        "Messages per second.",
    ),
)
