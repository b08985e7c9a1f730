// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/singletons.hpp"

#include "core/library.hpp"
#include "driver/options.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

std::string why_alone(int ranks, int started, const std::string& library) {
  if (ranks != 1 || started < 2) return "";
  return "the launcher started " + std::to_string(started) +
         " ranks, but in this MPI library each is alone: it belongs to another launcher (" +
         library.substr(0, library.find('\n')) +
         "); start with the mpirun of that MPI, or open the library of this one";
}

void refuse_singletons(int ranks) {
  const std::string reason =
      why_alone(ranks, platform::launcher_size().value_or(1), library_text());
  if (!reason.empty()) throw UsageError(reason);
}

bool speaks_for_all() { return platform::launcher_rank().value_or(0) == 0; }

}  // namespace mpigauge
