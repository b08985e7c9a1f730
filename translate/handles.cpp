// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "handles.hpp"

#include <algorithm>
#include <vector>

#include "target.hpp"

namespace mpigauge::translate {

constinit Tables tables{};
constinit Slots request_slots{};

namespace {

constinit OwnNumbers no_numbers;

// Gives the numbers of a thread back when it ends.
struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    own_numbers = &no_numbers;
    if (numbers != nullptr) numbers->empty();
    delete numbers;
    numbers = nullptr;
  }
  OwnNumbers* numbers = nullptr;  // a process may call MPI after this has ended
};
thread_local AtEnd at_end;

OwnNumbers& room_of_thread() {
  if (own_numbers == &no_numbers) {
    at_end.numbers = new OwnNumbers(OwnNumbers::most);
    own_numbers = at_end.numbers;
  }
  return *own_numbers;
}

constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

// The objects of a target that is an Open MPI, by their addresses.
struct Object {
  Word address;
  Kind kind;
  Word program;
};
std::vector<Object>& objects() {
  static auto* const all = new std::vector<Object>;
  return *all;
}

bool is_null_name(std::size_t entry) {
  return entry == 0 || predefined[entry].kind != predefined[entry - 1].kind;
}

template <Abi abi>
Word value_in(const Predefined& entry) {
  return abi == Abi::mpich ? entry.mpich : entry.std;
}

Word value_for_target(const Predefined& entry) {
  if constexpr (target_abi == Abi::ompi) {
    const void* const found = entry.ompi == nullptr ? nullptr : symbol_of_target(entry.ompi);
    return found == nullptr ? no_value : reinterpret_cast<Word>(found);
  } else {
    return value_in<target_abi>(entry);
  }
}

Word value_for_program(std::size_t entry) {
  if constexpr (program_abi == Abi::ompi) {
    return program_object(entry);
  } else {
    return value_in<program_abi>(predefined[entry]);
  }
}

void enter(Abi abi, const Predefined& entry, Word key, Word value) {
  if (key == no_value) return;
  if (abi == Abi::std) {
    Word& place = tables.of_standard[key];
    if (place == 0) place = value;
  } else if (abi == Abi::mpich && entry.kind != Kind::file) {
    Word& place =
        tables.of_mpich[index_of(entry.kind)][row_of_mpich(static_cast<std::uint32_t>(key))];
    if (place == 0) place = value;
  }
}

}  // namespace

constinit thread_local OwnNumbers* own_numbers = &no_numbers;

void OwnNumbers::fill_half() {
  count_ = room_ / 2;
  request_slots.take(numbers_.data(), count_);
}
void OwnNumbers::empty_half() {
  count_ = room_ / 2;
  request_slots.give_back(numbers_.data() + count_, room_ - count_);
}
void OwnNumbers::empty() {
  request_slots.give_back(numbers_.data(), count_);
  count_ = 0;
}

void refill_own_numbers() { room_of_thread().fill_half(); }
void clear_own_numbers() {
  OwnNumbers& own = room_of_thread();
  if (own.is_full()) own.empty_half();
}

void fill_tables() {
  for (std::size_t n = 0; n < predefined.size(); ++n) {
    const Predefined& entry = predefined[n];
    const std::size_t kind = index_of(entry.kind);
    Word program = value_for_program(n), target = value_for_target(entry);
    if (is_null_name(n)) {
      tables.null_of_program[kind] = program;
      tables.null_of_target[kind] = target;
    }
    // What only one of them has, is not an object for the other.
    if (target == no_value) target = tables.null_of_target[kind];
    else if (target_abi == Abi::ompi) objects().push_back({target, entry.kind, program});
    // Not every pair of ABIs uses it. NOLINTNEXTLINE(*DeadStores)
    if (program == no_value) program = tables.null_of_program[kind];
    tables.by_entry[n] = target;
    if constexpr (program_abi != Abi::ompi) {
      enter(program_abi, entry, value_in<program_abi>(entry), target);
    }
    if constexpr (target_abi != Abi::ompi && target_abi != program_abi) {
      enter(target_abi, entry, value_in<target_abi>(entry), program);
    }
  }
  std::stable_sort(objects().begin(), objects().end(),
                   [](const Object& a, const Object& b) { return a.address < b.address; });
}

bool find_object(Word address, Kind kind, Word& found) {
  const std::vector<Object>& all = objects();
  if (all.empty() || address < all.front().address || address > all.back().address) return false;
  auto place =
      std::lower_bound(all.begin(), all.end(), address,
                       [](const Object& each, Word value) { return each.address < value; });
  for (; place != all.end() && place->address == address; ++place) {
    if (place->kind != kind) continue;
    found = place->program == no_value ? tables.null_of_program[index_of(kind)] : place->program;
    return true;
  }
  return false;
}

}  // namespace mpigauge::translate
