// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a subroutine of Fortran needs: the functions of C that it calls, and its names.
#pragma once

#include "fortran.hpp"

/// The function of C that a subroutine calls, and its declaration. Profilers of MPICH's programs
/// wrap the functions that MPICH's own subroutines call. Those of Open MPI's programs wrap the
/// subroutines.
#if MPIGAUGE_PROGRAM_IS_MPICH
#define MPIGAUGE_IN_C(NAME) MPI_##NAME
#else
#define MPIGAUGE_IN_C(NAME) PMPI_##NAME
#endif
#define MPIGAUGE_DECLARED(NAME, TAKEN) \
  extern "C" int PMPI_##NAME TAKEN;    \
  extern "C" int MPI_##NAME TAKEN;

namespace mpigauge::translate {

#include "declarations.inc"

using Comm = ProgramHandle<Kind::comm>;
using Type = ProgramHandle<Kind::datatype>;
using Info = ProgramHandle<Kind::info>;
using Request = ProgramHandle<Kind::request>;
MPIGAUGE_DECLARED(Init, (int*, char***))
MPIGAUGE_DECLARED(Init_thread, (int*, char***, int, int*))
MPIGAUGE_DECLARED(Info_create_env, (int, char**, Info*))
MPIGAUGE_DECLARED(Session_init,
                  (Info, ProgramHandle<Kind::errhandler>, ProgramHandle<Kind::session>*))
MPIGAUGE_DECLARED(Type_create_darray,
                  (int, int, int, const int*, const int*, const int*, const int*, int, Type, Type*))
MPIGAUGE_DECLARED(Type_get_envelope, (Type, int*, int*, int*, int*))
MPIGAUGE_DECLARED(Type_get_contents, (Type, int, int, int, int*, Wide*, Type*))
MPIGAUGE_DECLARED(Type_create_darray_c, (int, int, int, const Wide*, const int*, const int*,
                                         const int*, int, Type, Type*))
MPIGAUGE_DECLARED(Type_get_envelope_c, (Type, Wide*, Wide*, Wide*, Wide*, int*))
MPIGAUGE_DECLARED(Type_get_contents_c, (Type, Wide, Wide, Wide, Wide, int*, Wide*, Wide*, Type*))
MPIGAUGE_DECLARED(Comm_spawn, (const char*, char**, int, Info, int, Comm, Comm*, int*))
MPIGAUGE_DECLARED(Comm_spawn_multiple,
                  (int, char**, char***, const int*, const Info*, int, Comm, Comm*, int*))
MPIGAUGE_DECLARED(Grequest_start, (Function, Function, Function, void*, Request*))
MPIGAUGE_DECLARED(Register_datarep, (const char*, Function, Function, Function, void*))
MPIGAUGE_DECLARED(Comm_idup, (Comm, Comm*, Request*))
MPIGAUGE_DECLARED(Comm_idup_with_info, (Comm, Info, Comm*, Request*))
MPIGAUGE_DECLARED(Comm_get_attr, (Comm, int, void*, int*))
MPIGAUGE_DECLARED(Win_get_attr, (ProgramHandle<Kind::win>, int, void*, int*))
MPIGAUGE_DECLARED(Comm_create_keyval, (Function, Function, int*, void*))
MPIGAUGE_DECLARED(Type_create_keyval, (Function, Function, int*, void*))
MPIGAUGE_DECLARED(Win_create_keyval, (Function, Function, int*, void*))
MPIGAUGE_DECLARED(Buffer_attach, (void*, int))
MPIGAUGE_DECLARED(Buffer_detach, (void*, int*))
MPIGAUGE_DECLARED(Buffer_attach_c, (void*, Wide))
MPIGAUGE_DECLARED(Buffer_detach_c, (void*, Wide*))
MPIGAUGE_DECLARED(Op_create, (Function, int, ProgramHandle<Kind::op>*))
MPIGAUGE_DECLARED(Op_create_c, (Function, int, ProgramHandle<Kind::op>*))
MPIGAUGE_DECLARED(Comm_create_errhandler, (Function, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(Errhandler_create, (Function, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(File_create_errhandler, (Function, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(Win_create_errhandler, (Function, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(Session_create_errhandler, (Function, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(Pcontrol, (const int, ...))
extern "C" double PMPI_Wtime();
extern "C" double PMPI_Wtick();

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
