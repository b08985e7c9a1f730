# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options of IMB and of OSU's benchmarks, and usual words for ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpigauge.cli.habits.habit import Habit, answered, of_runs, same_as, switch, usual
from mpigauge.cli.habits.launchers import distributed
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_LOG_BYTES, decimal_number, whole_number
from mpigauge.model.units import listed

_OURS = "here --memory has host, pinned, device and managed"
_OF_OSU = {"cuda": "device", "rocm": "device", "openacc": "device", "managed": "managed"}
"""Our kinds of memory by the words of OSU's -d."""
_UNTIL = "calls go on until --precision 5% is reached or --time 30s are over"
_WARM = "the first calls of each launch are never timed"
_NAMES = "name the benchmarks on the command line"
_TYPE = re.compile("mpi_", re.IGNORECASE)


# --- IMB ------------------------------------------------------------------------------------------
def _sizes(value: str) -> Sequence[str]:
    """IMB's powers of two: 28 or 3:28, and 0 before them."""
    first, colon, last = value.partition(":")
    low, high = (first, last) if colon else ("0", first)
    least, most = whole_number(low), whole_number(high)
    if least is None or most is None or not least <= most <= MOST_LOG_BYTES:
        raise UserError(
            f"-msglog {value}: write two powers of 2 as 3:28, or the larger alone; or --sizes "
            "0,8..256Mi"
        )
    return ["--sizes", f"0,{1 << least}..{1 << most}"]


def _gigabytes(value: str) -> Sequence[str]:
    """IMB's -mem: gigabytes of buffers for each process, such as 0.5."""
    gigabytes = decimal_number(value)
    if not gigabytes > 0:
        raise UserError(f"-mem {value}: write gigabytes, such as 0.5; or --memory-limit 512Mi")
    return ["--memory-limit", str(int(gigabytes * (1 << 30)))]


def _memory(value: str) -> Sequence[str]:
    """The words of IMB-MPI1-GPU, whose host is pinned memory."""
    from mpigauge.model.data_memory import OF_IMB_GPU

    if value not in OF_IMB_GPU:
        raise UserError(f"-mem_alloc_type {value}: IMB has {listed(OF_IMB_GPU, 'or')}; {_OURS}")
    return ["--memory", OF_IMB_GPU[value]]


# --- OSU ------------------------------------------------------------------------------------------
def _sizes_or_distribution(value: str, ranks: int | None) -> Sequence[str]:
    """OSU's -m MIN:MAX, or MAX alone, and srun's -m block:cyclic."""
    first, colon, last = value.partition(":")
    low, high = (first, last) if colon else ("1", first)
    least, most = whole_number(low), whole_number(high)
    if least is None or most is None:
        return distributed("-m", value, ranks)
    if least > most:
        raise UserError(f"-m {value}: write the smaller size first, --sizes {most}..{least}")
    return ["--sizes", f"{least}..{most}"]


def _device(value: str) -> Sequence[str]:
    if value.lower() not in _OF_OSU:
        raise UserError(f"-d {value}: OSU has {listed(_OF_OSU, 'or')}; {_OURS}")
    return ["--memory", _OF_OSU[value.lower()]]


def _datatype(value: str) -> Sequence[str]:
    return ["--datatype", _TYPE.sub("", value).lower()]


_REPETITIONS = of_runs(answered(f"{_UNTIL}; programs of `mpigauge imb install DIR` take -iter"))
_CALLS = of_runs(answered(_UNTIL))
HABITS = {
    "-msglog": Habit(_sizes),
    "-msglen": same_as("--sizes-file"),
    "-msgsize": same_as("--sizes"),
    "-msgsz": same_as("--sizes"),
    "-zero_size": switch("-zero_size", (), ("--sizes", "1..4Mi")),
    "-npmin": same_as("--npmin"),
    "-multi": same_as("--multi"),
    "-map": same_as("--rank-grid"),
    "-mem": Habit(_gigabytes),
    "-mem_alloc_type": Habit(_memory),
    "-off_cache": Habit(lambda _: ["--cache", "cold"]),
    "-root_shift": switch("-root_shift", ["--root-shift"]),
    "-sync": switch("-sync", (), "ranks meet before each call; --sync chooses how"),
    "-imb_barrier": switch("-imb_barrier", ["--sync", "dissemination"], ["--sync", "barrier"]),
    "-window_size": same_as("--inflight"),
    "-data_type": Habit(_datatype),
    "-red_data_type": Habit(_datatype),
    "-thread_level": same_as("--thread-level"),
    "-stride": same_as("--stride"),
    "-dir": same_as("--dir"),
    "-warm_up": switch("-warm_up", (), _WARM),
    "-check": usual(),
    "-time": of_runs(
        answered("IMB's time is that of one size; --time {}s is that of the whole run")
    ),
    "-iter": _REPETITIONS,
    "-iter_policy": _REPETITIONS,
    "-repeat": _CALLS,
    "-warmup": _CALLS,
    "-input": of_runs(answered(_NAMES)),
    "-include": of_runs(answered(f"{_NAMES}: `mpigauge run {{}}`")),
    "-exclude": of_runs(answered(f"{_NAMES}, without {{}}")),
    "-list": of_runs(answered("`mpigauge benchmarks` names the benchmarks", values=0)),
    "-help": of_runs(answered("--help explains the options", values=0)),
    "-m": Habit(_sizes_or_distribution, of_ranks=True),
    "--message-size": Habit(_sizes_or_distribution, of_ranks=True),
    "-i": _CALLS,
    "--iterations": _CALLS,
    "--warmup": of_runs(answered(_WARM)),
    "-W": same_as("--inflight"),
    "--window-size": same_as("--inflight"),
    "-d": Habit(_device),
    "--accelerator": Habit(_device),
    "-T": Habit(_datatype),
    "--type": Habit(_datatype),
    "-M": same_as("--memory-limit"),
    "--mem-limit": same_as("--memory-limit"),
    "--validation": usual(),
    "--full": usual(),
    "--size": same_as("--sizes"),
    "-o": same_as("--output"),
    "--list": of_runs(answered("`mpigauge benchmarks` names the benchmarks", values=0)),
}
