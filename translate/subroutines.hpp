// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a subroutine of Fortran needs: the functions of C that it calls, and its names.
#pragma once

#include "fortran.hpp"

namespace mpigauge::translate {

#include "declarations.inc"

extern "C" {
using Comm = ProgramHandle<Kind::comm>;
using Type = ProgramHandle<Kind::datatype>;
using Info = ProgramHandle<Kind::info>;
using Request = ProgramHandle<Kind::request>;
int PMPI_Init(int*, char***);
int PMPI_Init_thread(int*, char***, int, int*);
int PMPI_Info_create_env(int, char**, Info*);
int PMPI_Session_init(Info, ProgramHandle<Kind::errhandler>, ProgramHandle<Kind::session>*);
int PMPI_Type_create_darray(int, int, int, const int*, const int*, const int*, const int*, int,
                            Type, Type*);
int PMPI_Type_get_envelope(Type, int*, int*, int*, int*);
int PMPI_Type_get_contents(Type, int, int, int, int*, Wide*, Type*);
int PMPI_Type_create_darray_c(int, int, int, const Wide*, const int*, const int*, const int*, int,
                              Type, Type*);
int PMPI_Type_get_envelope_c(Type, Wide*, Wide*, Wide*, Wide*, int*);
int PMPI_Type_get_contents_c(Type, Wide, Wide, Wide, Wide, int*, Wide*, Wide*, Type*);
int PMPI_Comm_spawn(const char*, char**, int, Info, int, Comm, Comm*, int*);
int PMPI_Comm_spawn_multiple(int, char**, char***, const int*, const Info*, int, Comm, Comm*, int*);
int PMPI_Grequest_start(Function, Function, Function, void*, Request*);
int PMPI_Register_datarep(const char*, Function, Function, Function, void*);
int PMPI_Comm_idup(Comm, Comm*, Request*);
int PMPI_Comm_idup_with_info(Comm, Info, Comm*, Request*);
int PMPI_Comm_get_attr(Comm, int, void*, int*);
int PMPI_Win_get_attr(ProgramHandle<Kind::win>, int, void*, int*);
int PMPI_Comm_create_keyval(Function, Function, int*, void*);
int PMPI_Type_create_keyval(Function, Function, int*, void*);
int PMPI_Win_create_keyval(Function, Function, int*, void*);
int PMPI_Buffer_attach(void*, int);
int PMPI_Buffer_detach(void*, int*);
int PMPI_Buffer_attach_c(void*, Wide);
int PMPI_Buffer_detach_c(void*, Wide*);
int PMPI_Pcontrol(const int, ...);
double PMPI_Wtime();
double PMPI_Wtick();
}

}  // namespace mpigauge::translate

// Compilers write names in capitals or not, with none, one or two strokes behind them. Those of
// mpi_f08 take the same arguments, but for buffers in MPICH, which has other names there, too.
#define MPIGAUGE_NAMED(NAME, OTHER) MPIGAUGE_NAMED_AS(NAME, OTHER)
#define MPIGAUGE_NAMED_AS(NAME, OTHER) \
  extern "C" [[gnu::visibility("default"), gnu::weak, gnu::alias(#OTHER)]] decltype(OTHER) NAME;
#if MPIGAUGE_PROGRAM_IS_OMPI
#define MPIGAUGE_F08(LOWER)                           \
  MPIGAUGE_NAMED(mpi_##LOWER##_f08_, pmpi_##LOWER##_) \
  MPIGAUGE_NAMED(pmpi_##LOWER##_f08_, pmpi_##LOWER##_)
#define MPIGAUGE_F08_OF_BUFFERS(LOWER) MPIGAUGE_F08(LOWER)
#define MPIGAUGE_DESCRIBED(LOWER, KIND, TAKEN, ...)
#define MPIGAUGE_LARGE_DESCRIBED(LOWER, KIND)
#else
#define MPIGAUGE_F08(LOWER)                           \
  MPIGAUGE_NAMED(mpi_##LOWER##_f08_, pmpi_##LOWER##_) \
  MPIGAUGE_NAMED(pmpir_##LOWER##_f08_, pmpi_##LOWER##_)
#define MPIGAUGE_F08_OF_BUFFERS(LOWER)
#define MPIGAUGE_DESCRIBED(LOWER, KIND, TAKEN, ...)                     \
  MPIGAUGE_EXPORT void pmpir_##LOWER##_##KIND##_ TAKEN { __VA_ARGS__; } \
  MPIGAUGE_NAMED(mpi_##LOWER##_##KIND##_, pmpir_##LOWER##_##KIND##_)
#define MPIGAUGE_LARGE_DESCRIBED(LOWER, KIND)                                \
  MPIGAUGE_NAMED(mpi_##LOWER##_##KIND##_large_, pmpir_##LOWER##_c_##KIND##_) \
  MPIGAUGE_NAMED(pmpir_##LOWER##_##KIND##_large_, pmpir_##LOWER##_c_##KIND##_)
#endif
/// The name that gfortran gives to a predefined function of mpi_f08, and all names of one.
#define MPIGAUGE_OF_F08(NAME) __mpi_f08_callbacks_MOD_##NAME
#define MPIGAUGE_PREDEFINED(LOWER, UPPER) \
  MPIGAUGE_NAMED(LOWER, LOWER##_)         \
  MPIGAUGE_NAMED(LOWER##__, LOWER##_)     \
  MPIGAUGE_NAMED(UPPER, LOWER##_)         \
  MPIGAUGE_NAMED(MPIGAUGE_OF_F08(LOWER), LOWER##_)
#define MPIGAUGE_NAMES_OF_F77(LOWER, UPPER)         \
  MPIGAUGE_NAMED(mpi_##LOWER##_, pmpi_##LOWER##_)   \
  MPIGAUGE_NAMED(mpi_##LOWER##__, pmpi_##LOWER##_)  \
  MPIGAUGE_NAMED(mpi_##LOWER, pmpi_##LOWER##_)      \
  MPIGAUGE_NAMED(MPI_##UPPER, pmpi_##LOWER##_)      \
  MPIGAUGE_NAMED(pmpi_##LOWER##__, pmpi_##LOWER##_) \
  MPIGAUGE_NAMED(pmpi_##LOWER, pmpi_##LOWER##_)     \
  MPIGAUGE_NAMED(PMPI_##UPPER, pmpi_##LOWER##_)
/// By which a module leads to the same, where a program takes an address as a pointer of C.
#define MPIGAUGE_CPTR(LOWER, UPPER)                     \
  MPIGAUGE_NAMED(pmpi_##LOWER##_cptr_, pmpi_##LOWER##_) \
  MPIGAUGE_NAMES_OF_F77(LOWER##_cptr, UPPER##_CPTR)
#define MPIGAUGE_NAMES(LOWER, UPPER)  \
  MPIGAUGE_NAMES_OF_F77(LOWER, UPPER) \
  MPIGAUGE_F08(LOWER)
#define MPIGAUGE_UNPACK(...) __VA_ARGS__
#define MPIGAUGE_SUBROUTINE(NAME, LOWER, UPPER, TAKEN, ...)   \
  MPIGAUGE_EXPORT void pmpi_##LOWER##_ TAKEN { __VA_ARGS__; } \
  MPIGAUGE_NAMES(LOWER, UPPER)
#define MPIGAUGE_SUBROUTINE_OF_BUFFERS(NAME, LOWER, UPPER, TAKEN, ...) \
  MPIGAUGE_EXPORT void pmpi_##LOWER##_ TAKEN { __VA_ARGS__; }          \
  MPIGAUGE_NAMES_OF_F77(LOWER, UPPER)                                  \
  MPIGAUGE_F08_OF_BUFFERS(LOWER)
