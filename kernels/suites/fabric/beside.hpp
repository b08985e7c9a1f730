// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Victims beside aggressors: some hosts, drawn from the seed, communicate as long as the others are
// measured.
#pragma once

#include <array>

#include "suites/fabric/hosts.hpp"

namespace mpigauge::fabric {

/// The fewest hosts that can be divided: two of each kind.
inline constexpr int least_hosts = 4;

/// What aggressors do.
enum class Aggression { none, sleep, alltoall, incast, put, bcast, allreduce };
inline constexpr std::array all_aggressions{
    Aggression::none, Aggression::sleep, Aggression::alltoall, Aggression::incast,
    Aggression::put,  Aggression::bcast, Aggression::allreduce};

/// Hosts of aggressors among so many, where they have this share in percent: at least two, and two
/// are left.
int aggressor_hosts(int hosts, int percent);

/// The victims of a visit, in the order in which their hosts were drawn.
struct Victims {
  Hosts hosts;
  int host = 0;  ///< place of this one among them
  int lane = 0;
};
using Victim = void (*)(Run&, const Victims&);

/// Measures the victims while the aggressors do their work.
void beside(Run& run, Aggression aggression, Victim victim);

}  // namespace mpigauge::fabric
