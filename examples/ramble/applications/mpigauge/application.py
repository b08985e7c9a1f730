# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge as an application of Ramble: measures MPI, and checks it against limits.

    ramble repo add examples/ramble

mpigauge starts the ranks itself, on the hosts of the batch job or on this machine: so its
executables are told not to use MPI. `mpigauge` has to be on PATH.
"""

from ramble.appkit import *


class Mpigauge(ExecutableApplication):
    """Measures how MPI ranks talk, with an interval for every number, and accepts the machine."""

    name = "mpigauge"
    tags("synthetic-benchmarks")

    executable(
        "measure",
        "mpigauge run {benchmarks} --sizes {sizes} {options} --output {experiment_run_dir}/run",
        use_mpi=False,
    )
    executable(
        "check",
        "mpigauge check {experiment_run_dir}/run --against {limits} --again",
        use_mpi=False,
    )

    workload("measure", executables=["measure"])
    workload("accept", executables=["measure", "check"])

    both = ["measure", "accept"]
    workload_variable(
        "benchmarks",
        default="PingPong",
        description="As `mpigauge benchmarks` has them",
        workloads=both,
    )
    workload_variable(
        "sizes", default="0,8,64Ki", description="Message sizes: 0,1..4Mi", workloads=both
    )
    workload_variable(
        "options", default="", description="More options of `mpigauge run`", workloads=both
    )
    workload_variable(
        "limits",
        default="limits.toml",
        description="File of limits, or another run",
        workloads=["accept"],
    )

    figure_of_merit(
        "latency",
        fom_regex=r"latency, \d+ B\s+(?P<latency>[0-9.]+) µs",
        group_name="latency",
        units="us",
    )
    figure_of_merit(
        "peak bandwidth",
        fom_regex=r"peak bandwidth\s+(?P<bandwidth>[0-9.]+) MB/s",
        group_name="bandwidth",
        units="MB/s",
    )
    figure_of_merit(
        "acceptance",
        fom_regex=r"^(?P<outcome>PASS|FAIL|UNDECIDED): \d+ ",
        group_name="outcome",
        units="",
    )

    success_criteria("measured", mode="string", match=r".* · \d+ launch")
    success_criteria("accepted", mode="string", anti_match=r"^(FAIL|UNDECIDED): \d+ ")
