// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether stacks are followed, and known again, as they are. Trees of calls are drawn at random,
// through functions with frames of every kind; at each leaf the stack is found as the profiler does
// and compared with what the compiler's own library for exceptions finds.
//
// usage: stacks CALLS

#include <alloca.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "stack.hpp"

// Only GCC can be told for a single function.
#if defined(__clang__)
#define WITH_FRAME_POINTER
#else
#define WITH_FRAME_POINTER [[gnu::optimize("no-omit-frame-pointer")]]
#endif

namespace {

using namespace mpigauge::profile;

constexpr std::uint32_t frames = 8;

// --- as the profiler does
// ---------------------------------------------------------------------------

std::map<Word, Rule> rules;

Rule rule_at(Word pc) {
  if (const auto known = rules.find(pc); known != rules.end()) return known->second;
  LoadedFile file;
  return rules[pc] = find_file(pc, file) ? find_rule(pc, file) : Rule{};
}

struct Kept {
  Caller caller{};
  Stack stack;
};
std::map<std::pair<Word, Word>, Kept> kept;  // by pc and sp

bool is_same(const Kept& known, const Caller& caller) {
  if (known.stack.used_fp && known.caller.fp != caller.fp) return false;
  for (std::uint32_t n = 0; n < known.stack.checks; ++n) {
    if (*known.stack.check[n].at != known.stack.check[n].value) return false;
  }
  return true;
}

// --- as exceptions do
// -------------------------------------------------------------------------------

struct Found {
  std::vector<Word> pc;
};

_Unwind_Reason_Code note(_Unwind_Context* context, void* data) {
  auto& found = *static_cast<Found*>(data);
  found.pc.push_back(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

// --- the leaf
// ---------------------------------------------------------------------------------------

std::size_t calls = 0, hits = 0, wrong = 0, shallow = 0;

// To look at a word twice would take time, and room that is for others.
bool checks_each_word_once(const Stack& stack) {
  std::set<const Word*> places;
  for (std::uint32_t n = 0; n < stack.checks; ++n) places.insert(stack.check[n].at);
  return places.size() == stack.checks;
}

bool agrees(const Stack& stack, const Found& found, std::size_t own) {
  if (found.pc.size() < own + stack.frames) return false;
  const bool whole = stack.frames == frames || found.pc.size() <= own + stack.frames + 1;
  if (!whole) ++shallow;
  for (std::uint32_t n = 0; n < stack.frames; ++n) {
    if (stack.pc[n] != found.pc[own + n]) return false;
  }
  return true;
}

void compare(const Stack& stack, Word pc) {
  Found found;
  _Unwind_Backtrace(note, &found);
  std::size_t own = 0;
  while (own < found.pc.size() && found.pc[own] != pc) ++own;
  if (!agrees(stack, found, own) || !checks_each_word_once(stack)) ++wrong;
}

[[gnu::noinline]] WITH_FRAME_POINTER void leaf() {
  const Caller caller = MPIGAUGE_CALLER;
  ++calls;
  Kept& known = kept[{caller.pc, caller.sp}];
  if (known.stack.frames > 0 && is_same(known, caller)) {
    ++hits;
  } else {
    known.caller = caller;
    unwind(caller, frames, rule_at, known.stack);
  }
  compare(known.stack, caller.pc);
  asm volatile("" ::: "memory");
}

// --- trees of calls
// ---------------------------------------------------------------------------------

std::mt19937 random_number(1);

unsigned drawn(unsigned below) { return static_cast<unsigned>(random_number()) % below; }

void grow(unsigned depth);

// Keeps the compiler from turning the last call into a jump, and the frame from being empty.
template <std::size_t bytes>
[[gnu::noinline]] void fixed_frame(unsigned depth) {
  volatile char room[bytes];
  std::memset(const_cast<char*>(room), static_cast<int>(depth), bytes);
  grow(depth);
  asm volatile("" : : "r"(room) : "memory");
}

[[gnu::noinline]] void variable_frame(unsigned depth) {
  const std::size_t bytes = 16 + drawn(2048);
  auto* const room = static_cast<volatile char*>(alloca(bytes));
  room[drawn(static_cast<unsigned>(bytes))] = 1;
  grow(depth);
  asm volatile("" : : "r"(room) : "memory");
}

[[gnu::noinline]] void aligned_frame(unsigned depth) {
  alignas(64) volatile char room[192];
  room[drawn(sizeof room)] = 1;
  grow(depth);
  asm volatile("" : : "r"(room) : "memory");
}

[[gnu::noinline]] void aligned_variable_frame(unsigned depth) {
  alignas(64) volatile char room[64];
  auto* const more = static_cast<volatile char*>(alloca(32 + drawn(512)));
  room[drawn(sizeof room)] = 1;
  more[drawn(32)] = 1;
  grow(depth);
  asm volatile("" : : "r"(room), "r"(more) : "memory");
}

[[gnu::noinline]] WITH_FRAME_POINTER void frame_with_pointer(unsigned depth) {
  volatile char room[48];
  room[drawn(sizeof room)] = 1;
  grow(depth);
  asm volatile("" : : "r"(room) : "memory");
}

// Many values that live across the call: all registers that functions save are used, the frame
// pointer's too.
[[gnu::noinline]] void full_registers(unsigned depth) {
  const unsigned a = drawn(9), b = drawn(8), c = drawn(7), d = drawn(6), e = drawn(5), f = drawn(4);
  grow(depth);
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
}

struct Thrown : std::exception {};

[[gnu::noinline]] void through_exception(unsigned depth) {
  try {
    grow(depth);
    throw Thrown{};
  } catch (const Thrown&) {
    leaf();
  }
  asm volatile("" ::: "memory");
}

void leaf_of_its_own() {
  leaf();
  asm volatile("" ::: "memory");
}

constexpr void (*branches[])(unsigned) = {
    fixed_frame<8>,     fixed_frame<40>,   fixed_frame<900>, aligned_frame,         full_registers,
    frame_with_pointer, through_exception, variable_frame,   aligned_variable_frame};
constexpr unsigned of_fixed_size = 7;
// Where only these are taken, stacks come again.
unsigned branch_count = of_fixed_size;

[[gnu::noinline]] void grow(unsigned depth) {
  if (depth == 0 || drawn(6) == 0) {
    drawn(2) == 0 ? leaf() : leaf_of_its_own();
  } else {
    branches[drawn(branch_count)](depth - 1);
    if (drawn(3) == 0) branches[drawn(branch_count)](depth - 1);
  }
  asm volatile("" ::: "memory");
}

}  // namespace

int main(int argc, char* const* argv) {
  const std::size_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  while (calls < wanted) {
    branch_count = drawn(4) == 0 ? std::size(branches) : of_fixed_size;
    grow(1 + drawn(10));
  }
  std::printf("%zu calls, %zu of stacks that were known, %zu wrong, %zu not followed to the end\n",
              calls, hits, wrong, shallow);
  return wrong == 0 && shallow == 0 && hits > calls / 20 ? 0 : 1;
}
