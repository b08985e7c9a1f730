// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the threads of a process share: the file, whether it is recorded now, and the tables of what
// lasts (files of code, communicators, datatypes, regions). Changing them takes the lock; calls
// only look.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "clock.hpp"
#include "facts.hpp"
#include "frames.hpp"
#include "storage.hpp"
#include "word_map.hpp"

namespace mpigauge::profile {

/// What calls look at first, in one word: whether they are recorded, in which region, and the
/// epoch, which changes when what is remembered of stacks and sites may be wrong.
class State {
 public:
  static constexpr std::uint64_t recording = 1, started = 2;
  static constexpr unsigned region_shift = 2, epoch_shift = 16, call_shift = 48;
  static constexpr std::uint64_t region_mask = (1U << (epoch_shift - region_shift)) - 1;

  static bool is_recording(std::uint64_t word) { return (word & recording) != 0; }
  static std::uint32_t region(std::uint64_t word) {
    return static_cast<std::uint32_t>((word >> region_shift) & region_mask);
  }
  static std::uint32_t epoch(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> epoch_shift);
  }
};

struct alignas(64) Process {
  // What calls look at.
  std::atomic<std::uint64_t> state{0};  // 0: nobody has called yet
  /// Changes when a handle has become invalid, so that it may mean something else from now on.
  std::atomic<std::uint32_t> handles{0};
  std::uint32_t frames = 8;
  Ticks inner_ticks = 0;  // what the clock sees of our own work in a call
  std::uint64_t code_epoch = 0;
  bool keeps = false;  // there is a file
  bool is_child = false;
  bool has_lines = false;  // of Python, which distinguish call sites
  Storage storage;
  WordMap rules;
};

extern constinit Process process;

/// Holds the lock of the process.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

/// Whoever makes the first call starts the process' profile: reads the settings, finds the MPI,
/// makes the file.
void start(Word pc);

/// One line on stderr.
[[gnu::format(printf, 1, 2)]] void tell(const char* format, ...);

/// Where the program calls what its MPI has not got: as the dynamic linker would, were we not
/// there.
[[noreturn]] void end_without(const char* name);

/// The rule at a return address; looked up once.
Rule rule_at(Word pc);
/// The frame of a return address as it is stored. Holds the lock already.
layout::Frame stored_frame(Word pc);
/// Notes that a call was seen. Holds the lock already.
void note_call(Call call);
/// Keeps a text about the process. Holds the lock already.
void store_text(layout::About about, const char* text, std::size_t length);
/// Puts the recording on or off, counts the time; starts anew.
void set_recording(bool on);
void start_anew();
/// After a file of code was closed: return addresses may mean something else.
void forget_code();
/// Now and then, and at the end: the clocks, and what the process took.
void note_usage();

}  // namespace mpigauge::profile
