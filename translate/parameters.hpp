// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What each kind of parameter becomes on its way. A parameter is made of what the program gave (and
// of all that it gave, where others say how much), has a word for the target, and is told when the
// call is done.
#pragma once

#include <cstdlib>
#include <limits>
#include <tuple>

#include "handles.hpp"
#include "requests.hpp"
#include "status.hpp"
#include "target.hpp"

namespace mpigauge::translate {

/// As it is.
template <class Type>
class Same {
 public:
  using Program = Type;
  using Target = Type;
  template <class All>
  Same(Type value, const All&) : value_(value) {}
  Type target() const { return value_; }
  template <class All>
  void done(int, const All&) const {}
  [[nodiscard]] static constexpr bool fits() { return true; }

 private:
  Type value_;
};
using Int = Same<int>;
using Long = Same<Wide>;
using Pointer = Same<void*>;
using IntPointer = Same<int*>;

/// What all that follow have in common.
template <class Type, class TargetType = Type>
struct Base {
  using Program = Type;
  using Target = TargetType;
  template <class All>
  void done(int, const All&) const {}
  [[nodiscard]] static constexpr bool fits() { return true; }
};

/// Room for so many of something: on the stack, where they are few.
template <class Type, std::size_t few = 64>
class Room {
 public:
  explicit Room(Wide count) : count_(count < 0 ? 0 : static_cast<std::size_t>(count)) {
    if (count_ > few) all_ = static_cast<Type*>(std::malloc(count_ * sizeof(Type)));
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (all_ != some_) std::free(all_);
  }
  Type& operator[](std::size_t n) { return all_[n]; }
  Type* data() { return all_; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::size_t count_;
  Type some_[few];
  Type* all_ = some_;
};

// --- numbers ------------------------------------------------------------------------------------

class Rank : public Base<int> {
 public:
  template <class All>
  Rank(int rank, const All&) : rank_(rank) {}
  [[nodiscard]] int target() const {
    return rank_ >= 0 ? rank_ : translate::to_target<Group::rank>(rank_);
  }

 private:
  int rank_;
};

class Tag : public Base<int> {
 public:
  template <class All>
  Tag(int tag, const All&) : tag_(tag) {}
  [[nodiscard]] int target() const {
    using From = Constants<program_abi>;
    using To = Constants<target_abi>;
    if constexpr (From::MPI_ANY_TAG == To::MPI_ANY_TAG) return tag_;
    return tag_ == From::MPI_ANY_TAG ? To::MPI_ANY_TAG : tag_;
  }

 private:
  int tag_;
};

inline int rank_to_program(int rank) { return rank >= 0 ? rank : to_program<Group::rank>(rank); }
inline int tag_to_program(int tag) {
  return tag == Target::MPI_ANY_TAG ? Program::MPI_ANY_TAG : tag;
}

int keyval_to_target(int keyval);
int keyval_to_program(int keyval);

/// An integer that one function translates.
template <int (*translated)(int)>
class In1 : public Base<int> {
 public:
  template <class All>
  In1(int value, const All&) : value_(value) {}
  [[nodiscard]] int target() const { return translated(value_); }

 private:
  int value_;
};
/// An integer that the target gives.
template <int (*translated)(int)>
class Out1 : public Base<int*> {
 public:
  template <class All>
  Out1(int* place, const All&) : place_(place) {}
  int* target() { return place_ == nullptr ? nullptr : &value_; }
  template <class All>
  void done(int code, const All&) {
    if (place_ != nullptr && (code == 0 || value_ != untouched)) *place_ = translated(value_);
  }

 private:
  static constexpr int untouched = INT_MIN + 3;
  int* place_;
  int value_ = untouched;
};
template <Group group>
using InOf = In1<to_target<group>>;
template <Group group>
using OutOf = Out1<to_program<group>>;
template <Group group>
using InBits = In1<bits_to_target<group>>;
template <Group group>
using OutBits = Out1<bits_to_program<group>>;
using ErrorIn = In1<error_to_target>;
using ErrorOut = Out1<error_to_program>;
using MadeErrorOut = Out1<made_error_to_program>;
using RankOut = Out1<rank_to_program>;
using TagOut = Out1<tag_to_program>;
using KeyvalIn = In1<keyval_to_target>;
using KeyvalOut = Out1<keyval_to_program>;

class KeyvalInOut : public Base<int*> {
 public:
  template <class All>
  KeyvalInOut(int* place, const All&) : place_(place), value_(keyval_to_target(*place)) {}
  int* target() { return &value_; }
  template <class All>
  void done(int, const All&) const {
    *place_ = keyval_to_program(value_);
  }

 private:
  int* place_;
  int value_;
};

/// What is known of a keyval of the target is there as long as it, or an attribute of it; nothing
/// is known of predefined ones.
void* hold_keyval(Kind kind, int number);
void let_keyval_go(void* held);
void forget_keyval(Kind kind, int number);

/// A keyval of which an attribute is set.
template <Kind kind>
class KeyvalSet : public Base<int> {
 public:
  template <class All>
  KeyvalSet(int keyval, const All&)
      : keyval_(keyval_to_target(keyval)), held_(hold_keyval(kind, keyval_)) {}
  [[nodiscard]] int target() const { return keyval_; }
  template <class All>
  void done(int code, const All&) const {
    if (code != 0) let_keyval_go(held_);
  }

 private:
  int keyval_;
  void* held_;
};

/// A keyval that is freed.
template <Kind kind>
class KeyvalFreed : public KeyvalInOut {
 public:
  template <class All>
  KeyvalFreed(int* place, const All& all) : KeyvalInOut(place, all), before_(*target()) {}
  template <class All>
  void done(int code, const All& all) const {
    KeyvalInOut::done(code, all);
    if (code == 0) forget_keyval(kind, before_);
  }

 private:
  int before_;
};

/// An offset in a file, or where the file pointer is.
class Offset : public Base<Wide> {
 public:
  template <class All>
  Offset(Wide offset, const All&) : offset_(offset) {}
  [[nodiscard]] Wide target() const {
    using From = Constants<program_abi>;
    using To = Constants<target_abi>;
    return offset_ == From::MPI_DISPLACEMENT_CURRENT ? To::MPI_DISPLACEMENT_CURRENT : offset_;
  }

 private:
  Wide offset_;
};

/// Ranks of an array, which may hold MPI_PROC_NULL; as many as a parameter says.
template <std::size_t count>
class Ranks : public Base<const int*> {
 public:
  template <class All>
  Ranks(const int* ranks, const All& all) : room_(std::get<count>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) {
      room_[n] = ranks[n] >= 0 ? ranks[n] : translate::to_target<Group::rank>(ranks[n]);
    }
  }
  const int* target() { return room_.data(); }

 private:
  Room<int> room_;
};
template <std::size_t count>
class RanksOut : public Base<int*> {
 public:
  template <class All>
  RanksOut(int* ranks, const All&) : ranks_(ranks) {}
  int* target() { return ranks_; }
  template <class All>
  void done(int code, const All& all) {
    if (code != 0) return;
    for (int n = 0; n < std::get<count>(all); ++n) ranks_[n] = rank_to_program(ranks_[n]);
  }

 private:
  int* ranks_;
};

// --- addresses ----------------------------------------------------------------------------------

void* special_to_target(void* address);
void* special_to_program(void* address);

/// Where data are, or what stands for that.
class Buffer : public Base<void*> {
 public:
  template <class All>
  Buffer(void* address, const All&) : address_(address) {}
  [[nodiscard]] void* target() const {
    using From = Constants<program_abi>;
    using To = Constants<target_abi>;
    if constexpr (From::MPI_IN_PLACE == To::MPI_IN_PLACE) return address_;
    // What stands for something lies within two of nothing.
    return reinterpret_cast<Word>(address_) + 2 > 4 ? address_ : special_to_target(address_);
  }

 private:
  void* address_;
};

/// An address that the target gives, which may stand for something.
class BufferOut : public Base<void**> {
 public:
  template <class All>
  BufferOut(void** place, const All&) : place_(place) {}
  void** target() { return place_; }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0) *place_ = special_to_program(*place_);
  }

 private:
  void** place_;
};

/// What the program has for MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY and MPI_T_PVAR_ALL_HANDLES.
int* own_unweighted();
int* own_weights_empty();
void* own_all_handles();
int* weights_to_target(int* weights);

class Weights : public Base<int*> {
 public:
  template <class All>
  Weights(int* weights, const All&) : weights_(weights) {}
  [[nodiscard]] int* target() const { return weights_to_target(weights_); }

 private:
  int* weights_;
};

/// A text that the target writes into the program's room, which may be shorter than it expects.
void hand_over_text(char* place, const char* text, std::size_t room, int* length);

template <int room_of_program, int room_of_target, int length>
class Text : public Base<char*> {
 public:
  template <class All>
  Text(char* place, const All&) : place_(place) {}
  char* target() {
    if constexpr (room_of_program >= room_of_target) return place_;
    room_[0] = '\0';
    return place_ == nullptr ? nullptr : room_;
  }
  template <class All>
  void done(int code, const All& all) {
    if constexpr (room_of_program < room_of_target) {
      if (code != 0 || place_ == nullptr) return;
      int* said = nullptr;
      if constexpr (length >= 0) said = std::get<static_cast<std::size_t>(length)>(all);
      hand_over_text(place_, room_, room_of_program, said);
    }
  }

 private:
  char* place_;
  char room_[room_of_program < room_of_target ? room_of_target + 1 : 1];
};
#define MPIGAUGE_TEXT(NAME, CONSTANT) \
  template <int length>               \
  using NAME = Text<Program::CONSTANT, Target::CONSTANT, length>;
MPIGAUGE_TEXT(ProcessorName, MPI_MAX_PROCESSOR_NAME)
MPIGAUGE_TEXT(ErrorText, MPI_MAX_ERROR_STRING)
MPIGAUGE_TEXT(LibraryVersion, MPI_MAX_LIBRARY_VERSION_STRING)
MPIGAUGE_TEXT(ObjectName, MPI_MAX_OBJECT_NAME)
MPIGAUGE_TEXT(PortName, MPI_MAX_PORT_NAME)
MPIGAUGE_TEXT(InfoKey, MPI_MAX_INFO_KEY)
#undef MPIGAUGE_TEXT

// --- handles ------------------------------------------------------------------------------------

void* performance_handle_to_target(void* handle);

/// Of a performance variable, or what stands for all of them.
class PerformanceHandle : public Base<void*> {
 public:
  template <class All>
  PerformanceHandle(void* handle, const All&) : handle_(handle) {}
  [[nodiscard]] void* target() const { return performance_handle_to_target(handle_); }

 private:
  void* handle_;
};

template <Kind kind>
class In : public Base<ProgramHandle<kind>, TargetHandle<kind>> {
 public:
  template <class All>
  In(ProgramHandle<kind> handle, const All&) : handle_(handle) {}
  [[nodiscard]] TargetHandle<kind> target() const { return translate::to_target<kind>(handle_); }

 private:
  ProgramHandle<kind> handle_;
};

/// A new handle, or one that the program will free.
template <Kind kind, Given given = Given::made>
class Out : public Base<ProgramHandle<kind>*, TargetHandle<kind>*> {
 public:
  template <class All>
  Out(ProgramHandle<kind>* place, const All&) : place_(place) {}
  TargetHandle<kind>* target() { return place_ == nullptr ? nullptr : &handle_; }
  template <class All>
  void done(int code, const All&) {
    if (code == 0 && place_ != nullptr) *place_ = to_program<kind>(handle_, given);
  }

 private:
  ProgramHandle<kind>* place_;
  TargetHandle<kind> handle_ = null_for_target<kind>();
};

/// A handle that the call may free, and then makes null.
template <Kind kind>
class InOut : public Base<ProgramHandle<kind>*, TargetHandle<kind>*> {
 public:
  template <class All>
  InOut(ProgramHandle<kind>* place, const All&)
      : place_(place), handle_(translate::to_target<kind>(*place)), before_(handle_) {}
  TargetHandle<kind>* target() { return &handle_; }
  template <class All>
  void done(int, const All&) {
    if (handle_ == before_) return;
    if constexpr (kind == Kind::request) finished(word_of(before_));
    forget<kind>(*place_);
    *place_ = to_program<kind>(handle_, Given::seen);
  }

 private:
  ProgramHandle<kind>* place_;
  TargetHandle<kind> handle_, before_;
};

/// An array of handles that are only read.
template <Kind kind, std::size_t count>
class InArray : public Base<const ProgramHandle<kind>*, const TargetHandle<kind>*> {
 public:
  template <class All>
  InArray(const ProgramHandle<kind>* handles, const All& all) : room_(std::get<count>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) {
      room_[n] = translate::to_target<kind>(handles[n]);
    }
  }
  const TargetHandle<kind>* target() { return room_.data(); }

 private:
  Room<TargetHandle<kind>> room_;
};

/// Requests, of which some become null.
template <std::size_t count>
class Requests : public Base<ProgramHandle<Kind::request>*, TargetHandle<Kind::request>*> {
 public:
  template <class All>
  Requests(ProgramHandle<Kind::request>* handles, const All& all)
      : handles_(handles), room_(std::get<count>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) {
      room_[n] = translate::to_target<Kind::request>(handles[n]);
    }
  }
  TargetHandle<Kind::request>* target() { return room_.data(); }
  template <class All>
  void done(int, const All&) {
    const auto null = null_for_target<Kind::request>();
    const auto own = null_for_program<Kind::request>();
    const bool is_kept = things_kept();
    for (std::size_t n = 0; n < room_.size(); ++n) {
      if (room_[n] != null || handles_[n] == own) continue;
      if (is_kept) finished(word_of(translate::to_target<Kind::request>(handles_[n])));
      forget<Kind::request>(handles_[n]);
      handles_[n] = own;
    }
  }

 private:
  ProgramHandle<Kind::request>* handles_;
  Room<TargetHandle<Kind::request>> room_;
};

// --- statuses -----------------------------------------------------------------------------------

inline bool is_ignored(const void* status) {
  return status == address_of(Program::MPI_STATUS_IGNORE);
}

/// All but the error, which most calls leave as it is.

/// No error code of any MPI. Most calls leave the error of a status as it is, and some do not: what
/// the target has not written stays as the program has it.
inline constexpr int not_written = std::numeric_limits<int>::min();

inline void clear(TargetStatus& status) {
  status = {};
  status.error = not_written;
}
inline void status_to_program(const TargetStatus& from, ProgramStatus& to) {
  to.source = rank_to_program(from.source);
  to.tag = tag_to_program(from.tag);
  if (from.error != not_written) to.error = error_to_program(from.error);
  write(to, read(from, inner_of_target), inner_of_program);
}
inline void status_to_target(const ProgramStatus& from, TargetStatus& to) {
  to = {};
  to.source = from.source >= 0 ? from.source : to_target<Group::rank>(from.source);
  to.tag = from.tag == Program::MPI_ANY_TAG ? Target::MPI_ANY_TAG : from.tag;
  to.error = error_to_target(from.error);
  write(to, read(from, inner_of_program), inner_of_target);
}

class StatusIn : public Base<const ProgramStatus*, TargetStatus*> {
 public:
  template <class All>
  StatusIn(const ProgramStatus* status, const All&) {
    status_to_target(*status, status_);
  }
  TargetStatus* target() { return &status_; }

 private:
  TargetStatus status_;
};

class StatusInOut : public Base<ProgramStatus*, TargetStatus*> {
 public:
  template <class All>
  StatusInOut(ProgramStatus* status, const All&) : place_(status) {
    status_to_target(*status, status_);
  }
  TargetStatus* target() { return &status_; }
  template <class All>
  void done(int code, const All&) {
    if (code == 0) status_to_program(status_, *place_);
  }

 private:
  ProgramStatus* place_;
  TargetStatus status_;
};

/// A status that is wanted, and written where a flag says so; -1: always.
template <int flag>
class StatusOut : public Base<ProgramStatus*, TargetStatus*> {
 public:
  template <class All>
  StatusOut(ProgramStatus* status, const All&) : place_(status) {}
  TargetStatus* target() {
    clear(status_);
    return &status_;
  }
  template <class All>
  void done(int, const All& all) {
    if constexpr (flag >= 0) {
      if (*std::get<static_cast<std::size_t>(flag)>(all) == 0) return;
    }
    status_to_program(status_, *place_);
  }

 private:
  ProgramStatus* place_;
  TargetStatus status_;
};

/// Wanted statuses for `room` requests, of which the target writes all, or as many as `written`
/// says.
template <std::size_t room, int written, int flag>
class Statuses : public Base<ProgramStatus*, TargetStatus*> {
 public:
  template <class All>
  Statuses(ProgramStatus* statuses, const All& all) : place_(statuses), room_(std::get<room>(all)) {
    for (std::size_t n = 0; n < room_.size(); ++n) clear(room_[n]);
  }
  TargetStatus* target() { return room_.data(); }
  template <class All>
  void done(int code, const All& all) {
    if constexpr (flag >= 0) {
      if (code == 0 && *std::get<static_cast<std::size_t>(flag)>(all) == 0) return;
    }
    std::size_t count = room_.size();
    if constexpr (written >= 0) {
      const int said = *std::get<static_cast<std::size_t>(written)>(all);
      count = said < 0 ? 0 : static_cast<std::size_t>(said);
    }
    for (std::size_t n = 0; n < count; ++n) status_to_program(room_[n], place_[n]);
  }

 private:
  ProgramStatus* place_;
  Room<TargetStatus> room_;
};

/// A status that the program does not want, or several: nothing is translated.
class NoStatus : public Base<ProgramStatus*, TargetStatus*> {
 public:
  template <class All>
  NoStatus(ProgramStatus*, const All&) {}
  static TargetStatus* target() {
    using To = Constants<target_abi>;
    return static_cast<TargetStatus*>(address_of(To::MPI_STATUS_IGNORE));
  }
};

/// What a parameter is in a call whose status is not wanted.
template <class Parameter>
struct Unwanted {
  using Type = Parameter;
};
template <int flag>
struct Unwanted<StatusOut<flag>> {
  using Type = NoStatus;
};
template <std::size_t room, int written, int flag>
struct Unwanted<Statuses<room, written, flag>> {
  using Type = NoStatus;
};
template <class Parameter>
inline constexpr bool may_be_unwanted =
    !std::is_same_v<Parameter, typename Unwanted<Parameter>::Type>;

// --- large counts for a target without them -----------------------------------------------------

inline bool is_small(Wide value) { return value == static_cast<int>(value); }

class Narrow : public Base<Wide, int> {
 public:
  template <class All>
  Narrow(Wide value, const All&) : value_(value) {}
  [[nodiscard]] int target() const { return static_cast<int>(value_); }
  [[nodiscard]] bool fits() const { return is_small(value_); }

 private:
  Wide value_;
};

class NarrowOut : public Base<Wide*, int*> {
 public:
  template <class All>
  NarrowOut(Wide* place, const All&) : place_(place) {}
  int* target() { return &value_; }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0) *place_ = value_;
  }

 private:
  Wide* place_;
  int value_ = 0;
};

class NarrowInOut : public Base<Wide*, int*> {
 public:
  template <class All>
  NarrowInOut(Wide* place, const All&) : place_(place), value_(static_cast<int>(*place)) {}
  int* target() { return &value_; }
  [[nodiscard]] bool fits() const { return is_small(*place_); }
  template <class All>
  void done(int code, const All&) const {
    if (code == 0) *place_ = value_;
  }

 private:
  Wide* place_;
  int value_;
};

/// How many elements an array of a collective has.
enum class Among : std::uint8_t { ranks, sources, destinations };
int members(TargetHandle<Kind::comm> comm, Among among);

/// Things that a call that only starts leaves to be read until it is done.
enum class Lives : std::uint8_t { for_the_call, with_the_request };

/// Where an array's length is: a parameter, or the number of members of a communicator.
template <std::size_t count>
struct CountAt {
  template <class All>
  static Wide of(const All& all) {
    return std::get<count>(all);
  }
};
template <std::size_t comm, Among among>
struct MembersOf {
  template <class All>
  static Wide of(const All& all) {
    return members(translate::to_target<Kind::comm>(std::get<comm>(all)), among);
  }
};

/// Memory that lives until the call is over, or until its request is.
template <class Type, int request>
class Lasting {
 public:
  explicit Lasting(Wide count)
      : all_(static_cast<Type*>(
            std::malloc(static_cast<std::size_t>(count < 1 ? 1 : count) * sizeof(Type)))) {}
  Lasting(const Lasting&) = delete;
  Lasting& operator=(const Lasting&) = delete;
  ~Lasting() { std::free(all_); }
  Type* data() const { return all_; }
  template <class All>
  void hand_to_request([[maybe_unused]] int code, const All&) {
    if constexpr (request >= 0) {
      if (code != 0) return;
      // The request is the last to be told, so it is still to come: see `keep_for_next`.
      keep_for_next(all_);
      all_ = nullptr;
    }
  }

 private:
  Type* all_;
};

template <class Length, int request>
class NarrowArray : public Base<const Wide*, const int*> {
 public:
  template <class All>
  NarrowArray(const Wide* values, const All& all) : room_(values == nullptr ? 0 : Length::of(all)) {
    if (values == nullptr) return;
    const Wide count = Length::of(all);
    for (Wide n = 0; n < count; ++n) {
      room_.data()[n] = static_cast<int>(values[n]);
      fits_ = fits_ && is_small(values[n]);
    }
  }
  const int* target() const { return room_.data(); }
  [[nodiscard]] bool fits() const { return fits_; }
  template <class All>
  void done(int code, const All& all) {
    room_.hand_to_request(code, all);
  }

 private:
  Lasting<int, request> room_;
  bool fits_ = true;
};

/// The types of an alltoallw. With MPI_IN_PLACE those of the first buffer mean nothing.
template <class Length, int request, int buffer>
class Types
    : public Base<const ProgramHandle<Kind::datatype>*, const TargetHandle<Kind::datatype>*> {
 public:
  template <class All>
  Types(const ProgramHandle<Kind::datatype>* types, const All& all)
      : room_(means_nothing(types, all) ? 0 : Length::of(all)), given_(!means_nothing(types, all)) {
    if (!given_) return;
    const Wide count = Length::of(all);
    for (Wide n = 0; n < count; ++n) {
      room_.data()[n] = translate::to_target<Kind::datatype>(types[n]);
    }
  }
  const TargetHandle<Kind::datatype>* target() const { return given_ ? room_.data() : nullptr; }
  template <class All>
  void done(int code, const All& all) {
    room_.hand_to_request(code, all);
  }

 private:
  template <class All>
  static bool means_nothing(const void* types, const All& all) {
    using From = Constants<program_abi>;
    if (types == nullptr) return true;
    if constexpr (buffer >= 0) {
      return std::get<static_cast<std::size_t>(buffer)>(all) == address_of(From::MPI_IN_PLACE);
    }
    return false;
  }
  Lasting<TargetHandle<Kind::datatype>, request> room_;
  bool given_;
};

/// The request of a call whose arrays live as long as it does: it stands last, so it is told last.
class RequestOfArrays : public Out<Kind::request> {
 public:
  using Out<Kind::request>::Out;
  template <class All>
  void done(int code, const All& all) {
    if (code == 0) keep_with(word_of(*target()));
    Out<Kind::request>::done(code, all);
  }
};

}  // namespace mpigauge::translate
