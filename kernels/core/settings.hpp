// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a user can set that only some suites look at; the same for all cases of a launch.
#pragma once

#include <string>
#include <vector>

namespace mpigauge {

struct Settings {
  std::vector<std::string> directories{"."};  ///< where benchmarks on files have them, each a case
  int threads = 1;                            ///< of a rank, for benchmarks with threads
};
inline const Settings default_settings{};

}  // namespace mpigauge
