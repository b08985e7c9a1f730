// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Handles from the program's ABI to the target's, and back.
//
// Predefined ones are looked up in tables. The others belong to the target, and the program gets
//   its word as it is                     where the program has the standard ABI, whose own are
//   small its word, moved by a bit and made odd where the program has Open MPI's, whose own are
//   addresses the number of a slot that keeps it    where the program has MPICH's and the target
//   has pointers
// Between two MPICHs all stay as they are.
#pragma once

#include "slots.hpp"

namespace mpigauge::translate {

inline constexpr Word predefined_in_standard = 4096;
inline constexpr std::size_t rows_of_mpich = 257;

/// What handles of the program are for the target, and those of the target for the program; made by
/// `fill_tables` (handles.cpp). A row of MPICH's is: no object, then those with these last bits.
struct Tables {
  std::array<Word, predefined.size()> by_entry{};
  std::array<std::array<Word, rows_of_mpich>, kinds> of_mpich{};
  std::array<Word, predefined_in_standard> of_standard{};
  std::array<Word, kinds> null_of_target{}, null_of_program{};
};
extern Tables tables;

/// What a predefined object of Open MPI's is for the program; false: it is none of these.
bool find_object(Word address, Kind kind, Word& found);
/// Where the program finds a predefined handle of Open MPI's; of the library itself.
Word program_object(std::size_t entry);
/// Fills the tables, with the objects of the target where it is an Open MPI.
void fill_tables();

/// The standard's MPI_FLOAT_INT and others are, in MPICH, no basic types.
inline constexpr std::uint32_t pairs_of_mpich = 0x8c000000, last_pair_of_mpich = 0x8c000004;

inline bool is_predefined_in_mpich(std::uint32_t handle) {
  return (handle >> 31U) == 0 || (handle - pairs_of_mpich) <= last_pair_of_mpich - pairs_of_mpich;
}
inline std::size_t row_of_mpich(std::uint32_t handle) {
  constexpr std::uint32_t first_pair = 250;  // no basic type has such a number
  if ((handle >> 31U) != 0) return first_pair + (handle & 0xfU);
  return (handle >> 30U) == 0 ? 0 : 1 + (handle & 0xffU);
}

// --- numbers of slots ---------------------------------------------------------------------------

/// The bits that MPICH has for each kind of handles.
inline constexpr std::array<std::uint32_t, kinds> bits_of_kind = {0x1, 0x3, 0x5, 0x0, 0x2, 0x7,
                                                                  0xb, 0x6, 0xb, 0xe, 0x8};
inline constexpr std::uint32_t slot_bits = 26, slot_mask = (1U << slot_bits) - 1;

template <Kind kind>
int handle_of_slot(Slots::Number number) {
  constexpr std::uint32_t mark = 0x80000000U | bits_of_kind[static_cast<std::size_t>(kind)]
                                                   << slot_bits;
  return static_cast<int>(mark | number);
}
inline Slots::Number slot_of_handle(int handle) {
  return static_cast<std::uint32_t>(handle) & slot_mask;
}

template <Kind kind>
inline constinit SharedSlots shared_slots{};
/// Of requests and messages, which come and go: a pointer has a new number each time.
extern Slots request_slots;

/// Numbers that a thread may give out, so that threads do not meet at each request. There are so
/// many that hundreds of requests in flight need no more.
class OwnNumbers {
 public:
  static constexpr std::size_t most = 512;

  /// Without any: a thread has no room for numbers until it needs one.
  constexpr OwnNumbers() = default;
  explicit OwnNumbers(std::size_t room) : room_(room) {}

  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] bool is_full() const { return count_ == room_; }
  Slots::Number take() { return numbers_[--count_]; }
  void give_back(Slots::Number number) { numbers_[count_++] = number; }
  /// From the slots to half of the room; and the upper half back.
  void fill_half();
  void empty_half();
  void empty();

 private:
  std::size_t count_ = 0, room_ = 0;
  std::array<Slots::Number, most> numbers_{};
};
/// Those of this thread.
extern constinit thread_local OwnNumbers* own_numbers;
[[gnu::cold, gnu::noinline]] void refill_own_numbers();
[[gnu::cold, gnu::noinline]] void clear_own_numbers();

inline Slots::Number take_number() {
  if (own_numbers->is_empty()) [[unlikely]]
    refill_own_numbers();
  return own_numbers->take();
}
inline void give_number_back(Slots::Number number) {
  if (own_numbers->is_full()) [[unlikely]]
    clear_own_numbers();
  own_numbers->give_back(number);
}

// --- from the program to the target -------------------------------------------------------------

/// Between two MPICHs: they give out inner handles, too, that look predefined and have no name.
inline constexpr bool are_alike = program_abi == Abi::mpich && target_abi == Abi::mpich;
inline constexpr bool in_slots = program_abi == Abi::mpich && target_abi != Abi::mpich;

template <Kind kind>
constexpr bool is_short_lived = kind == Kind::request || kind == Kind::message;

template <Kind kind>
[[gnu::always_inline]] inline TargetHandle<kind> to_target(ProgramHandle<kind> handle) {
  constexpr auto index = static_cast<std::size_t>(kind);
  const Word word = word_of(handle);
  if constexpr (are_alike) {
    return handle;
  } else if constexpr (program_abi == Abi::ompi) {
    if ((word & 1U) != 0) {
      return handle_of<TargetHandle<kind>>(static_cast<Word>(static_cast<Wide>(word) >> 1));
    }
    if (word == 0) return handle_of<TargetHandle<kind>>(Word{0});
    const Word entry = *reinterpret_cast<const Word*>(word);
    return handle_of<TargetHandle<kind>>(tables.by_entry[entry < predefined.size() ? entry : 0]);
  } else if constexpr (program_abi == Abi::std) {
    if (word < predefined_in_standard) {
      return handle_of<TargetHandle<kind>>(tables.of_standard[word]);
    }
    return handle_of<TargetHandle<kind>>(word);
  } else if constexpr (kind == Kind::file) {
    return handle_of<TargetHandle<kind>>(word == 0 ? tables.null_of_target[index] : word);
  } else {
    const auto bits = static_cast<std::uint32_t>(word);
    if (is_predefined_in_mpich(bits)) {
      return handle_of<TargetHandle<kind>>(tables.of_mpich[index][row_of_mpich(bits)]);
    }
    const Slots::Number number = slot_of_handle(handle);
    if constexpr (is_short_lived<kind>) {
      return handle_of<TargetHandle<kind>>(request_slots.at(number));
    } else {
      return handle_of<TargetHandle<kind>>(shared_slots<kind>.at(number));
    }
  }
}

// --- from the target to the program -------------------------------------------------------------

template <Kind kind>
TargetHandle<kind> null_for_target() {
  return handle_of<TargetHandle<kind>>(tables.null_of_target[static_cast<std::size_t>(kind)]);
}
template <Kind kind>
ProgramHandle<kind> null_for_program() {
  return handle_of<ProgramHandle<kind>>(tables.null_of_program[static_cast<std::size_t>(kind)]);
}

/// Whether the target always has it, and what it is for the program.
template <Kind kind>
bool find_predefined(TargetHandle<kind> handle, Word& found) {
  constexpr auto index = static_cast<std::size_t>(kind);
  const Word word = word_of(handle);
  if constexpr (target_abi == Abi::ompi) {
    return find_object(word, kind, found);
  } else if constexpr (target_abi == Abi::std) {
    if (word >= predefined_in_standard) return false;
    found = tables.of_standard[word];
    return found != 0 || kind == Kind::file;
  } else if constexpr (kind == Kind::file) {
    found = tables.null_of_program[index];
    return word == 0;
  } else {
    const auto bits = static_cast<std::uint32_t>(word);
    if (!is_predefined_in_mpich(bits)) return false;
    found = tables.of_mpich[index][row_of_mpich(bits)];
    return found != 0;  // the group of MPI_COMM_WORLD, for one, is always there and has no name
  }
}

/// How the program comes by a handle.
enum class Given : std::uint8_t { made, seen };

template <Kind kind>
ProgramHandle<kind> own_to_program(Word word, Given given) {
  using Handle = ProgramHandle<kind>;
  if constexpr (program_abi == Abi::ompi) {
    return handle_of<Handle>((word << 1U) | 1U);
  } else if constexpr (!in_slots || kind == Kind::file) {
    return handle_of<Handle>(word);
  } else if constexpr (is_short_lived<kind>) {
    const Slots::Number number = take_number();
    request_slots.set(number, word);
    return handle_of_slot<kind>(number);
  } else {
    SharedSlots& slots = shared_slots<kind>;
    return handle_of_slot<kind>(given == Given::made ? slots.made(word) : slots.seen(word));
  }
}

template <Kind kind>
ProgramHandle<kind> to_program(TargetHandle<kind> handle, Given given = Given::made) {
  if constexpr (are_alike) return handle;
  if constexpr (is_short_lived<kind>) {
    // The hottest of all: of predefined ones there are the null, and messages of nobody.
    if (handle == null_for_target<kind>()) return null_for_program<kind>();
    if constexpr (kind == Kind::request) {
      return own_to_program<kind>(word_of(handle), given);
    }
  }
  Word found = 0;
  if (find_predefined<kind>(handle, found)) return handle_of<ProgramHandle<kind>>(found);
  return own_to_program<kind>(word_of(handle), given);
}

/// The program has freed it.
template <Kind kind>
void forget(ProgramHandle<kind> handle) {
  if constexpr (in_slots && kind != Kind::file) {
    if (is_predefined_in_mpich(static_cast<std::uint32_t>(handle))) return;
    const Slots::Number number = slot_of_handle(handle);
    if constexpr (is_short_lived<kind>) {
      give_number_back(number);
    } else {
      shared_slots<kind>.freed(number);
    }
  }
}

}  // namespace mpigauge::translate
