// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/mpi.hpp"

#include <dlfcn.h>

#include <array>

namespace mpigauge {

namespace {

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "MPI error code " + std::to_string(code);
  }
  return text.data();
}

// Not MPI_ERRORS_RETURN: its value in the standard ABI differs between released libraries.
void leave_to_caller(MPI_Comm*, int*, ...) {}  // NOLINT(modernize-avoid-variadic-functions)

}  // namespace

void fail(int code) { throw MpiError(code); }

MpiError::MpiError(int code) : std::runtime_error(error_text(code)) {}

void* find_call(std::string_view name) { return dlsym(RTLD_DEFAULT, std::string(name).c_str()); }

const LargeCalls& large_calls() {
  static const LargeCalls found{
      .send = find_as<decltype(LargeCalls::send)>("MPI_Send_c"),
      .recv = find_as<decltype(LargeCalls::recv)>("MPI_Recv_c"),
      .isend = find_as<decltype(LargeCalls::isend)>("MPI_Isend_c"),
      .irecv = find_as<decltype(LargeCalls::irecv)>("MPI_Irecv_c"),
      .sendrecv = find_as<decltype(LargeCalls::sendrecv)>("MPI_Sendrecv_c"),
      .bcast = find_as<decltype(LargeCalls::bcast)>("MPI_Bcast_c"),
  };
  return found;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  call(MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  call(MPI_Comm_size(comm, &size));
  return size;
}

namespace large {

void send(Message m, int to, MPI_Comm comm) {
  call(large_calls().send(m.data, m.count, m.type, to, message_tag, comm));
}

void recv(Message m, int from, MPI_Comm comm) {
  call(large_calls().recv(m.data, m.count, m.type, from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
}

void isend(Message m, int to, MPI_Comm comm, MPI_Request* request) {
  call(large_calls().isend(m.data, m.count, m.type, to, message_tag, comm, request));
}

void irecv(Message m, int from, MPI_Comm comm, MPI_Request* request) {
  call(large_calls().irecv(m.data, m.count, m.type, from, MPI_ANY_TAG, comm, request));
}

void sendrecv(Message out, int to, Message in, int from, MPI_Comm comm) {
  call(large_calls().sendrecv(out.data, out.count, out.type, to, message_tag, in.data, in.count,
                              in.type, from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
}

}  // namespace large

void return_errors(MPI_Comm comm) {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    call(MPI_Comm_create_errhandler(leave_to_caller, &made));
    return made;
  }();
  call(MPI_Comm_set_errhandler(comm, handler));
}

}  // namespace mpigauge
