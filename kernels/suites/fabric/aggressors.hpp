// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What aggressors do, again and again, until they are told to stop.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/mpi.hpp"
#include "suites/fabric/beside.hpp"

namespace mpigauge::fabric {

/// Doublings between the smallest messages of a load and the largest.
inline constexpr unsigned most_halvings = 8;

/// One kind of load on the network between the ranks of a communicator.
class Load {
 public:
  Load() = default;
  virtual ~Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  /// Does it once, with messages that are halved so often; all ranks together.
  virtual void once(unsigned halvings) = 0;
  /// What all ranks together send each time.
  [[nodiscard]] virtual double bytes(unsigned /*halvings*/) const { return 0; }
};
std::unique_ptr<Load> load_of(Aggression aggression, MPI_Comm comm);

/// How large the messages of a load are, on the rank that decides: they double until they fill the
/// network, so that a call takes no longer than it has to.
class LoadSize {
 public:
  /// A call with messages of this size took so long.
  void take(double seconds);
  [[nodiscard]] unsigned halvings() const { return halvings_; }
  [[nodiscard]] bool is_settled() const { return settled_; }

 private:
  unsigned halvings_ = most_halvings, calls_ = 0;
  bool settled_ = false;
  double shortest_s_ = std::numeric_limits<double>::infinity();
  double of_half_s_ = 0.0;  ///< the same of messages half as long
};

}  // namespace mpigauge::fabric
