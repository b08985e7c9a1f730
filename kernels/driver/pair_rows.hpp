// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The rows of all pairs of a round, from the ranks that have them to one record.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/groups.hpp"
#include "driver/cases.hpp"
#include "driver/session.hpp"

namespace mpigauge {

/// Ranks of a job up to which every column of a pair is written, with its samples; beyond, there
/// are its time, the interval and what is wrong with them.
constexpr int most_ranks_in_detail = 256;

/// The row of one pair, as ranks hand it on.
struct PairRow {
  std::int32_t index = -1;  ///< number of the pair in its round; -1: this rank has no row
  std::int32_t first = 0, second = 0;
  std::int32_t holder = 0;  ///< rank of the row's leader among those that gather
  column::Times times;
  double tainted_ratio = 0.0;
  std::uint64_t samples = 0, chunks = 0, wrong = 0;
  std::uint32_t calls = 1, rounds = 1, flags = 0;
  std::int32_t epochs = 1, stop = 0;
};

PairRow pair_row(const Session& session, const Groups& groups, const Measured& measured);

/// The rows that there are, in the order of pairs, on rank 0 of `comm`; all ranks call it.
std::vector<PairRow> gather_rows(const PairRow& mine, MPI_Comm comm);

/// The record of these rows of one case; `raw`: the samples of each as JSON, or nothing.
Object pair_block_of(const Session& session, const Groups& groups, const Job& job,
                     std::span<const PairRow> rows, const std::vector<std::string>& raw);

}  // namespace mpigauge
