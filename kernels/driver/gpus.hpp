// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The GPUs of a launch: selected before MPI starts, then described in records.
#pragma once

#include "driver/session.hpp"
#include "record/records.hpp"

namespace mpigauge {

/// Opens the driver and selects the GPU of this rank, if any buffer needs one; before MPI starts.
/// Throws UsageError.
void select_gpu(const Options& options);
/// Counts the ranks on each GPU; all ranks of the world together.
void count_ranks_on_gpus(Session& session);

/// The GPU of this rank, for its record; empty where it uses none.
records::Gpu gpu_record(const Session& session);
/// Version of CUDA that the driver supports; empty where none is open.
std::string cuda_version();
/// Support of GPUs that the MPI library claims; empty if no driver is open.
std::string gpu_claims();
/// Writes clocks and limits of each GPU that is in use, `when`: before or after.
void write_gpu_states(const Session& session, const char* when);

}  // namespace mpigauge
