// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/window.hpp"

namespace mpigauge {

namespace {

// As for communicators, not MPI_ERRORS_RETURN.
void leave_to_caller(MPI_Win*, int*, ...) {}  // NOLINT(modernize-avoid-variadic-functions)

}  // namespace

void return_window_errors(MPI_Win window) {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    call(MPI_Win_create_errhandler(leave_to_caller, &made));
    return made;
  }();
  call(MPI_Win_set_errhandler(window, handler));
}

MPI_Win make_window(void* base, std::size_t bytes, MPI_Comm comm) {
  MPI_Win window = MPI_WIN_NULL;
  call(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &window));
  return_window_errors(window);
  return window;
}

std::size_t wrong_contribution(const Run& run, const Block& got, int rank) {
  if (!run.checking()) return 0;
  run.refresh();
  const DataType& type = got.type();
  std::vector<std::byte> period(pattern_period * type.bytes);
  type.fill(run.op_name(), rank, 0, period.data(), pattern_period);
  return wrong_elements(type, period, 0, got.bytes());
}

}  // namespace mpigauge
