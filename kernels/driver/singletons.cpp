// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/singletons.hpp"

#include <cstdio>
#include <string>

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

void complain_once(std::string_view program, std::string_view what) {
  constexpr double moment_s = 0.5;
  if (!speaks_for_all()) return platform::sleep_s(moment_s);
  const std::string line = std::string(program) + ": " + std::string(what) + '\n';
  std::fputs(line.c_str(), stderr);
}

}  // namespace mpigauge
