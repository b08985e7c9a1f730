// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The MPI as the linker knows it: for programs that are linked to libmpigauge_profile.a, statically
// linked ones among them. Each call of MPI has a file of its own there (linked_call.in), so
// that the linker brings what the program calls and no more. See loaded.cpp for the other way.
#include <algorithm>
#include <array>
#include <cstring>

#include "facts.hpp"
#include "library.hpp"

// What each of these files holds: where the MPI's own function is. Null where the program does not
// make the call.
#define MPIGAUGE_GROUP(...)
#define MPIGAUGE_FORTRAN(...)
#define MPIGAUGE_CALL(NAME, ...) \
  extern "C" [[gnu::weak,        \
               gnu::visibility("hidden")]] const mpigauge::profile::Function mpigauge_real_##NAME;
#include "calls.inc"
#undef MPIGAUGE_CALL

// The calls that we make ourselves, which the linker has to bring in any case; and those that some
// libraries lack.
#define MPIGAUGE_OWN(NAME) extern "C" void PMPI_##NAME();
#define MPIGAUGE_IF_THERE(NAME) extern "C" [[gnu::weak]] void PMPI_##NAME();
#define MPIGAUGE_OWN_CALLS                   \
  MPIGAUGE_OWN(Init)                         \
  MPIGAUGE_OWN(Comm_rank)                    \
  MPIGAUGE_OWN(Comm_size)                    \
  MPIGAUGE_OWN(Comm_remote_size)             \
  MPIGAUGE_OWN(Comm_test_inter)              \
  MPIGAUGE_OWN(Comm_group)                   \
  MPIGAUGE_OWN(Comm_remote_group)            \
  MPIGAUGE_OWN(Comm_get_name)                \
  MPIGAUGE_OWN(Group_size)                   \
  MPIGAUGE_OWN(Group_rank)                   \
  MPIGAUGE_IF_THERE(Group_from_session_pset) \
  MPIGAUGE_OWN(Group_translate_ranks)        \
  MPIGAUGE_OWN(Group_free)                   \
  MPIGAUGE_OWN(Type_size)                    \
  MPIGAUGE_OWN(Type_get_name)                \
  MPIGAUGE_OWN(Get_library_version)          \
  MPIGAUGE_OWN(Query_thread)                 \
  MPIGAUGE_OWN(Initialized)                  \
  MPIGAUGE_OWN(Finalized)                    \
  MPIGAUGE_OWN(Topo_test)                    \
  MPIGAUGE_OWN(Cartdim_get)                  \
  MPIGAUGE_OWN(Graph_neighbors_count)        \
  MPIGAUGE_OWN(Dist_graph_neighbors_count)   \
  MPIGAUGE_IF_THERE(Comm_get_parent)         \
  MPIGAUGE_IF_THERE(Type_size_x)             \
  MPIGAUGE_IF_THERE(Get_elements_x)          \
  MPIGAUGE_IF_THERE(Pcontrol)
MPIGAUGE_OWN_CALLS
#undef MPIGAUGE_OWN
#undef MPIGAUGE_IF_THERE

// Objects of Open MPI, which others have not got.
#define MPIGAUGE_OBJECTS                  \
  MPIGAUGE_OBJECT(ompi_mpi_comm_world)    \
  MPIGAUGE_OBJECT(ompi_mpi_comm_self)     \
  MPIGAUGE_OBJECT(ompi_mpi_comm_null)     \
  MPIGAUGE_OBJECT(ompi_mpi_datatype_null) \
  MPIGAUGE_OBJECT(ompi_mpi_group_null)    \
  MPIGAUGE_OBJECT(ompi_request_null)      \
  MPIGAUGE_OBJECT(ompi_mpi_byte)          \
  MPIGAUGE_OBJECT(ompi_mpi_op_max)        \
  MPIGAUGE_OBJECT(ompi_mpi_op_min)        \
  MPIGAUGE_OBJECT(ompi_mpi_op_sum)        \
  MPIGAUGE_OBJECT(ompi_mpi_op_prod)       \
  MPIGAUGE_OBJECT(ompi_mpi_op_land)       \
  MPIGAUGE_OBJECT(ompi_mpi_op_band)       \
  MPIGAUGE_OBJECT(ompi_mpi_op_lor)        \
  MPIGAUGE_OBJECT(ompi_mpi_op_bor)        \
  MPIGAUGE_OBJECT(ompi_mpi_op_lxor)       \
  MPIGAUGE_OBJECT(ompi_mpi_op_bxor)       \
  MPIGAUGE_OBJECT(ompi_mpi_op_minloc)     \
  MPIGAUGE_OBJECT(ompi_mpi_op_maxloc)     \
  MPIGAUGE_OBJECT(ompi_mpi_op_replace)    \
  MPIGAUGE_OBJECT(ompi_mpi_op_no_op)
// NOLINTNEXTLINE(bugprone-macro-parentheses): it is a name
#define MPIGAUGE_OBJECT(NAME) extern "C" [[gnu::weak]] const char NAME[];
MPIGAUGE_OBJECTS
#undef MPIGAUGE_OBJECT

extern "C" [[gnu::weak]] void MPIR_Dup_fn();
extern "C" [[gnu::weak]] void PMPI_Abi_get_version();

// By this note others see that the profiler is in a program
// (src/mpigauge/site/mpi/programs/elf.py).
asm(R"(
  .pushsection .note.mpigauge, "a", %note
  .p2align 2
  .long 9, 4, 1
  .asciz "mpigauge"
  .p2align 2
  .long 1
  .popsection
)");

namespace mpigauge::profile {

namespace {

struct Linked {
  const char* name;
  const Function* function;  // null: the program does not call it
};

constexpr std::array made_by_program = {
#define MPIGAUGE_CALL(NAME, ...) Linked{"MPI_" #NAME, &mpigauge_real_##NAME},
#include "calls.inc"
#undef MPIGAUGE_CALL
};

struct Own {
  const char* name;
  Function function;
};

const std::array own_calls = {
#define MPIGAUGE_OWN(NAME) Own{"MPI_" #NAME, PMPI_##NAME},
#define MPIGAUGE_IF_THERE(NAME) MPIGAUGE_OWN(NAME)
    MPIGAUGE_OWN_CALLS
#undef MPIGAUGE_OWN
#undef MPIGAUGE_IF_THERE
};

struct Object {
  const char* name;
  const char* place;
};

const std::array objects = {
#define MPIGAUGE_OBJECT(NAME) Object{#NAME, NAME},
    MPIGAUGE_OBJECTS
#undef MPIGAUGE_OBJECT
};

template <class Table>
auto entry_of(const Table& table, const char* name) {
  const auto* at = table.data();
  const auto* const end = at + table.size();
  while (at != end && std::strcmp(at->name, name) != 0) ++at;
  return at == end ? nullptr : at;
}

Function own_call(const char* name) {
  const Own* const own = entry_of(own_calls, name);
  return own == nullptr ? nullptr : own->function;
}

bool says_it_is_mpich() {
  static std::array<char, 8193> text;
  int length = 0;
  reinterpret_cast<int (*)(char*, int*)>(PMPI_Get_library_version)(text.data(), &length);
  constexpr std::array names = {"MPICH", "MVAPICH", "CRAY MPICH", "Intel(R) MPI"};
  return std::any_of(names.begin(), names.end(), [](const char* name) {
    return std::strncmp(text.data(), name, std::strlen(name)) == 0;
  });
}

// A library that is linked statically may lack the functions that tell the others apart.
AbiKind kind_of_mpi() {
  if (object_of("ompi_mpi_comm_world") != 0) return AbiKind::ompi;
  if (MPIR_Dup_fn != nullptr) return AbiKind::mpich;
  if (PMPI_Abi_get_version != nullptr) return AbiKind::standard;
  return says_it_is_mpich() ? AbiKind::mpich : AbiKind::unknown;
}

}  // namespace

FoundMpi find_mpi(Word) {
  return {.init = reinterpret_cast<Word>(PMPI_Init), .kind = kind_of_mpi()};
}

Word object_of(const char* name) {
  const Object* const object = entry_of(objects, name);
  return object == nullptr ? 0 : reinterpret_cast<Word>(object->place);
}

Function find_function(const char* name) {
  const Linked* const linked = entry_of(made_by_program, name);
  if (linked != nullptr && linked->function != nullptr) return *linked->function;
  return own_call(name);
}

}  // namespace mpigauge::profile
