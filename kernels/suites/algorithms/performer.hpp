// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Performs the program of a rank: its messages, and what is copied and reduced between them.
#pragma once

#include <vector>

#include "suites/algorithms/program.hpp"
#include "suites/algorithms/shared_steps.hpp"
#include "suites/collectives/collective.hpp"

namespace mpigauge::schedules {

/// Programs of a rank for all roots that it has calls with, and the memory that they need.
class Performer {
 public:
  /// `programs`: by their roots; those of other roots are empty.
  explicit Performer(const std::vector<Program>& programs);
  void share(SharedSteps shared) { shared_ = std::move(shared); }
  /// Makes a call.
  void perform(const Args& args);

 private:
  void perform(const Round& round, const Args& args);
  void exchange(const Round& round, const Args& args);
  void take(const Read& read, const Args& args);
  void copy(const std::vector<Copy>& copies) const;
  [[nodiscard]] std::byte* at(const Place& place) const {
    return base_[static_cast<std::size_t>(place.space)] + place.at;
  }

  const std::vector<Program>& programs_;
  std::vector<std::byte> vector_, stage_;
  std::vector<MPI_Request> requests_;
  std::array<std::byte*, space_count> base_{};
  SharedSteps shared_;
};

}  // namespace mpigauge::schedules
