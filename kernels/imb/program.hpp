// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The programs that one executable can be, chosen by the name that it is called as.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpigauge::imb {

using Words = std::vector<std::string>;

/// One of IMB's programs.
struct Program {
  std::string_view name;   ///< that it is called as
  std::string_view suite;  ///< of the registry
  std::string_view title;  ///< how the banner calls it
  /// Everything from the command line on; returns the exit status. What it throws as UsageError
  /// before MPI_Init becomes one line of one rank and exit status 2.
  int (*run)(const Program& program, const Words& words) = nullptr;
  bool on_gpu = false;  ///< buffers are on a GPU, unless an option names other memory
};

/// Adds a program from its own file.
struct AddProgram {
  explicit AddProgram(const Program& program);
};

/// All programs, by name.
const std::vector<Program>& programs();
/// The program of the last part of a path, in any spelling of upper and lower case; null where
/// there is none.
const Program* find_program(std::string_view called_as);

}  // namespace mpigauge::imb
