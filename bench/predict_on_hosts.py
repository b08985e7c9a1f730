#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does `mpigauge predict` give the times of collectives where links between hosts are the limit?

Hosts are network namespaces with two ranks each, on links that a token bucket limits (root, ip and
tc). `mpigauge calibrate --measure` calibrates two of them; all algorithms of suite ALG are then
measured on all hosts, and predicted. Links lose nothing and hold back nothing for long, as those of
clusters: the bucket is small, the queue behind it long, and TCP keeps its window. Waiting ranks
sleep, since they share two cores. Rows in which these are the bottleneck are printed without a
bound: those of smaller messages.

Exit status: 0 the typical factor is within the promise, 1 it is not, 2 no hosts can be made here.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import common

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count, duration
from mpigauge.products.predict.calibration import Calibration, read_calibration
from mpigauge.products.predict.model import LATENCY, Machine
from mpigauge.products.predict.prediction import cost_of
from mpigauge.products.predict.validating import Compared, typical_factor, validated
from mpigauge.runs.store import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import patience
from tests.e2e.cluster import Cluster, cluster, why_not
from tests.hermetic import YIELDING

PROMISE = "a typical factor of at most 1.3 from 64 KiB on, where links of 100 Mbit/s limit"
MOST = 1.3
LEAST_BYTES = 65536
BURST, QUEUE = "3kb", "1s"
"""A larger burst would let a message of its size pass unlimited after a pause; a shorter queue
would lose packets where several hosts send to one."""
TCP = {"tcp_congestion_control": "reno", "tcp_slow_start_after_idle": "0"}
"""Every system has reno. BBR, the default of some, paces by guesses of a rate that is fixed."""
PPN = 2
SIZES = "1Ki,64Ki,256Ki"


@contextmanager
def limited_hosts(folder: Path, count: int, rate: str) -> Iterator[Cluster]:
    os.environ |= {"NETNS_CLUSTER_BURST": BURST, **YIELDING}
    with cluster(folder, count, "--rate", rate, "--queue", QUEUE) as hosts:
        for number in range(1, count + 1):
            for name, value in TCP.items():
                words = f"echo {value} > /proc/sys/net/ipv4/{name}"
                done = hosts.script("exec", f"node{number:02}", "--", "sh", "-c", words)
                if done.returncode:
                    raise UserError(f"{name} is not set to {value}: {done.stderr.strip()}")
        yield hosts


MOST_S = 900.0
"""The longest run on hosts."""


def started(hosts: Cluster, where: Path, *words: str) -> None:
    """Runs mpigauge on the first host. UserError: it fails."""
    env = {**os.environ, **hosts.env}
    done = patience.run(hosts.words("node01", *words), cwd=where, env=env, seconds=MOST_S)
    if done.returncode:
        raise UserError(f"mpigauge {' '.join(words)}: {(done.stderr or done.stdout)[-2000:]}")


def run(given: argparse.Namespace, hosts: Cluster, where: Path) -> list[Compared]:
    every = ["--rsh", f"{hosts.agent} -p 50000", "--mpi", given.mpi, "--oversubscribe"]
    every += ["--ppn", str(PPN), "--hosts"]
    calibrating = ["calibrate", "--measure", "--time", given.time, "-o", "links.cal"]
    started(hosts, where, *calibrating, *every, "node[01-02]")
    made = read_calibration(where / "links.cal")
    print((where / "links.cal").read_text(encoding="utf-8"))
    words = ["run", "ALG", "--ranks", str(PPN * given.hosts), "--sizes", SIZES, "--launches", "1"]
    words += ["--time", given.collectives_time, "--output", "alg"]
    started(hosts, where, *words, *every, f"node[01-{given.hosts:02}]")
    result = validated(made, load(where / "alg"))
    for each in result.compared:
        print(line(made, each), flush=True)
    return [each for each in result.compared if is_bounded(made, each)]


def is_bounded(calibration: Calibration, each: Compared) -> bool:
    """True if links limit it: it is large, and its prediction is limited by no latency."""
    return each.message_bytes >= LEAST_BYTES and limit_of(calibration, each) != LATENCY


def limit_of(calibration: Calibration, each: Compared) -> str:
    machine = Machine(calibration, each.nodes, each.ranks // each.nodes)
    return cost_of(machine, each.algorithm, each.collective, each.message_bytes).limit


def line(calibration: Calibration, each: Compared) -> str:
    mark = "" if is_bounded(calibration, each) else "  (no bound)"
    return (
        f"{each.collective + '/' + each.algorithm:32} {byte_count(each.message_bytes):>8}  "
        f"predicted {duration(each.predicted_s):>9}  measured {duration(each.measured_s):>9}  "
        f"{each.ratio:5.2f}  {limit_of(calibration, each)}{mark}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=4, metavar="N", help="2 to 8 (4)")
    parser.add_argument("--mpi", default="mpich", help="(mpich)")
    parser.add_argument("--rate", default="100mbit", help="of each link, each way (100mbit)")
    parser.add_argument("--quick", action="store_true", help="2 hosts, a few seconds each")
    given = parser.parse_args()
    given.time, given.collectives_time = ("10s", "20s") if given.quick else ("60s", "150s")
    given.hosts = 2 if given.quick else given.hosts
    if reason := why_not():
        print(reason, file=sys.stderr)
        return 2
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            limited_hosts(Path(folder), given.hosts, given.rate) as hosts,
        ):
            rows = run(given, hosts, Path(folder))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if not rows:
        print("no row is limited by links; measure for longer", file=sys.stderr)
        return 2
    typical = typical_factor(each.ratio for each in rows)
    worst = max(max(each.ratio, 1 / each.ratio) for each in rows)
    figures = f"typical {typical:.2f}, worst {worst:.2f} in {len(rows)} rows on {given.hosts} hosts"
    return common.conclude(typical <= MOST, figures)


if __name__ == "__main__":
    sys.exit(main())
