// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Control variables of the MPI library (MPI_T), written while it runs: the arms of a sweep that
// need no launch of their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/mpi.hpp"

namespace mpigauge {

/// One of several things that are measured in turn: its name in records, and what it sets.
struct Arm {
  std::string name;  ///< empty: the library as it began
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Arms from text: `~|A=1~A=1|control~`, a name and its settings with `;` between. Throws
/// std::invalid_argument.
std::vector<Arm> read_arms(const std::string& text);

/// The control variables that arms set, and a communicator for each arm that was made while its
/// values held: libraries read some settings at each call, others when a communicator is made.
class Knobs {
 public:
  /// All ranks of `comm` together. Without arms nothing is ever set, and `comm` itself is used.
  Knobs(const std::vector<Arm>& arms, MPI_Comm comm);
  /// Everything is as it was.
  ~Knobs();
  Knobs(const Knobs&) = delete;
  Knobs& operator=(const Knobs&) = delete;

  /// Why an arm cannot be measured in this process, the same on all ranks; empty: it can.
  [[nodiscard]] std::string_view refusal(std::size_t arm) const;
  /// Sets what the arm sets, and all that other arms set as it was; the arm's communicator.
  MPI_Comm choose(std::size_t arm);

 private:
  class Variable;
  Variable& variable(const std::string& name);
  std::string try_on(const Arm& arm);
  void back_to_first();

  const std::vector<Arm>& arms_;
  MPI_Comm comm_;
  std::vector<std::unique_ptr<Variable>> variables_;
  std::vector<std::string> refusals_;
  std::vector<MPI_Comm> comms_;
  std::size_t now_ = 0;
};

}  // namespace mpigauge
