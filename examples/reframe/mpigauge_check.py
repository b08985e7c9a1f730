# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures MPI with mpigauge and accepts the system by src/limits.toml (ReFrame 4).

    reframe -c examples/reframe -r -S mpi=mpich

mpigauge starts the ranks itself: by the MPI's own launcher on the hosts of the batch job that
ReFrame has begun, or on this machine. So ReFrame starts one process only.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class MpigaugeCheck(rfm.RunOnlyRegressionTest):
    """Passes when `mpigauge check` says PASS of every limit; its numbers go to the perflog."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "mpigauge"
    keep_files = ["run", "check.json", "check.xml"]

    benchmarks = variable(str, value="PingPong")
    sizes = variable(str, value="0,8,64Ki")
    mpi = variable(str, value="")
    limits = variable(str, value="limits.toml")

    @run_before("run")
    def measure(self):
        self.job.launcher = getlauncher("local")()
        which = ["--mpi", self.mpi] if self.mpi else []
        self.executable_opts = ["run", self.benchmarks, "--sizes", self.sizes, *which,
                                "--output", "run"]  # fmt: skip
        against = f"--against {self.limits} --again --junit check.xml"
        self.postrun_cmds = [f"mpigauge check run {against} --format json > check.json"]

    @sanity_function
    def accepted(self):
        found = self.found()
        bad = [f"{line['outcome']} {line['name']} {line['what']}: {line['why']}"
               for line in found["lines"] if line["outcome"] != "PASS"]  # fmt: skip
        return sn.assert_eq(found["outcome"], "PASS", msg="; ".join(bad))

    @run_before("performance")
    def take_numbers(self):
        for line in self.found()["lines"]:
            if line["value"] is not None:
                name = f"{line['name']} {line['what']}"
                value = sn.defer(line["value"])
                self.perf_variables[name] = sn.make_performance_function(value, line["unit"])

    def found(self):
        """What `mpigauge check` said; nothing, where it could not even begin."""
        try:
            return json.loads(Path(self.stagedir, "check.json").read_text())
        except (OSError, ValueError):
            return {"outcome": "nothing was checked, see the output", "lines": []}
