// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Facts of a GPU beside its memory: its PCIe link, from sysfs; clocks and limits, from NVML.
#pragma once

#include <limits>
#include <string>

namespace mpigauge::gpu {

/// The connection of a GPU to its host; texts are empty where sysfs has nothing.
struct Link {
  int numa = -1;        ///< NUMA node to which it is attached; -1: unknown
  std::string now;      ///< 32.0 GT/s x16
  std::string fastest;  ///< that it and its slot support
};
/// `root`: a folder in place of /, for tests.
Link link_of(const std::string& bus, const std::string& root = "");

/// Clocks and limits; NaN and empty where NVML is missing.
struct State {
  double clock_hz = std::numeric_limits<double>::quiet_NaN();
  double clock_max_hz = std::numeric_limits<double>::quiet_NaN();
  std::string throttle;  ///< power, thermal, hardware, with commas between
  double power_w = std::numeric_limits<double>::quiet_NaN();
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
  unsigned processes = 0;  ///< that use it
  bool mig = false;        ///< whether it is divided
};
State state_of(const std::string& bus);

/// Whether an MPS server runs, through which processes share GPUs.
bool has_mps();

/// Words for bits of NVML's reasons to hold the clock down; idleness and settings are none.
std::string throttle_words(unsigned long long reasons);

}  // namespace mpigauge::gpu
