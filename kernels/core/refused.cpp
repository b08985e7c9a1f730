// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/refused.hpp"

#include <algorithm>
#include <array>

namespace mpigauge {

namespace {

constexpr std::size_t most_text = 500;

}  // namespace

std::string first_text(const std::string& mine, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const int candidate = mine.empty() ? ranks : rank_in(comm);
  int speaker = ranks;
  call(MPI_Allreduce(&candidate, &speaker, 1, MPI_INT, MPI_MIN, comm));
  if (speaker == ranks) return "";
  std::array<char, most_text> text{};
  std::copy_n(mine.begin(), std::min(mine.size(), most_text - 1), text.begin());
  call(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, speaker, comm));
  return text.data();
}

}  // namespace mpigauge
