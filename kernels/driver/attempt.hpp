// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calling a benchmark that may find out only then that it cannot be run here.
#pragma once

#include <string>

#include "driver/cases.hpp"

namespace mpigauge {

/// Calls the function of a job. Says why it cannot be run, the same on all ranks of `active`; empty
/// when it ran on all of them.
std::string attempt(const Job& job, Run& run, MPI_Comm active);

/// The same of a rank that only hears what became of it on others.
std::string attempt_of_others(const Job& job, MPI_Comm active);

/// What the ranks of a row remark, on rank 0 of them; only benchmarks on files ever do.
unsigned remarks_of_all(const Job& job, const Outcome& mine, MPI_Comm row_comm);

}  // namespace mpigauge
