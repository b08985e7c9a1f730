#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does `mpigauge predict` give the times of collectives where links between hosts are the limit?

Hosts are network namespaces with two ranks each, on links that a token bucket limits (root, ip and
tc). A calibration is measured between two of them; all algorithms of suite ALG are then measured on
all hosts, and predicted. Rows in which the two cores are the bottleneck are printed without a
bound: those of smaller messages, and those within a host.

Exit status: 0 the typical factor is within the promise, 1 it is not, 2 no hosts can be made here.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import common

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count, duration
from mpigauge.products.predict.calibrating import calibrated
from mpigauge.products.predict.calibration import Calibration, to_text
from mpigauge.products.predict.model import LATENCY, Machine
from mpigauge.products.predict.prediction import cost_of
from mpigauge.products.predict.validating import Compared, typical_factor, validated
from mpigauge.runs.store import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.e2e.cluster import Cluster, cluster, why_not

PROMISE = "a typical factor of at most 1.3 from 64 KiB on, where links of 100 Mbit/s limit"
MOST = 1.3
LEAST_BYTES = 65536
RATE, BURST = "100mbit", "16kb"
"""A larger burst would let a message of its size pass unlimited after a pause."""
PPN = 2
SIZES = "1Ki,64Ki,256Ki"


def measured(hosts: Cluster, where: Path, *words: str) -> Path:
    """The folder of a run that is started on the first host. UserError: it fails."""
    done = hosts.mpigauge(*words, cwd=where)
    if done.returncode:
        raise UserError(f"mpigauge {' '.join(words)}: {(done.stderr or done.stdout)[-2000:]}")
    return where / words[words.index("--output") + 1]


def run(given: argparse.Namespace, hosts: Cluster, where: Path) -> list[Compared]:
    every = ["--rsh", f"{hosts.agent} -p 50000", "--mpi", given.mpi, "--oversubscribe"]
    if "openmpi" in given.mpi:
        every += ["--set", "mpi_yield_when_idle=1"]
    two, all_hosts = "node[01-02]", f"node[01-{given.hosts:02}]"
    short = ["--launches", "1", "--time", given.time]
    runs = [
        measured(hosts, where, "run", "PingPong", "Uniband", "--hosts", two, "--place", "hosts",
                 "--sizes", "0,8,1Ki,4Ki,16Ki,64Ki,256Ki,1Mi", *short, *every, "--output", "net"),
        measured(hosts, where, "run", "PingPong", "--hosts", "node01", "--ppn", "2", "--np", "2",
                 "--sizes", "0,8,1Ki,16Ki,64Ki,256Ki,1Mi", *short, *every, "--output", "node"),
        measured(hosts, where, "run", "Biband", "--hosts", two, "--ppn", str(PPN), "--inflight",
                 "4", "--sizes", "64Ki,256Ki", *short, *every, "--output", "card"),
        measured(hosts, where, "run", "Reduce_local", "--hosts", "node01", "--np", "1", *short,
                 *every, "--output", "reduce"),
    ]  # fmt: skip
    made = calibrated([load(folder) for folder in runs], "links").calibration
    print(to_text(made))
    words = ["run", "ALG", "--hosts", all_hosts, "--ppn", str(PPN), "--sizes", SIZES]
    words += ["--launches", "1", "--time", given.collectives_time, *every, "--output", "alg"]
    result = validated(made, load(measured(hosts, where, *words)))
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
    parser.add_argument("--mpi", default="openmpi", help="(openmpi)")
    parser.add_argument("--quick", action="store_true", help="2 hosts, a few seconds each")
    given = parser.parse_args()
    given.time, given.collectives_time = ("5s", "20s") if given.quick else ("20s", "240s")
    given.hosts = 2 if given.quick else given.hosts
    if reason := why_not():
        print(reason, file=sys.stderr)
        return 2
    os.environ["NETNS_CLUSTER_BURST"] = BURST
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            cluster(Path(folder), given.hosts, "--rate", RATE) as hosts,
        ):
            rows = run(given, hosts, Path(folder))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    typical = typical_factor(each.ratio for each in rows)
    worst = max(max(each.ratio, 1 / each.ratio) for each in rows)
    figures = f"typical {typical:.2f}, worst {worst:.2f} in {len(rows)} rows on {given.hosts} hosts"
    return common.conclude(typical <= MOST, figures)


if __name__ == "__main__":
    sys.exit(main())
