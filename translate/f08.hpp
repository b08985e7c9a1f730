// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of mpi_f08 as MPICH has it. They are those of mpif.h, but that a buffer comes as a
// descriptor: it may be a section of an array, whose elements do not lie next to each other.
#pragma once

#include "fortran.hpp"

namespace mpigauge::translate::f08 {

/// An array or a section of one, as gfortran (from version 9 on) describes it to subroutines that
/// take any type and any rank. Strides are counted in spans, spans and elements in bytes.
struct Descriptor {
  struct Dimension {
    std::ptrdiff_t stride, lower, upper;
  };
  void* base;
  std::size_t offset;
  std::size_t element;
  int version;
  signed char rank, type;
  short attribute;
  std::ptrdiff_t span;
  Dimension dimensions[15];
};

/// A buffer that a descriptor stands for.
class Section {
 public:
  /// Ends the process where another compiler has made the descriptor.
  explicit Section(const void* descriptor);

  /// Whether its elements lie next to each other, as those of whole arrays do.
  [[nodiscard]] bool is_contiguous() const { return is_contiguous_; }
  /// Where its first element is; what stands for a place is already the one of C.
  [[nodiscard]] void* address() const;
  /// How many bytes its elements have together.
  [[nodiscard]] std::size_t bytes() const;
  /// Copies its elements to a buffer without gaps, or back.
  void pack(char* to) const;
  void unpack(const char* from) const;
  /// A committed type that lays `count` items of `type` over the elements. False: it cannot, as the
  /// type has gaps itself, or is not a whole part of an element, or the elements are too few.
  bool make_type(Wide count, ProgramHandle<Kind::datatype> type,
                 ProgramHandle<Kind::datatype>* made) const;

 private:
  template <class Do>
  void each_element(Do do_it) const;
  [[nodiscard]] Wide extent(int dimension) const;
  [[nodiscard]] std::ptrdiff_t step(int dimension) const;

  const Descriptor& descriptor_;
  bool is_contiguous_;
};

/// A buffer that must lie in one piece, as no copy of it would do.
template <bool checked>
class Place : public translate::Base<void*> {
 public:
  template <class All>
  Place(void* descriptor, const All&) : section_(descriptor) {}
  [[nodiscard]] void* target() const { return section_.address(); }
  [[nodiscard]] bool fits() const { return !checked || section_.is_contiguous(); }

 private:
  Section section_;
};
/// MPI only asks where it is, or takes one element.
using Address = Place<false>;
/// MPI has it longer than the call.
using InOnePiece = Place<true>;

/// A buffer of a call that is done with it when it returns: a section is handed on as a copy, which
/// goes back where MPI may have written to it.
template <bool written>
class Copied : public translate::Base<void*> {
 public:
  template <class All>
  Copied(void* descriptor, const All&) : section_(descriptor) {
    if (section_.is_contiguous()) return;
    copy_.resize(section_.bytes());
    section_.pack(copy_.data());
  }
  [[nodiscard]] void* target() {
    return section_.is_contiguous() ? section_.address() : static_cast<void*>(copy_.data());
  }
  template <class All>
  void done(int, const All&) const {
    if (written && !section_.is_contiguous()) section_.unpack(copy_.data());
  }

 private:
  Section section_;
  std::vector<char> copy_;
};

/// The count and the type that belong to the buffer at `buffer`, of a call that returns before MPI
/// is done: a section is one item of a type that is laid over it.
template <std::size_t buffer, class Number>
class Count : public translate::Base<Number*, Number> {
 public:
  template <class All>
  Count(Number* place, const All& all) : value_(*place) {
    if (!Section(std::get<buffer>(all)).is_contiguous()) value_ = 1;
  }
  [[nodiscard]] Number target() const { return value_; }

 private:
  Number value_;
};
template <std::size_t buffer, std::size_t count>
class Type : public translate::Base<int*, ProgramHandle<Kind::datatype>> {
 public:
  template <class All>
  Type(int* place, const All& all) : type_(from_fortran<Kind::datatype>(*place)) {
    const Section section(std::get<buffer>(all));
    if (section.is_contiguous()) return;
    fits_ = section.make_type(*std::get<count>(all), type_, &type_);
    is_made_ = fits_;
  }
  [[nodiscard]] ProgramHandle<Kind::datatype> target() const { return type_; }
  [[nodiscard]] bool fits() const { return fits_; }
  template <class All>
  void done(int, const All&);

 private:
  ProgramHandle<Kind::datatype> type_;
  bool fits_ = true, is_made_ = false;
};

void free_type(ProgramHandle<Kind::datatype> type);

template <std::size_t buffer, std::size_t count>
template <class All>
void Type<buffer, count>::done(int, const All&) {
  if (is_made_) free_type(type_);  // MPI keeps it as long as it needs it
}

/// A buffer that MPI gives back, as an address of C.
class Returned : public translate::Base<void*, void**> {
 public:
  template <class All>
  Returned(void* place, const All&) : place_(static_cast<void**>(place)) {}
  [[nodiscard]] void** target() const { return place_; }

 private:
  void** place_;
};

template <Call call, class... Parameters, class... Words, class All, class... Made>
int run(int (*function)(Words...), const All& all, Made&&... made) {
  if (!(made.fits() && ...)) {
    return refuse(name_of(call),
                  "the section of an array that it was given cannot be handed on: its elements do "
                  "not lie next to each other, and MPI has them longer than the call",
                  Target::MPI_ERR_BUFFER);
  }
  return fortran::Subroutine<Parameters...>::run(function, all, made...);
}

/// Calls a function of C with what mpi_f08 gave; `ierror` may be left out.
template <Call call, class... Parameters, class... Words, class All, class... Given>
void described(int (*function)(Words...), int* ierror, const All& all, Given... given) {
  function_of<call_Initialized>();  // tables are filled when the target is opened
  fortran::tell(ierror, run<call, Parameters...>(function, all, Parameters(given, all)...));
}

}  // namespace mpigauge::translate::f08
