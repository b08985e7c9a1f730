// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/trouble.hpp"

#include <algorithm>
#include <array>

#include "core/refused.hpp"

namespace mpigauge::io {

namespace {

constexpr std::size_t most_text = 400;

}  // namespace

void Trouble::note_failure(int code, const char* call_name) {
  note(std::string(call_name) + ": " + MpiError(code).what());
}

void Trouble::note(const std::string& text) {
  if (!any()) text_ = text;
}

// The lowest rank that has trouble speaks for all.
void Trouble::agree(MPI_Comm comm) const {
  const int mine = any() ? rank_in(comm) : size_of(comm);
  int speaker = 0;
  call(MPI_Allreduce(&mine, &speaker, 1, MPI_INT, MPI_MIN, comm));
  if (speaker == size_of(comm)) return;
  std::array<char, most_text> text{};
  std::copy_n(text_.begin(), std::min(text_.size(), most_text - 1), text.begin());
  call(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, speaker, comm));
  throw Refused("rank " + std::to_string(speaker) + " could not: " + text.data());
}

}  // namespace mpigauge::io
