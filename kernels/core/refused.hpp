// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#pragma once

#include <stdexcept>
#include <string>

#include "core/mpi.hpp"

namespace mpigauge {

/// A case cannot be run here, which came out only while it ran (the disk is full, the file system
/// has no locks). A benchmark throws it on all ranks of its group or on none, having freed what it
/// held; the case is skipped with this text as the reason. Only for cards with
/// `on_files` or `may_refuse`.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text of the lowest rank that has one, cut to a line's length, on all ranks of the
/// communicator; empty where none has.
std::string first_text(const std::string& mine, MPI_Comm comm);

}  // namespace mpigauge
