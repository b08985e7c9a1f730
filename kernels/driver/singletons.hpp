// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The trap of an MPI library under the launcher of another MPI.
#pragma once

#include <string>
#include <string_view>

namespace mpigauge {

/// What is wrong when the launcher started `started` ranks and the library's world has `ranks`;
/// empty when nothing is.
std::string why_alone(int ranks, int started, const std::string& library);

/// Throws UsageError when every rank is a job of its own although the launcher started several:
/// each would measure itself, and all would write at once. To be called after MPI_Init.
void refuse_singletons(int ranks);

/// Whether this process speaks for all: rank 0 of the job as the launcher counts, so that
/// singletons do not all say the same.
bool speaks_for_all();
/// Prints what is wrong on the rank that speaks for all. Others wait a moment, since some launchers
/// end the whole job with the first rank that fails, before that one has spoken.
void complain_once(std::string_view program, std::string_view what);

}  // namespace mpigauge
