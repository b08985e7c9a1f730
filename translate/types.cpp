// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Datatypes: how they were made, and those whose arguments are constants of an ABI.
#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

namespace {

using Type = ProgramHandle<Kind::datatype>;

// --- distributed arrays -------------------------------------------------------------------------

int argument_to_target(int value) { return to_target<Group::distribution_argument>(value); }

template <Call call, class Count>
int create_darray(int size, int rank, int dimensions, const Count* global, const int* distributions,
                  const int* arguments, const int* processes, int order, Type old, Type* made) {
  if (function_of<call>() == nullptr) return missing(call);
  Room<int> how(dimensions), with(dimensions);
  for (std::size_t n = 0; n < how.size(); ++n) {
    how[n] = to_target<Group::distribution>(distributions[n]);
    with[n] = argument_to_target(arguments[n]);
  }
  auto type = null_for_target<Kind::datatype>();
  const int code = ask<call>(size, rank, dimensions, global, how.data(), with.data(), processes,
                             to_target<Group::order>(order), to_target<Kind::datatype>(old), &type);
  if (code == 0) *made = to_program<Kind::datatype>(type);
  return error_to_program(code);
}

// --- how a type was made ------------------------------------------------------------------------

// Integers that are constants stand at places that the combiner tells.
void contents_to_program(int combiner, int count, int* integers) {
  if (combiner == Target::MPI_COMBINER_SUBARRAY) {
    integers[count - 1] = to_program<Group::order>(integers[count - 1]);
  }
  if (combiner != Target::MPI_COMBINER_DARRAY) return;
  constexpr int before = 3;
  const int dimensions = integers[before - 1];
  integers[count - 1] = to_program<Group::order>(integers[count - 1]);
  for (int n = 0; n < dimensions; ++n) {
    int& how = integers[before + dimensions + n];
    int& with = integers[before + 2 * dimensions + n];
    how = to_program<Group::distribution>(how);
    with = to_program<Group::distribution_argument>(with);
  }
}

// With large counts the sizes of a distributed array are among these.
void large_contents_to_program(int combiner, int count, int* integers) {
  if (combiner == Target::MPI_COMBINER_SUBARRAY && count > 0) {
    integers[count - 1] = to_program<Group::order>(integers[count - 1]);
  }
  if (combiner != Target::MPI_COMBINER_DARRAY || count == 0) return;
  constexpr int before = 3;
  const int dimensions = integers[before - 1];
  integers[count - 1] = to_program<Group::order>(integers[count - 1]);
  for (int n = 0; n < dimensions; ++n) {
    int& how = integers[before + n];
    int& with = integers[before + dimensions + n];
    how = to_program<Group::distribution>(how);
    with = to_program<Group::distribution_argument>(with);
  }
}

void types_to_program(Room<TargetHandle<Kind::datatype>>& from, std::size_t count, Type* types) {
  for (std::size_t n = 0; n < count; ++n) types[n] = to_program<Kind::datatype>(from[n]);
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Type_create_darray(int size, int rank, int dimensions, const int* global,
                                            const int* distributions, const int* arguments,
                                            const int* processes, int order, Type old, Type* made) {
  return create_darray<call_Type_create_darray>(size, rank, dimensions, global, distributions,
                                                arguments, processes, order, old, made);
}
MPIGAUGE_EXPORT int PMPI_Type_create_darray_c(int size, int rank, int dimensions,
                                              const Wide* global, const int* distributions,
                                              const int* arguments, const int* processes, int order,
                                              Type old, Type* made) {
  if (function_of<call_Type_create_darray_c>() != nullptr) {
    return create_darray<call_Type_create_darray_c>(size, rank, dimensions, global, distributions,
                                                    arguments, processes, order, old, made);
  }
  Room<int> small(dimensions);
  for (std::size_t n = 0; n < small.size(); ++n) {
    if (!is_small(global[n])) return missing(call_Type_create_darray_c);
    small[n] = static_cast<int>(global[n]);
  }
  return create_darray<call_Type_create_darray>(size, rank, dimensions, small.data(), distributions,
                                                arguments, processes, order, old, made);
}

MPIGAUGE_EXPORT int PMPI_Type_get_envelope(Type type, int* integers, int* addresses, int* types,
                                           int* combiner) {
  return translated<call_Type_get_envelope, In<Kind::datatype>, IntPointer, IntPointer, IntPointer,
                    OutOf<Group::combiner>>(type, integers, addresses, types, combiner);
}
MPIGAUGE_EXPORT int PMPI_Type_get_envelope_c(Type type, Wide* integers, Wide* addresses,
                                             Wide* large, Wide* types, int* combiner) {
  if (function_of<call_Type_get_envelope_c>() == nullptr) {
    int few = 0, places = 0, parts = 0;
    const int code = PMPI_Type_get_envelope(type, &few, &places, &parts, combiner);
    *integers = few;
    *addresses = places;
    *types = parts;
    *large = 0;
    return code;
  }
  return translated<call_Type_get_envelope_c, In<Kind::datatype>, Pointer, Pointer, Pointer,
                    Pointer, OutOf<Group::combiner>>(type, integers, addresses, large, types,
                                                     combiner);
}

MPIGAUGE_EXPORT int PMPI_Type_get_contents(Type type, int most_integers, int most_addresses,
                                           int most_types, int* integers, Wide* addresses,
                                           Type* types) {
  const auto own = to_target<Kind::datatype>(type);
  int count = 0, places = 0, parts = 0, combiner = 0;
  int code = ask<call_Type_get_envelope>(own, &count, &places, &parts, &combiner);
  if (code != 0) return error_to_program(code);
  Room<TargetHandle<Kind::datatype>> made(most_types);
  code = ask<call_Type_get_contents>(own, most_integers, most_addresses, most_types, integers,
                                     addresses, made.data());
  if (code != 0) return error_to_program(code);
  if (most_integers >= count && count > 0) contents_to_program(combiner, count, integers);
  types_to_program(made, static_cast<std::size_t>(parts), types);
  return 0;
}

MPIGAUGE_EXPORT int PMPI_Type_get_contents_c(Type type, Wide most_integers, Wide most_addresses,
                                             Wide most_large, Wide most_types, int* integers,
                                             Wide* addresses, Wide* large, Type* types) {
  if (function_of<call_Type_get_contents_c>() == nullptr) {
    return PMPI_Type_get_contents(type, static_cast<int>(most_integers),
                                  static_cast<int>(most_addresses), static_cast<int>(most_types),
                                  integers, addresses, types);
  }
  const auto own = to_target<Kind::datatype>(type);
  Wide count = 0, places = 0, many = 0, parts = 0;
  int combiner = 0;
  int code = ask<call_Type_get_envelope_c>(own, &count, &places, &many, &parts, &combiner);
  if (code != 0) return error_to_program(code);
  Room<TargetHandle<Kind::datatype>> made(most_types);
  code = ask<call_Type_get_contents_c>(own, most_integers, most_addresses, most_large, most_types,
                                       integers, addresses, large, made.data());
  if (code != 0) return error_to_program(code);
  const auto here = static_cast<int>(count);
  if (many == 0) {
    if (here > 0) contents_to_program(combiner, here, integers);
  } else {
    large_contents_to_program(combiner, here, integers);
  }
  types_to_program(made, static_cast<std::size_t>(parts), types);
  return 0;
}

MPIGAUGE_ALSO(Type_create_darray)
MPIGAUGE_ALSO(Type_create_darray_c)
MPIGAUGE_ALSO(Type_get_envelope)
MPIGAUGE_ALSO(Type_get_envelope_c)
MPIGAUGE_ALSO(Type_get_contents)
MPIGAUGE_ALSO(Type_get_contents_c)
