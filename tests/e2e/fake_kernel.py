#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stands for a launcher with the kernels below it: writes records as they do, without any MPI.

It takes Hydra's words (-n N -hosts a:2,b:2 -genv NAME VALUE program words...). The variable FAKE
says how it misbehaves; FAKE_LAUNCHES=0,2 limits that to some launches:

    crash           ends in the middle of the measurement with a segmentation fault
    hang            writes some progress and falls silent
    abort           ends before the first record, as an MPI that aborts in MPI_Init
    stumble         ends as a launcher that lost a race with itself, the first time
    garbage         writes lines between the records that are none
    lossy           says at the end that there was one record more
    wrong           counts wrong data
    singletons      says that the job has one rank
    misbound        says that a rank may run elsewhere
    deaf            does not look for the stop file, and ignores SIGTERM
    prefixed        writes [0] before each line, as some launchers do
    slow            measures until it is told to stop
    tells           tells its transport as MPICH does, where it is asked to
    nothing         leaves every cell out, for want of memory
    late            writes its first record a second after its start
    mute            never writes one
    rough           has times of 8 B that scatter by 2 % from launch to launch

FAKE_FACTOR makes all times so many times as long.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

TICKS = (1000, 1010, 990, 1005, 1001, 1002)
HZ = 1e9
ROUGH_BYTES, ROUGHNESS = 8, 0.02


class Kernel:
    def __init__(self, seats: list[tuple[str, int]], words: list[str]) -> None:
        self.seats = seats
        self.options = dict(zip(words[::2], words[1::2], strict=True))
        self.launch = int(self.options["--launch"])
        self.records = 0
        self.fault = os.environ.get("FAKE", "") if self.is_meant() else ""

    def is_meant(self) -> bool:
        chosen = os.environ.get("FAKE_LAUNCHES", "")
        return not chosen or str(self.launch) in chosen.split(",")

    def was_here(self) -> bool:
        """Whether this launch was started before."""
        mark = Path(self.options["--stop-file"]).parents[1] / f"stumbled-{self.launch}"
        was = mark.exists()
        mark.touch()
        return was

    def write(self, kind: str, **fields: Any) -> None:
        prefix = "[0] " if self.fault == "prefixed" else ""
        line = json.dumps({"record": kind, "launch": self.launch} | fields, separators=(",", ":"))
        print(prefix + line, flush=True)
        self.records += kind != "progress"

    def go(self) -> int:
        if self.fault == "abort":
            print("Fatal error in internal_Init: no network", file=sys.stderr)
            return 15
        if self.fault == "stumble" and not self.was_here():
            print("The PMIx server's listener thread failed to start. We cannot", file=sys.stderr)
            return 213
        if self.fault == "tells" and os.environ.get("MPIR_CVAR_DEBUG_SUMMARY"):
            print("libfabric provider: tcp - 10.0.0.0/24")
        self.head()
        for number, (name, size) in enumerate(self.cells()):
            if self.fault == "nothing":
                key = {"suite": "MPI1", "benchmark": name, "message_bytes": size}
                self.write("skip", key=key, reason="not enough memory")
                continue
            self.progress(name, size)
            self.misbehave(number)
            if self.stop_wanted():
                return self.end("interrupted")
            self.cell(name, size)
        return self.end("done")

    def misbehave(self, number: int) -> None:
        if self.fault == "garbage":
            print('{"record":"cell","launch":0,"half":', "\x00\xff", sep="\n")
            print("libfabric:123:core:mr: a warning")
        if self.fault == "crash" and number == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.fault in ("hang", "deaf") and number == 1:
            time.sleep(600)
        while self.fault == "slow" and number == 1 and not self.stop_wanted():
            time.sleep(0.05)

    def stop_wanted(self) -> bool:
        return self.fault != "deaf" and Path(self.options["--stop-file"]).exists()

    def cells(self) -> list[tuple[str, int]]:
        names = self.options["--benchmarks"].split(",")
        sizes = [int(size) for size in self.options.get("--sizes", "0,8,1024").split(",")]
        return [(name, size) for name in names for size in sizes]

    def head(self) -> None:
        self.write(
            "launch",
            schema=1,
            time="2026-11-21T05:00:00Z",
            mpi_library="Fake MPI 1.0",
            mpi_standard="4.1",
            abi="mpich",
            world_ranks=1 if self.fault == "singletons" else len(self.seats),
            mode=self.options["--mode"],
            precision=float(self.options["--precision"]),
            seed=int(self.options["--seed"]),
            thread_level="single",
            clock={"name": "fake", "hz": HZ, "cost_s": 1e-8, "step_s": 1e-9},
        )
        bind = self.options.get("--bind", "").split(",")
        for rank, (host, local_rank) in enumerate(self.seats):
            cpuset = bind[local_rank] if local_rank < len(bind) else ""
            self.write(
                "rank",
                rank=rank,
                host=host,
                pid=os.getpid(),
                local_rank=local_rank,
                wanted_cpuset=cpuset,
                cpuset="0-9" if self.fault == "misbound" else cpuset or "0-9",
                cpu=0,
                numa=0,
            )

    def key(self, name: str, size: int) -> dict[str, Any]:
        return {
            "suite": "MPI1", "benchmark": name, "ranks": 2, "groups": 1, "group": -1,
            "message_bytes": size, "datatype": "byte", "op": "", "cache": "hot", "data": "static",
            "sync": "none", "root_shift": False, "inflight": 1,
            "mode": self.options["--mode"], "memory": "host", "origin": "measured",
        }  # fmt: skip

    def time_s(self, size: int) -> float:
        """A little different in each launch, as real ones are."""
        factor = float(os.environ.get("FAKE_FACTOR", "1"))
        if self.fault == "rough" and size == ROUGH_BYTES:
            factor *= 1 + ROUGHNESS * (self.launch % 3 - 1)
        return factor * 1e-6 * (1 + size / 1000) * (1 + 0.001 * (self.launch % 5))

    def progress(self, name: str, size: int) -> None:
        value = self.time_s(size)
        self.write(
            "progress",
            key=self.key(name, size),
            time_p50_s=value,
            ci_low_s=value * 0.9,
            ci_high_s=value * 1.1,
            time_scale=0.5,
            moved_bytes=size,
            messages=1,
            samples=60,
            rounds=3,
        )

    def cell(self, name: str, size: int) -> None:
        value = self.time_s(size)
        times = (
            "time_p50_s", "time_min_s", "time_avg_s", "time_max_s", "time_mean_s", "time_best_s",
            "time_p01_s", "time_p99_s", "time_worst_s", "time_first_s",
        )  # fmt: skip
        ticks = base64.b64encode(struct.pack("<18I", *(3 * TICKS))).decode()
        chunks = [{"round": r, "taint": 0, "n": 1} for r in range(1, 1 + len(TICKS))]
        effort = {"calls": 1, "samples": 6, "chunks": 6, "rounds": 6, "epochs": 2}
        verdict = {"stop": "precise", "tainted_ratio": 0.0, "flags": [], "check": "exact"}
        facts = {"time_scale": 0.5, "moved_bytes": size, "messages": 1, "sync_error_s": 0.0}
        ends = {"ci_low_s": value * 0.99, "ci_high_s": value * 1.01}
        wrong = {"wrong_count": 3 if self.fault == "wrong" and size else 0}
        raw = {"hz": HZ, "scheme": "max,min,avg", "chunks": chunks, "ticks": ticks}
        known = effort | verdict | facts | ends | wrong | dict.fromkeys(times, value)
        self.write("cell", **self.key(name, size), **known, raw=raw)

    def end(self, stopped: str) -> int:
        wrong = 3 if self.fault == "wrong" else 0
        effort = {"seconds": 0.02, "measuring_s": 0.01, "cells": len(self.cells())}
        effort["records"] = self.records + (self.fault == "lossy")
        self.write("end", stopped=stopped, wrong_count=wrong, **effort)
        return 1 if wrong else 0


def seats(words: list[str]) -> list[tuple[str, int]]:
    """The host of each rank, and its number there."""
    ranks = int(words[words.index("-n") + 1])
    if "-hosts" not in words:
        return [("fake", rank) for rank in range(ranks)]
    hosts = [each.split(":") for each in words[words.index("-hosts") + 1].split(",")]
    return [(name, rank) for name, count in hosts for rank in range(int(count))]


def main(words: list[str]) -> int:
    if words == ["--version"]:
        print("HYDRA build details:")
        return 0
    where = seats(words)
    while "-genv" in words:
        at = words.index("-genv")
        os.environ[words[at + 1]] = words[at + 2]
        del words[at : at + 3]
    if os.environ.get("FAKE") == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.environ.get("FAKE") in ("late", "mute"):
        time.sleep(1 if os.environ["FAKE"] == "late" else 3600)
    return Kernel(where, words[words.index("--benchmarks") :]).go()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
