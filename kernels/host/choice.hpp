// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which MPI library the program opens when it is called as a suite: from what the user's
// environment offers, what was there at installation, and what started us.
//
// The host needs the C library alone, so nothing here allocates or throws.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace mpigauge::host {

enum class Abi { none, mpich, ompi, std };
/// The name of an ABI in plugins' file names; empty for none.
std::string_view name_of(Abi abi);
Abi abi_named(std::string_view name);

/// Launchers, and the libraries that understand them.
enum class Family { unknown, hydra, openmpi };
Family family_named(std::string_view name);

/// A list that is never longer than what it was made for.
template <class T, std::size_t most>
class Few {
 public:
  /// False when it is full.
  bool add(const T& item) {
    if (count_ == most) return false;
    items_[count_++] = item;
    return true;
  }
  [[nodiscard]] T& last() { return items_[count_ - 1]; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const T* begin() const { return items_.data(); }
  [[nodiscard]] const T* end() const { return items_.data() + count_; }
  [[nodiscard]] std::span<const T> all() const { return {items_.data(), count_}; }

 private:
  std::array<T, most> items_{};
  std::size_t count_ = 0;
};

/// An MPI that may be opened.
struct Mpi {
  std::string_view label;  ///< "mpich 5.0.2"; empty for what only the environment names
  Abi abi = Abi::none;
  Family launcher = Family::unknown;
  std::string_view library;
  std::string_view mpiexec;
  Few<std::string_view, 8> env;  ///< NAME=VALUE, what it needs to find its own files
  bool offered = false;          ///< by the user's LD_LIBRARY_PATH, so it comes first
};
using Mpis = Few<Mpi, 48>;

/// What started this process, as far as the environment tells.
struct Start {
  Family family = Family::unknown;
  bool sure = false;        ///< no other library could talk to it
  bool intel = false;       ///< Intel MPI's Hydra, not MPICH's
  std::string_view folder;  ///< where the launcher's program lies; empty when unknown
};

/// Looks up an environment variable; null where it is not set.
using Look = const char* (*)(const char* name);
Start start_of(Look look);
/// Takes note of a program above us when it is one that starts ranks; false when it is another.
bool started_by(std::string_view program, Start& start);

/// What can be used after this start: the best first among equals by their order; null: none.
const Mpi* choose(std::span<const Mpi> mpis, const Start& start);

/// The file of an MPI library, and the ABI that its name stands for.
struct LibraryName {
  std::string_view file;
  Abi abi = Abi::none;
};
/// Those that can be used after this start; those of the launcher's own family first.
using LibraryNames = Few<LibraryName, 8>;
LibraryNames names_after(const Start& start);

/// Reads the file that `mpigauge imb install` wrote. 0 when it is good, else the number of the
/// line that is not. The texts stay where they are.
int read_mpis(std::string_view text, Mpis& mpis);

/// Cuts off and gives what is before the first `mark`, or all when there is none.
std::string_view take(std::string_view& text, char mark);
/// The last part of a path.
std::string_view base_name(std::string_view path);
/// What is before it, without the slash; empty when there is no slash.
std::string_view folder_of(std::string_view path);

}  // namespace mpigauge::host
