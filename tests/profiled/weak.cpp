// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A library that a program opens: it refers to calls weakly, as one that is made for several MPIs.
// Which arguments they have does not matter here.
#include <cstdio>

#define WEAK(NAME) extern "C" [[gnu::weak]] int NAME()

WEAK(MPI_Send_c);
WEAK(MPI_Win_create_c);
WEAK(MPI_Isendrecv);
WEAK(MPI_Session_init);
WEAK(MPI_Buffer_flush);
WEAK(MPI_Abi_get_version);
WEAK(MPI_Barrier);

extern "C" void say_what_is_there() {
#define SAY(NAME) std::printf(#NAME " %d\n", &NAME != nullptr ? 1 : 0)
  SAY(MPI_Send_c);
  SAY(MPI_Win_create_c);
  SAY(MPI_Isendrecv);
  SAY(MPI_Session_init);
  SAY(MPI_Buffer_flush);
  SAY(MPI_Abi_get_version);
  SAY(MPI_Barrier);
}
