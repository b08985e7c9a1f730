// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The command line of IMB-P2P, and its arithmetic of repetitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/options.hpp"
#include "imb/program.hpp"
#include "imb/rows.hpp"

namespace mpigauge::imb {

struct P2pSettings {
  Options options;
  std::int64_t most = 100000;
  std::int64_t volume_mib = 800;
  std::vector<std::size_t> sizes;
  bool sizes_listed = false;
  std::int64_t pause_us = 100000;
  bool lenient = false;
  Chosen chosen;
};

/// Throws UsageError.
P2pSettings read_p2p_settings(const Words& words);
/// Of a row.
std::int64_t p2p_repetitions(const P2pSettings& settings, std::size_t bytes);

}  // namespace mpigauge::imb
