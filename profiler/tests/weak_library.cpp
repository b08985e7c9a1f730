// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A library that makes calls of MPI only where there are any.
extern "C" {
[[gnu::weak]] int MPI_Barrier(void*);     // the MPI has it
[[gnu::weak]] int MPI_Ibarrier(void*);    // only we have it
[[gnu::weak]] int MPI_No_such_call(int);  // nobody has it
[[gnu::weak]] int MPX_of_program();       // the program has it
[[gnu::visibility("default")]] unsigned WEAK_REFERENCES();
}

namespace {

using Function = void (*)();
// Written by the linker, as the tables are by which code comes to its calls.
Function volatile table[] = {reinterpret_cast<Function>(MPI_Barrier),
                             reinterpret_cast<Function>(MPI_Ibarrier),
                             reinterpret_cast<Function>(MPX_of_program)};

}  // namespace

// A bit for each that is not null.
unsigned WEAK_REFERENCES() {
  unsigned bits = 0;
  bits |= MPI_Barrier != nullptr ? 1U : 0U;
  bits |= MPI_Ibarrier != nullptr ? 2U : 0U;
  bits |= MPX_of_program != nullptr ? 4U : 0U;
  bits |= MPI_No_such_call != nullptr ? 8U : 0U;
  bits |= table[1] != nullptr ? 16U : 0U;
  bits |= table[0] != nullptr ? 32U : 0U;
  bits |= table[2] != nullptr ? 64U : 0U;
  return bits;
}
