#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does the step model of `mpigauge predict` agree with SimGrid, which replays the same schedules?

SimGrid (Debian's libsimgrid-dev) gets a platform of the same calibration: each message has the
latency that makes it take its measured time alone, network cards and the memory of nodes are shared
links. It lets ranks run ahead of each other, where the model waits for all of them after each step:
so the model is above it where steps overlap, and below it where flows of one card meet unevenly. A
schedule in which a rank waits for ever ends with no simulated time, although smpirun ends well:
that counts as a fault.

Exit status: 0 all factors are within the promise, 1 some are not, 2 SimGrid is not here.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import common

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count, duration
from mpigauge.products.predict.calibrating import calibrated
from mpigauge.products.predict.calibration import (
    NETWORK,
    SOCKET,
    Calibration,
    read_calibration,
    to_text,
)
from mpigauge.products.predict.model import Machine
from mpigauge.products.predict.prediction import cost_of, names_of, steps_of
from mpigauge.products.predict.tables import Table
from mpigauge.products.predict.trace import write_trace
from mpigauge.session.run_names import open_run

PROMISE = (
    "within 1.3 at 10 240 ranks (log P steps), within 1.6 at 144; 10 240 ranks × 26 sizes below "
    "1 s and 300 MB; a replay of 8 B below 60 s and 2 GB"
)
PACKAGE = "libsimgrid-dev"
PUBLISHED = "ref:oci-optimized3-36-intel"
LARGE, SMALL = (320, 32), (4, 36)
MOST_LARGE, MOST_SMALL = 1.3, 1.6
MOST_S, MOST_MB = 1.0, 300
MOST_REPLAY_S, MOST_REPLAY_GB = 60.0, 2.0
LOGARITHMIC = (
    *("recursive_doubling", "rabenseifner", "binomial", "knomial", "hierarchical"),
    "dissemination",
)
"""Algorithms of O(log P) steps that are replayed on many ranks."""
OF_MANY = ("Allreduce", "Reduce", "Bcast", "Barrier")
"""Collectives whose messages do not grow with the ranks."""
TOO_MANY = {("Allgather", "linear")}
"""So many messages at once take SimGrid minutes."""
SLOWER = 1e6
"""The simulated machine is so much slower: SimGrid prints microseconds."""
ENVELOPE = 16
"""Bytes that SimGrid adds to each message."""
LONGEST_S = 1800
_TIME = re.compile(r"Simulation time (\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Row:
    ranks: int
    name: str
    message_bytes: int
    model_s: float
    simgrid_s: float
    """NaN: the replay did not come to its end."""
    seconds: float
    peak_bytes: int

    @property
    def ratio(self) -> float:
        return self.model_s / self.simgrid_s

    @property
    def off(self) -> float:
        """The factor between the two, whichever is longer."""
        return max(self.ratio, 1 / self.ratio)

    @property
    def is_complete(self) -> bool:
        return self.simgrid_s > 0


# --- SimGrid ----------------------------------------------------------------------------------
def check_simgrid() -> None:
    """UserError: it is not here, with the package that has it."""
    if not (shutil.which("smpirun") and Path("/usr/include/simgrid/s4u.hpp").exists()):
        raise UserError(f"SimGrid is not here; Debian has it: apt install {PACKAGE}")


def platform(machine: Machine) -> str:
    """The C++ text of the calibrated machine: SimGrid loads it as a library."""
    table, gap = machine.tables, machine.quantities["message_gap"][0]
    away = table[NETWORK] if machine.nodes > 1 else table[SOCKET]
    pair, near = away.rates(0)[0], table[SOCKET].rates(0)[0]
    card = machine.card(0)[0] if machine.nodes > 1 else machine.quantities["node_copy"][0]
    numbers = {
        "NODES": machine.nodes, "PPN": machine.ppn, "CARD": card / SLOWER,
        "PAIR": pair / SLOWER, "COPY": machine.quantities["node_copy"][0] / SLOWER,
        "NEAR": near / SLOWER,
        "AWAY_TABLE": _of(away, pair, gap), "NEAR_TABLE": _of(table[SOCKET], near, gap),
        "ENVELOPE": ENVELOPE,
    }  # fmt: skip
    text = _PLATFORM
    for name, value in numbers.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _of(table: Table, rate: float, gap: float) -> str:
    """The part of the time of a message that this rate does not explain, by its size, in
    microseconds of the slow machine. The sender and the receiver take a gap of it each."""
    times = [(size, table.of_size(size)[0][0]) for size in table.sizes]
    fixed = [(size, max(time - size / rate - 2 * gap, 0.0)) for size, time in times]
    return ", ".join(f"{{{size}.0, {time * SLOWER * 1e6}}}" for size, time in fixed)


_PLATFORM = r"""
#include <algorithm>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_set>
#include <vector>

namespace s4u = simgrid::s4u;
using Table = std::vector<std::pair<double, double>>;

static double at(const Table& table, double size) {
  const auto above = std::lower_bound(table.begin(), table.end(), std::pair(size, 0.0));
  if (above == table.begin()) return table.front().second;
  if (above == table.end()) return table.back().second;
  const auto below = above - 1;
  const double part = (size - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

extern "C" void load_platform(const s4u::Engine&) {
  static const Table away{@AWAY_TABLE@}, near{@NEAR_TABLE@};
  auto* zone = s4u::create_star_zone("cluster");
  const auto* far_pair = zone->create_link("pair", @PAIR@)
      ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->set_latency(0)->seal();
  const auto* near_pair = zone->create_link("near", @NEAR@)
      ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->set_latency(1e-6)->seal();
  for (int node = 0; node < @NODES@; ++node) {
    const auto name = std::to_string(node);
    auto* host = zone->create_host("node-" + name, 1e9)->set_core_count(@PPN@);
    host->seal();
    auto* card = zone->create_split_duplex_link("card-" + name, @CARD@);
    card->set_latency(0.5e-6)->seal();
    const auto* memory = zone->create_link("memory-" + name, @COPY@)->set_latency(0)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {s4u::LinkInRoute(card, s4u::LinkInRoute::Direction::UP),
                     s4u::LinkInRoute(far_pair)}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(memory), s4u::LinkInRoute(near_pair)});
  }
  zone->seal();
  auto* model = zone->get_network_model();
  model->set_lat_factor_cb([](double size, const s4u::Host* from, const s4u::Host* to,
                              const std::vector<s4u::Link*>&,
                              const std::unordered_set<s4u::NetZone*>&) {
    return at(from == to ? near : away, std::max(size - @ENVELOPE@, 0.0));
  });
  model->set_bw_factor_cb([](double, const s4u::Host*, const s4u::Host*,
                             const std::vector<s4u::Link*>&,
                             const std::unordered_set<s4u::NetZone*>&) { return 1.0; });
}
"""


class Simulated:
    """The machine as SimGrid has it, in a folder."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        folder.mkdir(parents=True)
        source, self.library = folder / "platform.cpp", folder / "platform.so"
        source.write_text(platform(machine), encoding="utf-8")
        words = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", str(source), "-o"]
        done = subprocess.run(
            [*words, str(self.library), "-lsimgrid"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UserError(f"the platform is not compiled: {done.stderr[-2000:]}")
        hosts = [f"node-{rank // machine.ppn}" for rank in range(machine.ranks)]
        (folder / "hosts").write_text("\n".join(hosts) + "\n", encoding="ascii")

    def replay(self, index: Path) -> tuple[float, float, int]:
        """The simulated time, and the processor seconds and bytes that it took here. NaN: no time
        was printed, so some rank did not come to the end of its trace."""
        gap = self.machine.quantities["message_gap"][0] * SLOWER
        words = [
            "smpirun", "-np", str(self.machine.ranks), "-platform", str(self.library),
            "-hostfile", str(self.folder / "hosts"), "-replay", str(index),
            "--log=root.thres:error", "--log=smpi_replay.thres:info",
            "--cfg=smpi/simulate-computation:no", "--cfg=network/crosstraffic:0",
            f"--cfg=smpi/or:0:{gap}:0", f"--cfg=smpi/ois:0:{gap}:0", "--cfg=smpi/os:0:0:0",
            "--cfg=smpi/async-small-thresh:65536", "--cfg=contexts/guard-size:0",
            "--cfg=network/TCP-gamma:0", "--cfg=smpi/init:0", "--cfg=smpi/iprobe:0",
        ]  # fmt: skip
        before = _processor_s()
        text, status = _output(words, self.folder)
        seconds = _processor_s() - before
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        match = _TIME.search(text)
        if not match or status or "eadlock" in text:
            print(text[-1500:], file=sys.stderr)
            return math.nan, seconds, peak
        return float(match[1]) / SLOWER, seconds, peak


def _output(words: Sequence[str], folder: Path) -> tuple[str, int]:
    """Returns the output of a program and its exit status. It ends with the limit."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        start_new_session=True,
    ) as child:  # fmt: skip
        try:
            text, _ = child.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            common.end(child)
            return f"ended after {LONGEST_S} s", 1
        return text, child.returncode


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- rows -------------------------------------------------------------------------------------
def row_of(simulated: Simulated, operation: str, algorithm: str, size: int) -> Row:
    machine = simulated.machine
    steps = list(steps_of(machine, algorithm, operation, size))
    reduction = machine.calibration.quantities["reduction"].value.value * 1e9 * SLOWER
    trace = simulated.folder / "trace"
    index = write_trace(trace, machine.ranks, steps, reduction)
    try:
        time_s, seconds, peak = simulated.replay(index)
    finally:
        shutil.rmtree(trace)
    model_s = cost_of(machine, algorithm, operation, size).seconds[0]
    return Row(machine.ranks, f"{operation}/{algorithm}", size, model_s, time_s, seconds, peak)


def rows(calibration: Calibration, folder: Path, quick: bool) -> Iterator[Row]:
    small = Simulated(Machine(calibration, *SMALL), folder / "small")
    yield row_of(small, "PingPong", "message", 8)
    sizes = (8, 65536) if quick else (8, 1024, 16384, 65536, 1 << 20)
    for name in names_of("Allreduce")[:3] if quick else names_of("Allreduce"):
        for size in sizes:
            yield row_of(small, "Allreduce", name, size)
    if quick:
        return
    for operation in ("Bcast", "Allgather", "Barrier"):
        for name in names_of(operation):
            if (operation, name) not in TOO_MANY:
                yield row_of(small, operation, name, 0 if operation == "Barrier" else 8192)
    large = Simulated(Machine(calibration, *LARGE), folder / "large")
    for operation in OF_MANY:
        for name in names_of(operation):
            if name in LOGARITHMIC:
                yield row_of(large, operation, name, 0 if operation == "Barrier" else 8)


def speed(calibration: Calibration) -> tuple[float, float]:
    """Processor seconds and megabytes of all algorithms on 10 240 ranks, in another process."""
    text = (
        "import time, sys; from pathlib import Path\n"
        "from mpigauge.products.predict.calibration import read_calibration\n"
        "from mpigauge.products.predict.model import Machine\n"
        "from mpigauge.products.predict.prediction import predict\n"
        f"machine = Machine(read_calibration(Path(sys.argv[1])), {LARGE[0]}, {LARGE[1]})\n"
        "start = time.process_time(); predict(machine, 'Allreduce')\n"
        "seconds = time.process_time() - start\n"
        "status = Path('/proc/self/status').read_text().split()\n"
        "print(seconds, int(status[status.index('VmHWM:') + 1]) / 1024)"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".cal", encoding="utf-8") as file:
        file.write(to_text(calibration))
        file.flush()
        words = [sys.executable, "-c", text, file.name]
        out = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), float(out[1])


def most_of(row: Row) -> float:
    """The factor that a row may be off by; infinite: it is printed without a promise, since SimGrid
    has messages in place of shared memory, and no limit to what one rank reads."""
    if row.ranks == LARGE[0] * LARGE[1]:
        return MOST_LARGE
    return math.inf if row.name.endswith("node_flags") else MOST_SMALL


def is_costly(row: Row) -> bool:
    return row.seconds > MOST_REPLAY_S or row.peak_bytes > MOST_REPLAY_GB * 1e9


def line(row: Row) -> str:
    if not row.is_complete:
        return f"{row.ranks:6} {row.name:32} {byte_count(row.message_bytes):>8}  DID NOT COMPLETE"
    mark = "" if row.off <= most_of(row) else "  MISSED"
    return (
        f"{row.ranks:6} {row.name:32} {byte_count(row.message_bytes):>8}  "
        f"model {duration(row.model_s):>9}  SimGrid {duration(row.simgrid_s):>9}  "
        f"{row.ratio:5.2f}  ({row.seconds:.1f} s, {row.peak_bytes / 1e6:.0f} MB){mark}"
    )


def figures_of(every: Sequence[Row], seconds: float, megabytes: float) -> tuple[bool, str]:
    """True if the promise is kept, with the figures."""
    complete = [row for row in every if row.is_complete]
    bounded = [row for row in complete if math.isfinite(most_of(row))]
    missed = [row for row in bounded if row.off > most_of(row)]
    costly = [row for row in complete if row.message_bytes == 8 and is_costly(row)]
    stuck = len(every) - len(complete)
    words = []
    for ranks in sorted({row.ranks for row in bounded}):
        off = [row.off for row in bounded if row.ranks == ranks]
        words.append(f"{ranks} ranks at most {max(off):.2f} in {len(off)} rows")
    words.append(f"{seconds:.2f} s and {megabytes:.0f} MB for 10 240 ranks")
    if missed:
        words.append(f"{len(missed)} rows missed")
    if stuck:
        words.append(f"{stuck} schedules did not complete")
    is_kept = not (missed or stuck or costly) and seconds < MOST_S and megabytes < MOST_MB
    return is_kept, ", ".join(words)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--on", type=Path, metavar="FILE.cal", help=f"[default: {PUBLISHED}]")
    parser.add_argument("--quick", action="store_true", help="few algorithms on 144 ranks")
    given = parser.parse_args()
    try:
        check_simgrid()
        if given.on:
            calibration = read_calibration(given.on)
        else:
            calibration = calibrated([open_run(PUBLISHED)], "published").calibration
        every = []
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(calibration, Path(folder), given.quick):
                every.append(row)
                print(line(row), flush=True)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return common.conclude(*figures_of(every, *speed(calibration)))


if __name__ == "__main__":
    sys.exit(main())
