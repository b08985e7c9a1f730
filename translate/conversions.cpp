// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// From C to Fortran and back: handles and statuses.
#include "fortran_handles.hpp"

namespace mpigauge::translate {

namespace {

#if MPIGAUGE_PROGRAM_IS_OMPI
struct Numbered {
  Kind kind;
  std::size_t entry;
  int number;
};
constexpr std::array numbered = {
#define MPIGAUGE_HANDLE(...)
#define MPIGAUGE_INTEGER(...)
#define MPIGAUGE_OBJECT(KIND, NAME, ENTRY, NUMBER) Numbered{Kind::KIND, ENTRY, NUMBER},
#include "constants.inc"
#undef MPIGAUGE_HANDLE
#undef MPIGAUGE_INTEGER
#undef MPIGAUGE_OBJECT
};
#endif

}  // namespace

int fortran_number([[maybe_unused]] std::size_t entry) {
#if MPIGAUGE_PROGRAM_IS_OMPI
  for (const Numbered& each : numbered) {
    if (each.entry == entry) return each.number;
  }
#endif
  return -1;
}

Word object_with_number([[maybe_unused]] Kind kind, [[maybe_unused]] int number) {
#if MPIGAUGE_PROGRAM_IS_OMPI
  for (const Numbered& each : numbered) {
    if (each.kind == kind && each.number == number) return program_object(each.entry);
  }
#endif
  return tables.null_of_program[static_cast<std::size_t>(kind)];
}

// Callbacks need them, and know no more of them than their names.
#define MPIGAUGE_INSTANTIATE(KIND, NAME)                          \
  template int to_fortran<Kind::KIND>(ProgramHandle<Kind::KIND>); \
  template ProgramHandle<Kind::KIND> from_fortran<Kind::KIND>(int);
MPIGAUGE_FOR_EACH_KIND(MPIGAUGE_INSTANTIATE)
#undef MPIGAUGE_INSTANTIATE

}  // namespace mpigauge::translate

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

// The first to be called may be one of these, and tables are filled when the target is opened.
#define MPIGAUGE_CONVERT(KIND, NAME)                                            \
  MPIGAUGE_EXPORT int PMPI_##NAME##_c2f(ProgramHandle<Kind::KIND> handle) {     \
    function_of<call_Initialized>();                                            \
    return to_fortran<Kind::KIND>(handle);                                      \
  }                                                                             \
  MPIGAUGE_EXPORT ProgramHandle<Kind::KIND> PMPI_##NAME##_f2c(int number) {     \
    function_of<call_Initialized>();                                            \
    return from_fortran<Kind::KIND>(number);                                    \
  }                                                                             \
  MPIGAUGE_EXPORT int PMPI_##NAME##_toint(ProgramHandle<Kind::KIND> handle) {   \
    return PMPI_##NAME##_c2f(handle);                                           \
  }                                                                             \
  MPIGAUGE_EXPORT ProgramHandle<Kind::KIND> PMPI_##NAME##_fromint(int number) { \
    return PMPI_##NAME##_f2c(number);                                           \
  }                                                                             \
  MPIGAUGE_ALSO(NAME##_c2f)                                                     \
  MPIGAUGE_ALSO(NAME##_f2c)                                                     \
  MPIGAUGE_ALSO(NAME##_toint)                                                   \
  MPIGAUGE_ALSO(NAME##_fromint)
MPIGAUGE_FOR_EACH_KIND(MPIGAUGE_CONVERT)

// --- statuses -----------------------------------------------------------------------------------

// In all three ABIs those of Fortran are those of C, word by word.
#define MPIGAUGE_COPY_STATUS(NAME)                                     \
  MPIGAUGE_EXPORT int PMPI_Status_##NAME(const void* from, void* to) { \
    std::memcpy(to, from, sizeof(ProgramStatus));                      \
    return 0;                                                          \
  }                                                                    \
  MPIGAUGE_ALSO(Status_##NAME)
MPIGAUGE_COPY_STATUS(c2f)
MPIGAUGE_COPY_STATUS(f2c)
MPIGAUGE_COPY_STATUS(c2f08)
MPIGAUGE_COPY_STATUS(f082c)
MPIGAUGE_COPY_STATUS(f2f08)
MPIGAUGE_COPY_STATUS(f082f)

// --- predefined functions -----------------------------------------------------------------------

#if !MPIGAUGE_PROGRAM_IS_STD
namespace {

int copy_nothing(int* flag) {
  *flag = 0;
  return 0;
}
int copy_as_it_is(void* value, void* copy, int* flag) {
  std::memcpy(copy, static_cast<void*>(&value), sizeof value);
  *flag = 1;
  return 0;
}

}  // namespace
#endif

#define MPIGAUGE_PREDEFINED(NULL_COPY, DUP, NULL_DELETE)                           \
  MPIGAUGE_EXPORT int NULL_COPY(void*, int, void*, void*, void*, int* flag) {      \
    return copy_nothing(flag);                                                     \
  }                                                                                \
  MPIGAUGE_EXPORT int DUP(void*, int, void*, void* value, void* copy, int* flag) { \
    return copy_as_it_is(value, copy, flag);                                       \
  }                                                                                \
  MPIGAUGE_EXPORT int NULL_DELETE(void*, int, void*, void*) { return 0; }
#if MPIGAUGE_PROGRAM_IS_OMPI
MPIGAUGE_PREDEFINED(OMPI_C_MPI_COMM_NULL_COPY_FN, OMPI_C_MPI_COMM_DUP_FN,
                    OMPI_C_MPI_COMM_NULL_DELETE_FN)
MPIGAUGE_PREDEFINED(OMPI_C_MPI_TYPE_NULL_COPY_FN, OMPI_C_MPI_TYPE_DUP_FN,
                    OMPI_C_MPI_TYPE_NULL_DELETE_FN)
MPIGAUGE_PREDEFINED(OMPI_C_MPI_WIN_NULL_COPY_FN, OMPI_C_MPI_WIN_DUP_FN,
                    OMPI_C_MPI_WIN_NULL_DELETE_FN)
MPIGAUGE_PREDEFINED(OMPI_C_MPI_NULL_COPY_FN, OMPI_C_MPI_DUP_FN, OMPI_C_MPI_NULL_DELETE_FN)
#elif MPIGAUGE_PROGRAM_IS_MPICH
MPIGAUGE_PREDEFINED(MPIGAUGE_null_copy, MPIR_Dup_fn, MPIGAUGE_null_delete)
#endif
#undef MPIGAUGE_PREDEFINED

// --- what was removed from the standard ---------------------------------------------------------

extern "C" {
using Type = ProgramHandle<Kind::datatype>;
using Comm = ProgramHandle<Kind::comm>;
using Errhandler = ProgramHandle<Kind::errhandler>;
int PMPI_Get_address(void*, Wide*);
int PMPI_Comm_create_errhandler(Function, Errhandler*);
int PMPI_Comm_get_errhandler(Comm, Errhandler*);
int PMPI_Comm_set_errhandler(Comm, Errhandler);
int PMPI_Type_get_extent(Type, Wide*, Wide*);
int PMPI_Type_create_hindexed(int, const int*, const Wide*, Type, Type*);
int PMPI_Type_create_hvector(int, int, Wide, Type, Type*);
int PMPI_Type_create_struct(int, const int*, const Wide*, const Type*, Type*);
}

MPIGAUGE_EXPORT int PMPI_Address(void* place, Wide* address) {
  return PMPI_Get_address(place, address);
}
MPIGAUGE_EXPORT int PMPI_Errhandler_create(Function function, Errhandler* made) {
  return PMPI_Comm_create_errhandler(function, made);
}
MPIGAUGE_EXPORT int PMPI_Errhandler_get(Comm comm, Errhandler* handler) {
  return PMPI_Comm_get_errhandler(comm, handler);
}
MPIGAUGE_EXPORT int PMPI_Errhandler_set(Comm comm, Errhandler handler) {
  return PMPI_Comm_set_errhandler(comm, handler);
}
MPIGAUGE_EXPORT int PMPI_Type_extent(Type type, Wide* extent) {
  Wide lower = 0;
  return PMPI_Type_get_extent(type, &lower, extent);
}
MPIGAUGE_EXPORT int PMPI_Type_lb(Type type, Wide* lower) {
  Wide extent = 0;
  return PMPI_Type_get_extent(type, lower, &extent);
}
MPIGAUGE_EXPORT int PMPI_Type_ub(Type type, Wide* upper) {
  Wide lower = 0, extent = 0;
  const int code = PMPI_Type_get_extent(type, &lower, &extent);
  *upper = lower + extent;
  return code;
}
MPIGAUGE_EXPORT int PMPI_Type_hindexed(int count, const int* lengths, const Wide* places, Type old,
                                       Type* made) {
  return PMPI_Type_create_hindexed(count, lengths, places, old, made);
}
MPIGAUGE_EXPORT int PMPI_Type_hvector(int count, int length, Wide stride, Type old, Type* made) {
  return PMPI_Type_create_hvector(count, length, stride, old, made);
}
MPIGAUGE_EXPORT int PMPI_Type_struct(int count, const int* lengths, const Wide* places,
                                     const Type* types, Type* made) {
  return PMPI_Type_create_struct(count, lengths, places, types, made);
}
MPIGAUGE_ALSO(Address)
MPIGAUGE_ALSO(Errhandler_create)
MPIGAUGE_ALSO(Errhandler_get)
MPIGAUGE_ALSO(Errhandler_set)
MPIGAUGE_ALSO(Type_extent)
MPIGAUGE_ALSO(Type_lb)
MPIGAUGE_ALSO(Type_ub)
MPIGAUGE_ALSO(Type_hindexed)
MPIGAUGE_ALSO(Type_hvector)
MPIGAUGE_ALSO(Type_struct)

// --- extensions that only ask -------------------------------------------------------------------

namespace {
// Those that take nothing and say yes or no are answered by the target, or are no.
int ask_target(const char* name) {
  function_of<call_Initialized>();
  const auto found = reinterpret_cast<int (*)()>(symbol_of_target(name));
  return found == nullptr ? 0 : found();
}
}  // namespace

MPIGAUGE_EXPORT int MPIX_Query_cuda_support() { return ask_target("MPIX_Query_cuda_support"); }
MPIGAUGE_EXPORT int MPIX_Query_hip_support() { return ask_target("MPIX_Query_hip_support"); }
MPIGAUGE_EXPORT int MPIX_Query_rocm_support() { return ask_target("MPIX_Query_rocm_support"); }
MPIGAUGE_EXPORT int MPIX_Query_ze_support() { return ask_target("MPIX_Query_ze_support"); }
