// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether files can be made where benchmarks on files want them.
#pragma once

#include <string_view>

#include "driver/session.hpp"

namespace mpigauge {

/// Throws UsageError on all ranks when a directory cannot be written on one of the hosts; `option`
/// is what the user calls it.
void check_directories(const Session& session, std::string_view option);

}  // namespace mpigauge
