// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the threads of this process have run, whoever made them.
#pragma once

#include <map>

#include "core/card.hpp"

namespace mpigauge::node {

struct Effort {
  std::map<int, double> cpu_s;  ///< by thread
  double wall_s = 0;

  /// Since the process began.
  static Effort so_far();
  /// Adds what was done since then.
  void add_since(const Effort& before);
  [[nodiscard]] BusyWith busy() const;
};

}  // namespace mpigauge::node
