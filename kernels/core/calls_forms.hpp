// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The forms of a collective call. MPI makes the non-blocking and the persistent form of a call by
// rule: the same arguments, then a request (and before it an info). So their names and types follow
// from the blocking one, and nothing that is newer than the library is linked to.
#pragma once

#include <string>
#include <string_view>

#include "core/mpi.hpp"

namespace mpigauge {

/// Types of the forms of a call.
template <class Function>
struct FormsOf;
template <class... P>
struct FormsOf<int(P...)> {
  using Blocking = int (*)(P...);
  using Immediate = int (*)(P..., MPI_Request*);
  using Init = int (*)(P..., MPI_Info, MPI_Request*);
};

/// A blocking call that every library has, as a value: where it is called, the compiler sees a
/// direct call.
template <auto function>
struct Linked {
  using Forms = FormsOf<std::remove_pointer_t<decltype(function)>>;
  static constexpr bool in_every_library = true;
  static auto get(std::string_view) { return Linked{}; }
  template <class... A>
  int operator()(A... arguments) const {
    return function(arguments...);
  }
};
/// For the description of a collective: linked<MPI_Bcast>.
template <auto function>
constexpr Linked<function> linked{};

/// A blocking call that not every library has: looked up by name.
template <class Function>
struct LookedUp {
  using Forms = FormsOf<Function>;
  static constexpr bool in_every_library = false;
  static auto get(std::string_view name) { return find_as<typename Forms::Blocking>(name); }
};
/// For the description of a collective: looked_up<decltype(MPI_Neighbor_alltoall)>.
template <class Function>
constexpr LookedUp<Function> looked_up{};

/// "MPI_Bcast", "MPI_Ibcast" and "MPI_Bcast_init" for "Bcast". The text stays as long as the
/// program.
std::string_view blocking_call(std::string_view collective);
std::string_view immediate_call(std::string_view collective);
std::string_view init_call(std::string_view collective);

/// "Ibcast" for "Bcast".
std::string immediate_name(std::string_view collective);

/// Keeps a text as long as the program: cards refer to their texts.
std::string_view keep(std::string text);

}  // namespace mpigauge
