// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#pragma once

#include <stdexcept>

namespace mpigauge {

/// A case cannot be run here, which came out only while it ran (the disk is full, the file system
/// has no locks). A benchmark throws it on all ranks of its group or on none, having freed what it
/// held; the case is skipped with this text as the reason.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mpigauge
