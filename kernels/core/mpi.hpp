// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// MPI as the kernels see it: errors are exceptions, counts are 64 bits wide, calls newer than
// MPI-3.1 are looked up in the library at run time.
#pragma once

#if defined(MPIGAUGE_STANDARD_ABI)
#include <mpi_abi.h>
#else
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include <climits>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mpigauge {

/// A call of MPI that did not succeed, with the library's own words.
class MpiError : public std::runtime_error {
 public:
  explicit MpiError(int code);
};

/// Throws MpiError. Never inlined: timed loops hold nothing but the test.
[[noreturn, gnu::cold, gnu::noinline]] void fail(int code);

/// Throws MpiError unless the call succeeded.
inline void call(int code) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code);
}

/// The own rank in a communicator, and how many it has.
int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Address of a function of the opened MPI library; null where it has none of that name.
void* find_call(std::string_view name);
/// The same as a pointer of the function's own type.
template <class Function>
Function find_as(std::string_view name) {
  const void* address = find_call(name);
  Function function = nullptr;
  std::memcpy(&function, &address, sizeof function);
  return function;
}

/// The large-count calls of MPI-4 that the kernels use. A null pointer: this library has it not.
struct LargeCalls {
  int (*send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
  int (*recv)(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  int (*isend)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  int (*irecv)(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  int (*sendrecv)(const void*, MPI_Count, MPI_Datatype, int, int, void*, MPI_Count, MPI_Datatype,
                  int, int, MPI_Comm, MPI_Status*);
  int (*bcast)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
};
const LargeCalls& large_calls();

/// Elements of one type at one place: what MPI calls buffer, count and datatype.
struct Message {
  void* data = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  [[nodiscard]] bool large() const { return count > INT_MAX; }
  [[nodiscard]] int small_count() const { return static_cast<int>(count); }
};

constexpr int message_tag = 1;

/// Messages of more elements than an int counts. Never inlined: only the test is in timed loops.
namespace large {
[[gnu::cold, gnu::noinline]] void send(Message m, int to, MPI_Comm comm);
[[gnu::cold, gnu::noinline]] void recv(Message m, int from, MPI_Comm comm);
[[gnu::cold, gnu::noinline]] void isend(Message m, int to, MPI_Comm comm, MPI_Request* request);
[[gnu::cold, gnu::noinline]] void irecv(Message m, int from, MPI_Comm comm, MPI_Request* request);
[[gnu::cold, gnu::noinline]] void sendrecv(Message out, int to, Message in, int from,
                                           MPI_Comm comm);
}  // namespace large

inline void send(const Message& m, int to, MPI_Comm comm) {
  if (m.large()) [[unlikely]]
    return large::send(m, to, comm);
  call(MPI_Send(m.data, m.small_count(), m.type, to, message_tag, comm));
}

inline void recv(const Message& m, int from, MPI_Comm comm) {
  if (m.large()) [[unlikely]]
    return large::recv(m, from, comm);
  call(MPI_Recv(m.data, m.small_count(), m.type, from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
}

inline void isend(const Message& m, int to, MPI_Comm comm, MPI_Request* request) {
  if (m.large()) [[unlikely]]
    return large::isend(m, to, comm, request);
  call(MPI_Isend(m.data, m.small_count(), m.type, to, message_tag, comm, request));
}

inline void irecv(const Message& m, int from, MPI_Comm comm, MPI_Request* request) {
  if (m.large()) [[unlikely]]
    return large::irecv(m, from, comm, request);
  call(MPI_Irecv(m.data, m.small_count(), m.type, from, MPI_ANY_TAG, comm, request));
}

inline void sendrecv(const Message& out, int to, const Message& in, int from, MPI_Comm comm) {
  if (out.large()) [[unlikely]]
    return large::sendrecv(out, to, in, from, comm);
  call(MPI_Sendrecv(out.data, out.small_count(), out.type, to, message_tag, in.data,
                    in.small_count(), in.type, from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
}

inline void wait(MPI_Request* request) { call(MPI_Wait(request, MPI_STATUS_IGNORE)); }
inline void wait_all(int count, MPI_Request* requests) {
  call(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

/// Makes failed calls on `comm` return their code instead of ending the job.
void return_errors(MPI_Comm comm);

}  // namespace mpigauge
