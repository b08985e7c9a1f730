// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Values that stand for something else, and texts.
#include <cstdio>

#include "parameters.hpp"

namespace mpigauge::translate {

// --- addresses ----------------------------------------------------------------------------------

void* special_to_target(void* address) {
  if (address == address_of(Program::MPI_IN_PLACE)) return address_of(Target::MPI_IN_PLACE);
  if (address == address_of(Program::MPI_BUFFER_AUTOMATIC) &&
      Target::MPI_BUFFER_AUTOMATIC != no_integer) {
    return address_of(Target::MPI_BUFFER_AUTOMATIC);
  }
  return address;
}

void* special_to_program(void* address) {
  if (address == address_of(Target::MPI_BUFFER_AUTOMATIC) &&
      Program::MPI_BUFFER_AUTOMATIC != no_integer) {
    return address_of(Program::MPI_BUFFER_AUTOMATIC);
  }
  return address;
}

namespace {

// In MPICH's ABI these are variables: the target's are in its library, the program's in ours.
template <class Type>
Type* variable_of_target(const char* name) {
  void* const place = symbol_of_target(name);
  return place == nullptr ? nullptr : *static_cast<Type**>(place);
}

}  // namespace

int* weights_to_target(int* weights) {
  const bool none = weights == own_unweighted(), empty = weights == own_weights_empty();
  if (!none && !empty) return weights;
  if constexpr (target_abi == Abi::mpich) {
    return variable_of_target<int>(none ? "MPI_UNWEIGHTED" : "MPI_WEIGHTS_EMPTY");
  } else {
    return static_cast<int*>(address_of(none ? Target::MPI_UNWEIGHTED : Target::MPI_WEIGHTS_EMPTY));
  }
}

void* performance_handle_to_target(void* handle) {
  if (handle != own_all_handles()) return handle;
  if constexpr (target_abi == Abi::mpich) {
    return variable_of_target<void>("MPI_T_PVAR_ALL_HANDLES");
  } else {
    return address_of(Target::MPI_T_PVAR_ALL_HANDLES);
  }
}

// --- keyvals ------------------------------------------------------------------------------------

namespace {
// Open MPI counts its keyvals from a few on, the standard has some values in the hundreds.
constexpr int above_the_standards = program_abi == Abi::std && target_abi == Abi::ompi ? 4096 : 0;
}  // namespace

int keyval_to_target(int keyval) {
  for (const Pair& each : pairs<Group::keyval>) {
    if (each.program == keyval) return each.target;
  }
  return keyval - above_the_standards;
}

int keyval_to_program(int keyval) {
  for (const Pair& each : pairs<Group::keyval>) {
    if (each.target == keyval) return each.program;
  }
  return keyval + above_the_standards;
}

// --- texts --------------------------------------------------------------------------------------

void hand_over_text(char* place, const char* text, std::size_t room, int* length) {
  const int written = std::snprintf(place, room, "%s", text);
  if (length == nullptr || written < 0) return;
  *length = static_cast<std::size_t>(written) < room ? written : static_cast<int>(room) - 1;
}

// --- how many -----------------------------------------------------------------------------------

namespace {

int neighbours(TargetHandle<Kind::comm> comm, Among among) {
  int topology = 0;
  ask<call_Topo_test>(comm, &topology);
  int sources = 0, destinations = 0, weighted = 0;
  if (topology == Target::MPI_CART) {
    ask<call_Cartdim_get>(comm, &sources);
    return 2 * sources;
  }
  if (topology == Target::MPI_GRAPH) {
    int rank = 0;
    ask<call_Comm_rank>(comm, &rank);
    ask<call_Graph_neighbors_count>(comm, rank, &sources);
    return sources;
  }
  if (topology != Target::MPI_DIST_GRAPH) return 0;
  ask<call_Dist_graph_neighbors_count>(comm, &sources, &destinations, &weighted);
  return among == Among::sources ? sources : destinations;
}

}  // namespace

int members(TargetHandle<Kind::comm> comm, Among among) {
  if (comm == null_for_target<Kind::comm>()) return 0;
  if (among != Among::ranks) return neighbours(comm, among);
  int is_inter = 0, count = 0;
  ask<call_Comm_test_inter>(comm, &is_inter);
  if (is_inter != 0) {
    ask<call_Comm_remote_size>(comm, &count);
  } else {
    ask<call_Comm_size>(comm, &count);
  }
  return count;
}

}  // namespace mpigauge::translate
