// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The MPI of this process: where its functions are, which ABI it has. It is looked for at the first
// call and not before: processes that make no call of MPI pay nothing.
#pragma once

#include "abi.hpp"

namespace mpigauge::profile {

/// A function of the library.
using Function = void (*)();

/// The calls of MPI that we make ourselves; null where a library has not got one.
struct OwnCalls {
  int (*Comm_rank)(Word, int*);
  int (*Comm_size)(Word, int*);
  int (*Comm_remote_size)(Word, int*);
  int (*Comm_test_inter)(Word, int*);
  int (*Comm_group)(Word, Word*);
  int (*Comm_remote_group)(Word, Word*);
  int (*Comm_get_name)(Word, char*, int*);
  int (*Comm_get_parent)(Word*);
  int (*Group_size)(Word, int*);
  int (*Group_rank)(Word, int*);
  int (*Group_from_session_pset)(Word, const char*, Word*);
  int (*Group_translate_ranks)(Word, int, const int*, Word, int*);
  int (*Group_free)(Word*);
  int (*Type_size)(Word, int*);
  int (*Type_size_x)(Word, long long*);
  int (*Type_get_name)(Word, char*, int*);
  int (*Get_elements_x)(const Status*, Word, long long*);
  int (*Get_library_version)(char*, int*);
  int (*Query_thread)(int*);
  int (*Initialized)(int*);
  int (*Finalized)(int*);
  int (*Topo_test)(Word, int*);
  int (*Cartdim_get)(Word, int*);
  int (*Graph_neighbors_count)(Word, int, int*);
  int (*Dist_graph_neighbors_count)(Word, int*, int*, int*);
  // Handles of Fortran; of Open MPI alone, where those of C are addresses.
  Word (*Comm_f2c)(int);
  Word (*Type_f2c)(int);
  Word (*Op_f2c)(int);
  Word (*Win_f2c)(int);
  Word (*File_f2c)(int);
  Word (*Request_f2c)(int);
  Word (*Message_f2c)(int);
};

extern constinit Abi abi;
extern constinit OwnCalls mpi;

/// Finds the library for a call that came from `pc`; false when there is none whose ABI we know.
bool open_library(Word pc);

// --- where the MPI is: among the files that are loaded (loaded.cpp), or linked to us (linked.cpp)

struct FoundMpi {
  Word init = 0;  // its MPI_Init
  AbiKind kind = AbiKind::unknown;
};
/// The MPI for a call that came from `pc`.
FoundMpi find_mpi(Word pc);
/// Where an object of the MPI, or the program's copy of it, lies; 0: nowhere.
Word object_of(const char* name);
/// A function that would be found if we were not there, perhaps for the code at `pc` alone.
Function function_after_us(const char* name, Word pc);
/// A function by its name, MPI_Send for example: the library's own, never ours. Null where it has
/// none.
Function find_function(const char* name);
/// Whether a datatype is one of those that are always there.
bool is_predefined(Word type);

inline Word handle(Word word) { return word & abi.handle_bits; }
/// A handle that an argument points to.
inline Word handle_at(Word address) {
  return abi.kind == AbiKind::mpich ? value_at<std::uint32_t>(address) : value_at<Word>(address);
}
/// The n-th of an array of handles.
inline Word handle_in(Word array, std::size_t n) {
  return abi.kind == AbiKind::mpich ? value_at<std::uint32_t>(array + (4 * n))
                                    : value_at<Word>(array + (sizeof(Word) * n));
}

int source_of(const Status& status);
int tag_of(const Status& status);
/// Bytes that were received.
std::int64_t bytes_of(const Status& status);
/// Bytes of an element; 0 where the library does not tell.
std::int64_t size_of_type(Word type);

}  // namespace mpigauge::profile
