// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Attributes that MPI itself has, some of whose values are of an ABI.
#include "by_hand.hpp"

namespace mpigauge::translate {

namespace {

// The program gets the address of an integer that stays as it is.
constinit std::atomic<int> host{0}, io{0}, last_code{0};

void* kept_at(std::atomic<int>& place, int value) {
  place.store(value, std::memory_order_relaxed);
  return &place;
}

// A window has a value of its own, so each of the few that there are has a place.
template <Group group>
void* place_of(int value) {
  static const auto& all = pairs<group>;
  for (const Pair& each : all) {
    if (each.target == value) return const_cast<int*>(&each.program);
  }
  return nullptr;
}

void* value_for_program(int keyval, void* value) {
  // Those of programs are not addresses, or not of integers.
  const auto number = [value] { return *static_cast<const int*>(value); };
  switch (keyval) {
    case Program::MPI_HOST: return kept_at(host, rank_to_program(number()));
    case Program::MPI_IO: return kept_at(io, rank_to_program(number()));
    case Program::MPI_LASTUSEDCODE:
      if (number() == Target::MPI_ERR_LASTCODE)
        return kept_at(last_code, Program::MPI_ERR_LASTCODE);
      return kept_at(last_code, error_to_program(number()));
    default: return value;
  }
}

template <Kind kind, Call call>
int get_attribute(ProgramHandle<kind> handle, int keyval, void* place, int* flag) {
  if (function_of<call>() == nullptr) return missing(call);
  void* value = nullptr;
  const int code = ask<call>(to_target<kind>(handle), keyval_to_target(keyval), &value, flag);
  if (code != 0 || *flag == 0) return error_to_program(code);
  if constexpr (kind == Kind::comm) value = value_for_program(keyval, value);
  if constexpr (kind == Kind::win) {
    if (keyval == Program::MPI_WIN_CREATE_FLAVOR) {
      value = place_of<Group::window_flavor>(*static_cast<const int*>(value));
    }
    if (keyval == Program::MPI_WIN_MODEL) {
      value = place_of<Group::window_model>(*static_cast<const int*>(value));
    }
  }
  std::memcpy(place, static_cast<void*>(&value), sizeof value);
  return 0;
}

}  // namespace

}  // namespace mpigauge::translate

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

MPIGAUGE_EXPORT int PMPI_Comm_get_attr(ProgramHandle<Kind::comm> comm, int keyval, void* value,
                                       int* flag) {
  return get_attribute<Kind::comm, call_Comm_get_attr>(comm, keyval, value, flag);
}
MPIGAUGE_EXPORT int PMPI_Attr_get(ProgramHandle<Kind::comm> comm, int keyval, void* value,
                                  int* flag) {
  return get_attribute<Kind::comm, call_Comm_get_attr>(comm, keyval, value, flag);
}
MPIGAUGE_EXPORT int PMPI_Win_get_attr(ProgramHandle<Kind::win> win, int keyval, void* value,
                                      int* flag) {
  return get_attribute<Kind::win, call_Win_get_attr>(win, keyval, value, flag);
}
MPIGAUGE_ALSO(Comm_get_attr)
MPIGAUGE_ALSO(Attr_get)
MPIGAUGE_ALSO(Win_get_attr)
