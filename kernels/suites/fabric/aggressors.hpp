// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What aggressors do, again and again, until they are told to stop.
#pragma once

#include <memory>

#include "core/mpi.hpp"
#include "suites/fabric/beside.hpp"

namespace mpigauge::fabric {

/// One kind of load on the network between the ranks of a communicator.
class Load {
 public:
  Load() = default;
  virtual ~Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  /// Does it once; all ranks together.
  virtual void once() = 0;
  /// What all ranks together send each time.
  [[nodiscard]] virtual double bytes() const { return 0; }
};
std::unique_ptr<Load> load_of(Aggression aggression, MPI_Comm comm);

}  // namespace mpigauge::fabric
