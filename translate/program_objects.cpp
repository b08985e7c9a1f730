// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a program finds in an MPI of its ABI beside functions: objects and variables. The dynamic
// linker may copy them into the program, so their sizes are those of the real ones, and nothing in
// them changes: a predefined handle of Open MPI's has the number of its entry in its first word.
#include "call.hpp"

#define MPIGAUGE_VARIABLE extern "C" [[gnu::visibility("default")]]

#if MPIGAUGE_PROGRAM_IS_OMPI

namespace {

using mpigauge::translate::Kind;
using mpigauge::translate::Word;

constexpr std::size_t size_of(Kind kind) {
  switch (kind) {
    case Kind::comm:
    case Kind::datatype:
    case Kind::session:
    case Kind::win: return 512;
    case Kind::errhandler: return 1024;
    case Kind::file: return 1536;
    case Kind::group:
    case Kind::info:
    case Kind::message:
    case Kind::request: return 256;
    case Kind::op: return 2048;
  }
  return 0;
}

template <std::size_t size>
struct Object {
  Word entry;
  std::array<char, size - sizeof(Word)> rest;
};

}  // namespace

#define MPIGAUGE_HANDLE(...)
#define MPIGAUGE_INTEGER(...)
#define MPIGAUGE_OBJECT(KIND, NAME, ENTRY, NUMBER)    \
  MPIGAUGE_VARIABLE Object<size_of(Kind::KIND)> NAME; \
  Object<size_of(Kind::KIND)> NAME = {ENTRY, {}};
#include "constants.inc"
#undef MPIGAUGE_OBJECT

#define MPIGAUGE_FORTRAN_VARIABLE(NAME, SIZE)    \
  MPIGAUGE_VARIABLE std::array<char, SIZE> NAME; \
  std::array<char, SIZE> NAME {}

namespace mpigauge::translate {

Word program_object(std::size_t entry) {
  static const std::array addresses = {
#define MPIGAUGE_OBJECT(KIND, NAME, ENTRY, NUMBER) \
  std::pair<std::size_t, const void*>{ENTRY, &NAME},
#include "constants.inc"
#undef MPIGAUGE_OBJECT
  };
  const char* const wanted = predefined[entry].ompi;
  if (wanted == nullptr) return no_value;
  for (const auto& [number, address] : addresses) {
    if (std::strcmp(predefined[number].ompi, wanted) == 0) return reinterpret_cast<Word>(address);
  }
  return no_value;
}

int* own_unweighted() { return static_cast<int*>(address_of(Program::MPI_UNWEIGHTED)); }
int* own_weights_empty() { return static_cast<int*>(address_of(Program::MPI_WEIGHTS_EMPTY)); }
void* own_all_handles() { return address_of(Program::MPI_T_PVAR_ALL_HANDLES); }

}  // namespace mpigauge::translate

#else

namespace mpigauge::translate {
Word program_object(std::size_t) { return no_value; }
}  // namespace mpigauge::translate

#endif

#if MPIGAUGE_PROGRAM_IS_MPICH

namespace {
int unweighted, weights_empty, all_handles;
}  // namespace

MPIGAUGE_VARIABLE int* const MPI_UNWEIGHTED;
int* const MPI_UNWEIGHTED = &unweighted;
MPIGAUGE_VARIABLE int* const MPI_WEIGHTS_EMPTY;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;
MPIGAUGE_VARIABLE void* const MPI_T_PVAR_ALL_HANDLES;
void* const MPI_T_PVAR_ALL_HANDLES = &all_handles;

namespace mpigauge::translate {
int* own_unweighted() { return &unweighted; }
int* own_weights_empty() { return &weights_empty; }
void* own_all_handles() { return &all_handles; }
}  // namespace mpigauge::translate

#elif MPIGAUGE_PROGRAM_IS_STD

namespace mpigauge::translate {
int* own_unweighted() { return static_cast<int*>(address_of(Program::MPI_UNWEIGHTED)); }
int* own_weights_empty() { return static_cast<int*>(address_of(Program::MPI_WEIGHTS_EMPTY)); }
void* own_all_handles() { return address_of(Program::MPI_T_PVAR_ALL_HANDLES); }
}  // namespace mpigauge::translate

#endif

// Where Fortran has its MPI_STATUS_IGNORE: C asks whether it is given that.
#if !MPIGAUGE_PROGRAM_IS_STD
MPIGAUGE_VARIABLE int* MPI_F_STATUS_IGNORE;
MPIGAUGE_VARIABLE int* MPI_F_STATUSES_IGNORE;
MPIGAUGE_VARIABLE void* MPI_F08_STATUS_IGNORE;
MPIGAUGE_VARIABLE void* MPI_F08_STATUSES_IGNORE;
namespace {
std::array<int, 8> ignored;
}
int* MPI_F_STATUS_IGNORE = ignored.data();
int* MPI_F_STATUSES_IGNORE = ignored.data();
void* MPI_F08_STATUS_IGNORE = ignored.data();
void* MPI_F08_STATUSES_IGNORE = ignored.data();
#endif
