// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of Fortran that MPI-3 has taken out of the standard. Their addresses and distances are
// plain integers: of an address only the lower half is left, so that differences of two are right
// as long as they fit.
#include "subroutines.hpp"

#if !MPIGAUGE_PROGRAM_IS_STD

using namespace mpigauge::translate;  // NOLINT: what follows are the program's subroutines

MPIGAUGE_DECLARED(Address, (void*, Wide*))
MPIGAUGE_DECLARED(Errhandler_get, (Comm, ProgramHandle<Kind::errhandler>*))
MPIGAUGE_DECLARED(Errhandler_set, (Comm, ProgramHandle<Kind::errhandler>))
MPIGAUGE_DECLARED(Type_extent, (Type, Wide*))
MPIGAUGE_DECLARED(Type_hindexed, (int, int*, Wide*, Type, Type*))
MPIGAUGE_DECLARED(Type_hvector, (int, int, Wide, Type, Type*))
MPIGAUGE_DECLARED(Type_lb, (Type, Wide*))
MPIGAUGE_DECLARED(Type_struct, (int, int*, Wide*, Type*, Type*))
MPIGAUGE_DECLARED(Type_ub, (Type, Wide*))

namespace {

using OutErrhandler = fortran::Out<Kind::errhandler>;
using Datatype = fortran::In<Kind::datatype>;
using Made = fortran::Out<Kind::datatype>;

/// A distance in bytes that is given.
class Distance : public Base<int*, Wide> {
 public:
  template <class All>
  Distance(const int* place, const All&) : value_(*place) {}
  [[nodiscard]] Wide target() const { return value_; }

 private:
  Wide value_;
};

/// One that is asked for.
class DistanceOut : public Base<int*, Wide*> {
 public:
  template <class All>
  DistanceOut(int* place, const All&) : place_(place) {}
  Wide* target() { return &value_; }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0) *place_ = static_cast<int>(value_);
  }

 private:
  int* place_;
  Wide value_ = 0;
};

/// As many as the argument at `count` says.
template <std::size_t count>
class Distances : public Base<int*, Wide*> {
 public:
  template <class All>
  Distances(const int* places, const All& all) : room_(*std::get<count>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) room_[n] = places[n];
  }
  Wide* target() { return room_.data(); }

 private:
  Room<Wide> room_;
};

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): they are lists
MPIGAUGE_SUBROUTINE(Address, address, ADDRESS, (void* location, int* address, int* ierror),
                    fortran::call<fortran::Buffer, DistanceOut>(MPIGAUGE_IN_C(Address), ierror,
                                                                std::tuple(), location, address))
MPIGAUGE_SUBROUTINE(Errhandler_get, errhandler_get, ERRHANDLER_GET,
                    (int* comm, int* handler, int* ierror),
                    fortran::call<fortran::In<Kind::comm>, OutErrhandler>(
                        MPIGAUGE_IN_C(Errhandler_get), ierror, std::tuple(), comm, handler))
MPIGAUGE_SUBROUTINE(Errhandler_set, errhandler_set, ERRHANDLER_SET,
                    (int* comm, int* handler, int* ierror),
                    fortran::call<fortran::In<Kind::comm>, fortran::In<Kind::errhandler>>(
                        MPIGAUGE_IN_C(Errhandler_set), ierror, std::tuple(), comm, handler))
MPIGAUGE_SUBROUTINE(Type_extent, type_extent, TYPE_EXTENT, (int* type, int* extent, int* ierror),
                    fortran::call<Datatype, DistanceOut>(MPIGAUGE_IN_C(Type_extent), ierror,
                                                         std::tuple(), type, extent))
MPIGAUGE_SUBROUTINE(Type_lb, type_lb, TYPE_LB, (int* type, int* lower, int* ierror),
                    fortran::call<Datatype, DistanceOut>(MPIGAUGE_IN_C(Type_lb), ierror,
                                                         std::tuple(), type, lower))
MPIGAUGE_SUBROUTINE(Type_ub, type_ub, TYPE_UB, (int* type, int* upper, int* ierror),
                    fortran::call<Datatype, DistanceOut>(MPIGAUGE_IN_C(Type_ub), ierror,
                                                         std::tuple(), type, upper))
MPIGAUGE_SUBROUTINE(Type_hvector, type_hvector, TYPE_HVECTOR,
                    (int* count, int* length, int* stride, int* old, int* made, int* ierror),
                    fortran::call<fortran::Int, fortran::Int, Distance, Datatype, Made>(
                        MPIGAUGE_IN_C(Type_hvector), ierror, std::tuple(), count, length, stride,
                        old, made))
MPIGAUGE_SUBROUTINE(Type_hindexed, type_hindexed, TYPE_HINDEXED,
                    (int* count, int* lengths, int* places, int* old, int* made, int* ierror),
                    fortran::call<fortran::Int, IntPointer, Distances<0>, Datatype, Made>(
                        MPIGAUGE_IN_C(Type_hindexed), ierror, std::tuple(count), count, lengths,
                        places, old, made))
MPIGAUGE_SUBROUTINE(Type_struct, type_struct, TYPE_STRUCT,
                    (int* count, int* lengths, int* places, int* types, int* made, int* ierror),
                    fortran::call<fortran::Int, IntPointer, Distances<0>,
                                  fortran::Array<Kind::datatype, fortran::CountAt<0>>, Made>(
                        MPIGAUGE_IN_C(Type_struct), ierror, std::tuple(count), count, lengths,
                        places, types, made))
// NOLINTEND(bugprone-macro-parentheses)

#endif
