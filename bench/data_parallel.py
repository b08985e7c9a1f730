# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program that tuned_program.py tunes: gradient descent, with gradients summed over all ranks.

usage: data_parallel.py WEIGHTS STEPS
"""

import importlib
import sys

import numpy as np

EXAMPLES = 8
RATE = 1e-6


def main() -> None:
    weights, steps = map(int, sys.argv[1:])
    importlib.import_module("mpi4py").rc.thread_level = "single"
    world = importlib.import_module("mpi4py.MPI").COMM_WORLD
    random = np.random.default_rng(world.rank)
    examples = random.standard_normal((EXAMPLES, weights)).astype("f")
    targets = examples.sum(axis=1)
    model = np.zeros(weights, "f")
    gradient = np.empty(weights, "f")
    for _ in range(steps):
        error = examples @ model - targets
        world.Allreduce(error @ examples / EXAMPLES, gradient)
        model -= RATE * gradient
    if world.rank == 0:
        print(f"{weights} weights, {steps} steps, norm {np.linalg.norm(model):.4f}")


if __name__ == "__main__":
    main()
