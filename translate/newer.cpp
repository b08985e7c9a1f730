// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of MPI 4.1 and 5.0 that need no newer MPI: an older target does without them.
#include <algorithm>

#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

// --- fields of a status -------------------------------------------------------------------------

#define MPIGAUGE_FIELD(NAME, FIELD)                                                  \
  MPIGAUGE_EXPORT int PMPI_Status_get_##NAME(const ProgramStatus* status, int* to) { \
    *to = status->FIELD;                                                             \
    return 0;                                                                        \
  }                                                                                  \
  MPIGAUGE_EXPORT int PMPI_Status_set_##NAME(ProgramStatus* status, int value) {     \
    status->FIELD = value;                                                           \
    return 0;                                                                        \
  }                                                                                  \
  MPIGAUGE_ALSO(Status_get_##NAME)                                                   \
  MPIGAUGE_ALSO(Status_set_##NAME)
MPIGAUGE_FIELD(source, source)
MPIGAUGE_FIELD(tag, tag)
MPIGAUGE_FIELD(error, error)
#undef MPIGAUGE_FIELD

// --- several requests are looked at -------------------------------------------------------------

namespace {

using Request = ProgramHandle<Kind::request>;
constexpr int undefined = -32766;  // MPI_UNDEFINED in all ABIs

extern "C" int PMPI_Request_get_status(Request, int*, ProgramStatus*);

ProgramStatus* place_for(ProgramStatus* statuses, int n) {
  return is_ignored(statuses) ? statuses : statuses + n;
}

bool is_active(Request request) { return request != null_for_program<Kind::request>(); }

void make_empty(ProgramStatus* status) {
  if (is_ignored(status)) return;
  *status = {};
  status->source = Program::MPI_ANY_SOURCE;
  status->tag = Program::MPI_ANY_TAG;
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Request_get_status_all(int count, Request* requests, int* flag,
                                                ProgramStatus* statuses) {
  if (function_of<call_Request_get_status_all>() != nullptr) {
    return translated<call_Request_get_status_all, Int, Requests<0>, IntPointer,
                      Statuses<0, -1, 2>>(count, requests, flag, statuses);
  }
  *flag = 1;
  for (int n = 0; n < count && *flag != 0; ++n) {
    const int code = PMPI_Request_get_status(requests[n], flag, place_for(statuses, n));
    if (code != 0) return code;
  }
  return 0;
}

MPIGAUGE_EXPORT int PMPI_Request_get_status_any(int count, Request* requests, int* index, int* flag,
                                                ProgramStatus* status) {
  if (function_of<call_Request_get_status_any>() != nullptr) {
    return translated<call_Request_get_status_any, Int, Requests<0>, IntPointer, IntPointer,
                      StatusOut<3>>(count, requests, index, flag, status);
  }
  *index = undefined;
  *flag = 1;
  if (std::none_of(requests, requests + count, is_active)) {
    make_empty(status);
    return 0;
  }
  for (int n = 0; n < count; ++n) {
    if (!is_active(requests[n])) continue;
    const int code = PMPI_Request_get_status(requests[n], flag, status);
    if (code == 0 && *flag == 0) continue;
    *index = n;
    return code;
  }
  return 0;
}

MPIGAUGE_EXPORT int PMPI_Request_get_status_some(int count, Request* requests, int* done,
                                                 int* indices, ProgramStatus* statuses) {
  if (function_of<call_Request_get_status_some>() != nullptr) {
    return translated<call_Request_get_status_some, Int, Requests<0>, IntPointer, IntPointer,
                      Statuses<0, 2, -1>>(count, requests, done, indices, statuses);
  }
  *done = undefined;
  if (std::none_of(requests, requests + count, is_active)) return 0;
  *done = 0;
  for (int n = 0; n < count; ++n) {
    if (!is_active(requests[n])) continue;
    int flag = 0;
    const int code = PMPI_Request_get_status(requests[n], &flag, place_for(statuses, *done));
    if (code != 0) return code;
    if (flag != 0) indices[(*done)++] = n;
  }
  return 0;
}
MPIGAUGE_ALSO(Request_get_status_all)
MPIGAUGE_ALSO(Request_get_status_any)
MPIGAUGE_ALSO(Request_get_status_some)

// --- buffers ------------------------------------------------------------------------------------

extern "C" int PMPI_Buffer_attach_c(void*, Wide);
extern "C" int PMPI_Buffer_detach_c(void*, Wide*);

/// A buffer is free of messages once it is detached.
MPIGAUGE_EXPORT int PMPI_Buffer_flush() {
  if (function_of<call_Buffer_flush>() != nullptr) return translated<call_Buffer_flush>();
  void* memory = nullptr;
  Wide size = 0;
  const int code = PMPI_Buffer_detach_c(static_cast<void*>(&memory), &size);
  if (code != 0 || memory == nullptr) return code;
  return PMPI_Buffer_attach_c(memory, size);
}
MPIGAUGE_ALSO(Buffer_flush)

// --- what can be asked --------------------------------------------------------------------------

namespace {

using Info = ProgramHandle<Kind::info>;

extern "C" int PMPI_Info_create(Info*);
extern "C" int PMPI_Info_set(Info, char*, char*);

}  // namespace

/// Nothing is known, which the standard allows.
MPIGAUGE_EXPORT int PMPI_Get_hw_resource_info(Info* info) {
  if (function_of<call_Get_hw_resource_info>() != nullptr) {
    return translated<call_Get_hw_resource_info, Out<Kind::info>>(info);
  }
  return PMPI_Info_create(info);
}
MPIGAUGE_ALSO(Get_hw_resource_info)

// --- names of what is not an object --------------------------------------------------------------

namespace {

/// From MPI 4.1 on they have names; before, to ask for one is an error. The same for a type that
/// the target has not.
template <Kind kind, Call call>
int get_name(ProgramHandle<kind> handle, char* name, int* length, const char* of_null) {
  if constexpr (target_abi == Abi::ompi) {
    if (to_target<kind>(handle) == null_for_target<kind>()) {
      hand_over_text(name, of_null, Program::MPI_MAX_OBJECT_NAME, length);
      return 0;
    }
  }
  return translated<call, In<kind>, ObjectName<2>, IntPointer>(handle, name, length);
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Comm_get_name(ProgramHandle<Kind::comm> comm, char* name, int* length) {
  return get_name<Kind::comm, call_Comm_get_name>(comm, name, length, "MPI_COMM_NULL");
}
MPIGAUGE_EXPORT int PMPI_Type_get_name(ProgramHandle<Kind::datatype> type, char* name,
                                       int* length) {
  return get_name<Kind::datatype, call_Type_get_name>(type, name, length, "MPI_DATATYPE_NULL");
}
MPIGAUGE_EXPORT int PMPI_Win_get_name(ProgramHandle<Kind::win> win, char* name, int* length) {
  return get_name<Kind::win, call_Win_get_name>(win, name, length, "MPI_WIN_NULL");
}
MPIGAUGE_ALSO(Comm_get_name)
MPIGAUGE_ALSO(Type_get_name)
MPIGAUGE_ALSO(Win_get_name)

// --- error classes that only the program's ABI has ----------------------------------------------

MPIGAUGE_EXPORT int PMPI_Error_class(int code, int* error_class) {
  for (const Pair& each : pairs<Group::error>) {
    if (each.program != code || each.target != no_integer) continue;
    *error_class = code;
    return 0;
  }
  return translated<call_Error_class, ErrorIn, ErrorOut>(code, error_class);
}
MPIGAUGE_ALSO(Error_class)

// --- types of pairs -----------------------------------------------------------------------------

namespace {

using Type = ProgramHandle<Kind::datatype>;

Word object_of_target(const char* name) { return reinterpret_cast<Word>(symbol_of_target(name)); }

struct PairType {
  const char *value, *index, *pair;
};
constexpr std::array pair_types = {
    PairType{"ompi_mpi_float", "ompi_mpi_int", "ompi_mpi_float_int"},
    PairType{"ompi_mpi_double", "ompi_mpi_int", "ompi_mpi_double_int"},
    PairType{"ompi_mpi_long_double", "ompi_mpi_int", "ompi_mpi_longdbl_int"},
    PairType{"ompi_mpi_long", "ompi_mpi_int", "ompi_mpi_long_int"},
    PairType{"ompi_mpi_short", "ompi_mpi_int", "ompi_mpi_short_int"},
    PairType{"ompi_mpi_int", "ompi_mpi_int", "ompi_mpi_2int"},
    PairType{"ompi_mpi_real", "ompi_mpi_real", "ompi_mpi_2real"},
    PairType{"ompi_mpi_dblprec", "ompi_mpi_dblprec", "ompi_mpi_2dblprec"},
    PairType{"ompi_mpi_integer", "ompi_mpi_integer", "ompi_mpi_2integer"},
};

}  // namespace

MPIGAUGE_EXPORT int PMPI_Type_get_value_index(Type value, Type index, Type* pair) {
  if (target_abi != Abi::ompi || function_of<call_Type_get_value_index>() != nullptr) {
    return translated<call_Type_get_value_index, In<Kind::datatype>, In<Kind::datatype>,
                      Out<Kind::datatype, Given::seen>>(value, index, pair);
  }
  const Type none = null_for_program<Kind::datatype>();
  if (value == none || index == none) {
    return refuse("MPI_Type_get_value_index", "a type is MPI_DATATYPE_NULL", Target::MPI_ERR_TYPE);
  }
  const Word of_value = word_of(to_target<Kind::datatype>(value));
  const Word of_index = word_of(to_target<Kind::datatype>(index));
  *pair = none;
  for (const PairType& each : pair_types) {
    if (object_of_target(each.value) != of_value || object_of_target(each.index) != of_index) {
      continue;
    }
    const auto found = handle_of<TargetHandle<Kind::datatype>>(object_of_target(each.pair));
    *pair = to_program<Kind::datatype>(found, Given::seen);
  }
  return 0;
}
MPIGAUGE_ALSO(Type_get_value_index)

// --- the ABI ------------------------------------------------------------------------------------

/// It is the program's ABI that is there for it, whatever the target's is.
MPIGAUGE_EXPORT int PMPI_Abi_get_version(int* major, int* minor) {
  const bool is_standard = program_abi == Abi::std;
  *major = is_standard ? 1 : -1;
  *minor = is_standard ? 0 : -1;
  return 0;
}
MPIGAUGE_EXPORT int PMPI_Abi_get_info(Info* info) {
  if (program_abi == target_abi && function_of<call_Abi_get_info>() != nullptr) {
    return translated<call_Abi_get_info, Out<Kind::info>>(info);
  }
  const int code = PMPI_Info_create(info);
  if (code != 0) return code;
  std::array<char, 2> bytes = {'8', '\0'};
  for (const char* const type : {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"}) {
    PMPI_Info_set(*info, const_cast<char*>(type), bytes.data());
  }
  return 0;
}
/// Without an answer of the target's there is no Fortran that anybody knows of.
MPIGAUGE_EXPORT int PMPI_Abi_get_fortran_info(Info* info) {
  if (function_of<call_Abi_get_fortran_info>() != nullptr) {
    return translated<call_Abi_get_fortran_info, Out<Kind::info>>(info);
  }
  *info = null_for_program<Kind::info>();
  return 0;
}
MPIGAUGE_ALSO(Abi_get_fortran_info)
MPIGAUGE_ALSO(Abi_get_version)
MPIGAUGE_ALSO(Abi_get_info)
