// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of Fortran, as calls of C of the same ABI: all arguments come by their address, handles as
// integers, texts with their length behind all others. These parameters are to the calls of C what
// those of parameters.hpp are to the target's.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "fortran_handles.hpp"

namespace mpigauge::translate::fortran {

/// What a variable of Fortran stands for, by its address; see fortran.cpp.
void* buffer_of(void* address);
bool is_status_ignored(const void* address);
int* errors_of(int* address);
int* weights_of(int* address);
bool is_argv_null(const void* address);
/// What C gets for an attribute of Fortran, by its value; see fortran_attributes.cpp.
void* attribute_of(Wide value);

/// The error code, where it was asked for: mpi_f08 may leave it out.
inline void tell(int* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

template <class Type>
class Value : public Base<Type*, Type> {
 public:
  template <class All>
  Value(Type* place, const All&) : value_(*place) {}
  [[nodiscard]] Type target() const { return value_; }

 private:
  Type value_;
};
using Int = Value<int>;
using Long = Value<Wide>;

class Logical : public Base<int*, int> {
 public:
  template <class All>
  Logical(int* place, const All&) : value_(*place != 0 ? 1 : 0) {}
  [[nodiscard]] int target() const { return value_; }

 private:
  int value_;
};

class Buffer : public Base<void*> {
 public:
  template <class All>
  Buffer(void* address, const All&) : address_(buffer_of(address)) {}
  [[nodiscard]] void* target() const { return address_; }

 private:
  void* address_;
};

/// Fortran has no use for the address that a buffer had.
class NoAddress : public Base<void*, void**> {
 public:
  template <class All>
  NoAddress(void*, const All&) {}
  void** target() { return &address_; }

 private:
  void* address_ = nullptr;
};

/// An attribute's value, which C gets the address of.
class Attribute : public Base<Wide*, void*> {
 public:
  template <class All>
  Attribute(Wide* place, const All&) : value_(*place) {}
  [[nodiscard]] void* target() const { return attribute_of(value_); }

 private:
  Wide value_;
};

class Status : public Base<ProgramStatus*> {
 public:
  template <class All>
  Status(ProgramStatus* status, const All&) : status_(status) {}
  [[nodiscard]] ProgramStatus* target() const {
    using From = Constants<program_abi>;
    if (!is_status_ignored(status_)) return status_;
    return static_cast<ProgramStatus*>(address_of(From::MPI_STATUS_IGNORE));
  }

 private:
  ProgramStatus* status_;
};

class Errors : public Base<int*> {
 public:
  template <class All>
  Errors(int* errors, const All&) : errors_(errors_of(errors)) {}
  [[nodiscard]] int* target() const { return errors_; }

 private:
  int* errors_;
};

class Weights : public Base<int*> {
 public:
  template <class All>
  Weights(int* weights, const All&) : weights_(weights_of(weights)) {}
  [[nodiscard]] int* target() const { return weights_; }

 private:
  int* weights_;
};

// --- numbers of requests, counted from 1 --------------------------------------------------------

class Index : public Base<int*> {
 public:
  template <class All>
  Index(int* place, const All&) : place_(place) {}
  [[nodiscard]] int* target() const { return place_; }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0 && *place_ >= 0) ++*place_;
  }

 private:
  int* place_;
};

template <std::size_t count>
class Indices : public Base<int*> {
 public:
  template <class All>
  Indices(int* places, const All&) : places_(places) {}
  [[nodiscard]] int* target() const { return places_; }
  template <class All>
  void done(int, const All& all) const {
    for (int n = 0; n < *std::get<count>(all); ++n) ++places_[n];
  }

 private:
  int* places_;
};

// --- handles ------------------------------------------------------------------------------------

template <Kind kind>
class In : public Base<int*, ProgramHandle<kind>> {
 public:
  template <class All>
  In(int* place, const All&) : handle_(from_fortran<kind>(*place)) {}
  [[nodiscard]] ProgramHandle<kind> target() const { return handle_; }

 private:
  ProgramHandle<kind> handle_;
};

template <Kind kind>
class Out : public Base<int*, ProgramHandle<kind>*> {
 public:
  template <class All>
  Out(int* place, const All&) : place_(place) {}
  ProgramHandle<kind>* target() { return &handle_; }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0) *place_ = to_fortran<kind>(handle_);
  }

 private:
  int* place_;
  ProgramHandle<kind> handle_ = null_for_program<kind>();
};

template <Kind kind>
class InOut : public Base<int*, ProgramHandle<kind>*> {
 public:
  template <class All>
  InOut(int* place, const All&) : place_(place), handle_(from_fortran<kind>(*place)) {}
  ProgramHandle<kind>* target() { return &handle_; }
  template <class All>
  void done(int, const All&) const {
    if (handle_ != null_for_program<kind>()) return;
    forget_number<kind>(*place_);
    *place_ = to_fortran<kind>(handle_);
  }

 private:
  int* place_;
  ProgramHandle<kind> handle_;
};

/// Handles of an array; those that become null are null in Fortran, too.
template <Kind kind, class Length>
class Array : public Base<int*, ProgramHandle<kind>*> {
 public:
  template <class All>
  Array(int* numbers, const All& all) : numbers_(numbers), room_(Length::of(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) room_[n] = from_fortran<kind>(numbers[n]);
  }
  ProgramHandle<kind>* target() { return room_.data(); }
  template <class All>
  void done(int, const All&) {
    if constexpr (kind == Kind::request) {
      for (std::size_t n = 0; n < room_.size(); ++n) {
        if (room_[n] != null_for_program<kind>()) continue;
        forget_number<kind>(numbers_[n]);
        numbers_[n] = to_fortran<kind>(room_[n]);
      }
    }
  }

 private:
  int* numbers_;
  Room<ProgramHandle<kind>> room_;
};

template <Kind kind, std::size_t count>
class ArrayOut : public Base<int*, ProgramHandle<kind>*> {
 public:
  template <class All>
  ArrayOut(int* numbers, const All& all) : numbers_(numbers), room_(*std::get<count>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) room_[n] = null_for_program<kind>();
  }
  ProgramHandle<kind>* target() { return room_.data(); }
  template <class All>
  void done(int code, const All&) {
    if (code != 0) return;
    for (std::size_t n = 0; n < room_.size(); ++n) {
      if (room_[n] != null_for_program<kind>()) numbers_[n] = to_fortran<kind>(room_[n]);
    }
  }

 private:
  int* numbers_;
  Room<ProgramHandle<kind>> room_;
};

template <std::size_t count>
struct CountAt {
  template <class All>
  static Wide of(const All& all) {
    return *std::get<count>(all);
  }
};
template <std::size_t comm, Among among>
struct MembersOf {
  template <class All>
  static Wide of(const All& all) {
    const auto own = from_fortran<Kind::comm>(*std::get<comm>(all));
    return members(to_target<Kind::comm>(own), among);
  }
};

// --- texts --------------------------------------------------------------------------------------

/// A text of Fortran without the blanks around it.
inline std::string without_blanks(const char* text, std::size_t length) {
  std::string found(text, length);
  found.erase(found.find_last_not_of(' ') + 1);
  found.erase(0, found.find_first_not_of(' '));
  return found;
}

/// A text without the blanks around it. Its length is the argument at `length`.
template <std::size_t length>
class Text : public Base<char*, const char*> {
 public:
  template <class All>
  Text(const char* text, const All& all)
      : text_(without_blanks(text,
                             static_cast<std::size_t>(static_cast<int>(std::get<length>(all))))) {}
  const char* target() const { return text_.c_str(); }

 private:
  std::string text_;
};

/// Room for a text, which is filled with blanks. It stays as it is where the argument at `flag`
/// says that there is none.
template <std::size_t length, int flag>
class TextOut : public Base<char*> {
 public:
  template <class All>
  TextOut(char* place, const All& all)
      : place_(place), size_(static_cast<std::size_t>(static_cast<int>(std::get<length>(all)))) {}
  char* target() { return room_; }
  template <class All>
  void done(int code, const All& all) {
    if (code != 0) return;
    if constexpr (flag >= 0) {
      if (*std::get<static_cast<std::size_t>(flag)>(all) == 0) return;
    }
    const std::size_t written = std::min(std::strlen(room_), size_);
    std::memcpy(place_, room_, written);
    std::memset(place_ + written, ' ', size_ - written);
  }

 private:
  char* place_;
  std::size_t size_;
  char room_[8200] = {};
};

/// Arguments of a program to be started: texts of one length, of which a blank one is the last.
template <std::size_t length>
class Arguments : public Base<char*, char**> {
 public:
  template <class All>
  Arguments(char* texts, const All& all) {
    if (is_argv_null(texts)) return;
    const auto size = static_cast<std::size_t>(static_cast<int>(std::get<length>(all)));
    for (const char* each = texts;; each += size) {
      std::string text(each, size);
      text.erase(text.find_last_not_of(' ') + 1);
      if (text.empty()) break;
      texts_.push_back(text);
    }
    for (std::string& each : texts_) places_.push_back(each.data());
    places_.push_back(nullptr);
  }
  char** target() { return places_.empty() ? nullptr : places_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> places_;
};

/// The length of a text, which is not an argument of C.
struct Hidden : Base<std::size_t> {
  template <class All>
  Hidden(std::size_t, const All&) {}
};

// --- the call -----------------------------------------------------------------------------------

template <class... Parameters>
struct Subroutine {
  template <class... Words, class All, class... Made>
  static int run(int (*function)(Words...), const All& all, Made&&... made) {
    const int code = function(reinterpret_words<Words>(made.target())...);
    (made.done(code, all), ...);
    return code;
  }

 private:
  template <class To, class From>
  static To reinterpret_words(From from) {
    if constexpr (std::is_same_v<To, From>) {
      return from;
    } else if constexpr (std::is_pointer_v<To>) {
      return (To)from;  // NOLINT: pointers to what is laid out alike
    } else {
      return static_cast<To>(from);
    }
  }
};

/// Calls a function of C with what Fortran gave; `ierror` may be left out by mpi_f08.
template <class... Parameters, class... Words, class All, class... Given>
void call(int (*function)(Words...), int* ierror, const All& all, Given... given) {
  function_of<call_Initialized>();  // tables are filled when the target is opened
  tell(ierror, Subroutine<Parameters...>::run(function, all, Parameters(given, all)...));
}

}  // namespace mpigauge::translate::fortran
