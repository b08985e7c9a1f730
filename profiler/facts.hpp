// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What is known of each call of MPI: which argument is what. The table itself is made from the
// standard's description and schema/mpi_calls.toml.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mpigauge::profile {

/// What calls are for.
enum class Group : std::uint8_t {
#define MPIGAUGE_GROUP(IDENTIFIER, NAME) IDENTIFIER,
#define MPIGAUGE_CALL(...)
#define MPIGAUGE_FORTRAN(...)
#include "calls.inc"
#undef MPIGAUGE_GROUP
#undef MPIGAUGE_CALL
#undef MPIGAUGE_FORTRAN
};

inline constexpr std::array group_names = {
#define MPIGAUGE_GROUP(IDENTIFIER, NAME) std::string_view(NAME),
#define MPIGAUGE_CALL(...)
#define MPIGAUGE_FORTRAN(...)
#include "calls.inc"
#undef MPIGAUGE_GROUP
#undef MPIGAUGE_CALL
#undef MPIGAUGE_FORTRAN
};

/// How the number of elements is told.
enum class Count : std::uint8_t {
  none,
  one,    // always one
  value,  // by an argument, times another one where `factor` says so
  sum,    // by an array with an element for each rank or neighbour: all of them
  own,    // by such an array: the element of the own rank
};

/// No such argument.
constexpr std::int8_t nowhere = -1;
/// A single request, of which no argument tells the number.
constexpr std::int8_t one_request = -2;

/// How many bytes a call moves: elements of a type.
struct Amount {
  Count how = Count::none;
  std::int8_t count = nowhere;
  bool wide = false;  // counts have 64 bits
  std::int8_t factor = nowhere;
  std::int8_t type = nowhere;
  bool types = false;  // the type is an array, too
};

/// Who waits for whom in a collective.
enum class Waits : std::uint8_t { nobody, all, for_root, at_root };

/// The positions of arguments.
struct Facts {
  Group group{};
  Amount sent;
  Amount received;
  Amount in_place;  // instead, where `buffer` is MPI_IN_PLACE
  std::int8_t buffer = nowhere;
  std::int8_t to = nowhere;
  std::int8_t from = nowhere;
  std::int8_t root = nowhere;
  std::int8_t to_tag = nowhere;
  std::int8_t from_tag = nowhere;
  std::int8_t requests = nowhere;
  std::int8_t comm = nowhere;
  std::int8_t new_comm = nowhere;
  std::int8_t window = nowhere;
  std::int8_t new_window = nowhere;
  std::int8_t file = nowhere;
  std::int8_t new_file = nowhere;
  std::int8_t operation = nowhere;
  std::int8_t message = nowhere;
  std::int8_t request = nowhere;
  std::int8_t status = nowhere;
  Waits waits = Waits::nobody;
  bool equal_parts = false;  // the amount is that of one rank or neighbour of all
  bool persistent = false;   // amounts count when the request is started
  bool begins = false;       // the request, which a later call ends
  bool frees = false;        // the communicator, window, file or request
};

/// The calls that are wrapped, by number.
enum Call : std::uint16_t {
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_FORTRAN(...)
#define MPIGAUGE_CALL(NAME, ...) call_##NAME,
#include "calls.inc"
#undef MPIGAUGE_GROUP
#undef MPIGAUGE_CALL
#undef MPIGAUGE_FORTRAN
  call_Pcontrol,
  /// No call of MPI: what the profiler times to know its own cost.
  call_nothing,
  calls,
};

inline constexpr std::array<Facts, calls> facts_of = {
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_FORTRAN(...)
#define MPIGAUGE_CALL(NAME, ARGUMENTS, ...) Facts{__VA_ARGS__},
#include "calls.inc"
#undef MPIGAUGE_GROUP
#undef MPIGAUGE_CALL
#undef MPIGAUGE_FORTRAN
    Facts{.group = Group::environment}, Facts{}};

/// With MPI_.
inline constexpr std::array<const char*, calls> call_names = {
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_FORTRAN(...)
#define MPIGAUGE_CALL(NAME, ...) "MPI_" #NAME,
#include "calls.inc"
#undef MPIGAUGE_GROUP
#undef MPIGAUGE_CALL
#undef MPIGAUGE_FORTRAN
    "MPI_Pcontrol", ""};

}  // namespace mpigauge::profile
