// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "thread.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "python.hpp"

namespace mpigauge::profile {

constinit thread_local Thread* self = nullptr;

namespace {

constexpr std::size_t place_lists = 1024;
constexpr std::size_t first_cells = 256;
constexpr std::uint32_t cells_in_chunk = 72;
#if defined(__aarch64__)
constexpr Ticks first_step = Ticks{1} << 15U;  // of a counter with some ten ticks in a microsecond
#else
constexpr Ticks first_step = Ticks{1} << 21U;
#endif

std::uint32_t thread_count = 0;
Thread* idle = nullptr;

// --- threads ------------------------------------------------------------------------------------

// The tables of a thread that ended are the next one's.
void end_thread(void* thread) {
  const Locked locked;
  if (process.is_child) return;
  static_cast<Thread*>(thread)->next_idle = idle;
  idle = static_cast<Thread*>(thread);
  self = nullptr;
}

void watch_end(Thread const* thread) {
  static pthread_key_t key;
  static const bool made = pthread_key_create(&key, end_thread) == 0;
  if (made) pthread_setspecific(key, thread);
}

bool make_own_tables(Thread& thread) {
  const std::size_t checks = std::size_t{3} * process.frames;
  thread.known_bytes = (sizeof(Known) + (checks * sizeof(Check))) / line * line + line;
  thread.known = static_cast<std::byte*>(own_memory(stacks_known * thread.known_bytes));
  thread.places = own<Place*>(place_lists);
  thread.cells = own<layout::Cell*>(first_cells);
  thread.cell_mask = first_cells - 1;
  return thread.known != nullptr && thread.places != nullptr && thread.cells != nullptr;
}

void begin_steps(Thread& thread) {
  layout::Thread& stored = *thread.stored;
  stored.start = ticks();
  stored.step_ticks = first_step;
  stored.step.fill(0);
  stored.sent.fill(0);
  stored.memory.fill(0);
  thread.sent = 0;
  thread.step = stored.step.data();
  thread.step_end = stored.start + first_step;
}

bool make_stored_tables(Thread& thread) {
  thread.stored = process.storage.make<layout::Thread>();
  thread.cpus = process.storage.make<layout::Cpus>();
  if (thread.stored == nullptr || thread.cpus == nullptr) return false;
  thread.stored->thread = thread.cpus->thread = thread_count++;
  thread.pending = &thread.stored->pending;
  begin_steps(thread);
  Storage::publish(thread.stored->block, layout::Kind::thread);
  Storage::publish(thread.cpus->block, layout::Kind::cpus);
  return true;
}

Thread* make_thread() {
  auto* const thread = own<Thread>();
  if (thread == nullptr || !make_own_tables(*thread) || !make_stored_tables(*thread)) {
    return nullptr;
  }
  thread->stored->resets = static_cast<std::uint32_t>(process.storage.head().resets);
  thread->seen_code = process.code_epoch;
  return thread;
}

// The stack of the thread that had these tables may be gone, and must not be looked at.
void forget_stacks(Thread const& thread) {
  for (std::size_t n = 0; n < stacks_known; ++n) {
    reinterpret_cast<Known*>(thread.known + (n * thread.known_bytes))->pc = 0;
  }
}

// --- starting anew, and other files of code -----------------------------------------------------

void clear(layout::Cell& cell) {
  cell.count = cell.amount = cell.most = 0;
  cell.least = ~std::uint64_t{0};
}

void clear_numbers(Thread& thread) {
  for (Place* place = thread.all_places; place != nullptr; place = place->older) {
    layout::Site& site = *place->site;
    site.ticks = site.most = site.failures = 0;
    site.least = ~std::uint64_t{0};
    site.times.fill(0);
    place->first.cell = place->second.cell = nullptr;
  }
  for (std::size_t n = 0; n <= thread.cell_mask; ++n) {
    if (thread.cells[n] != nullptr) clear(*thread.cells[n]);
  }
  thread.cpus->used = 0;
  begin_steps(thread);
}

bool is_where_it_was(const Place& place) {
  const auto* const frames = reinterpret_cast<const layout::Frame*>(place.site + 1);
  for (std::uint32_t n = 0; n < place.frames; ++n) {
    const layout::Frame now = stored_frame(place.pc[n]);
    if (now.module != frames[n].module || now.offset != frames[n].offset) return false;
  }
  return true;
}

// Its addresses are those of other code now.
void forget_places_that_moved(Thread const& thread) {
  const Locked locked;
  for (std::size_t n = 0; n < place_lists; ++n) {
    for (Place** at = &thread.places[n]; *at != nullptr;) {
      if (is_where_it_was(**at)) {
        at = &(*at)->next;
      } else {
        *at = (*at)->next;
      }
    }
  }
}

void notice_changes(Thread& thread) {
  const auto resets = static_cast<std::uint32_t>(process.storage.head().resets);
  if (thread.stored->resets != resets) {
    clear_numbers(thread);
    thread.stored->resets = resets;
  }
  if (thread.seen_code != process.code_epoch) {
    thread.seen_code = process.code_epoch;
    forget_places_that_moved(thread);
  }
}

// --- sites --------------------------------------------------------------------------------------

std::uint64_t hash_of(const Stack& stack, std::uint64_t what) {
  std::uint64_t hash = mixed(what ^ (static_cast<std::uint64_t>(stack.line) << 32U));
  for (std::uint32_t n = 0; n < stack.frames; ++n) hash = mixed(hash ^ stack.pc[n]);
  return hash;
}

bool same(const Place& place, std::uint64_t hash, const Stack& stack) {
  return place.hash == hash && place.frames == stack.frames && place.line == stack.line &&
         std::equal(stack.pc.data(), stack.pc.data() + stack.frames,
                    static_cast<const Word*>(place.pc));
}

layout::Site* store_site(Thread& thread, const Stack& stack, Call call, std::uint32_t region) {
  note_call(call);
  std::array<layout::Frame, most_frames> frames;
  std::uint32_t count = 0;
  while (count < stack.frames) {
    frames[count] = stored_frame(stack.pc[count]);
    ++count;
  }
  // Takes the place of the frame of the interpreter.
  if (stack.line != 0) frames[count++] = {.offset = stack.line, .module = layout::python_line};
  auto* const site = process.storage.make<layout::Site>(count * sizeof(layout::Frame));
  if (site == nullptr) return nullptr;
  site->site = thread.sites++;
  site->thread = thread.stored->thread;
  site->call = call;
  site->region = static_cast<std::uint16_t>(region);
  site->frames = count;
  site->least = ~std::uint64_t{0};
  std::memcpy(site + 1, frames.data(), count * sizeof(layout::Frame));
  Storage::publish(site->block, layout::Kind::site);
  return site;
}

Place* make_place(Thread& thread, const Stack& stack, std::uint64_t hash, Call call,
                  std::uint32_t region) {
  const Locked locked;
  auto* const place = own<Place>(1, stack.frames * sizeof(Word));
  if (place == nullptr) return nullptr;
  place->site = store_site(thread, stack, call, region);
  if (place->site == nullptr) return nullptr;
  place->hash = hash;
  place->frames = stack.frames;
  place->line = stack.line;
  std::copy_n(stack.pc.data(), stack.frames, static_cast<Word*>(place->pc));
  Place*& list = thread.places[hash % place_lists];
  place->next = list;
  list = place;
  place->older = thread.all_places;
  thread.all_places = place;
  return place;
}

void keep(Known& known, const Caller& caller, std::uint64_t key, const Stack& stack, Place* place) {
  known.pc = caller.pc;
  known.sp = caller.sp;
  known.fp = caller.fp;
  known.key = key;
  known.place = place;
  known.checks = static_cast<std::uint16_t>(stack.checks);
  known.line = caller.line;
  known.uses_fp = stack.used_fp;
  std::copy_n(stack.check.data(), stack.checks, static_cast<Check*>(known.check));
}

// --- cells --------------------------------------------------------------------------------------

bool same(const layout::Cell& cell, const CellKey& key) {
  return cell.site == key.site && cell.comm == key.comm && cell.peer == key.peer &&
         cell.way == static_cast<std::uint8_t>(key.way) && cell.bin == key.bin &&
         cell.type == key.type;
}

std::uint64_t hash_of(const CellKey& key) {
  const std::uint64_t first = (static_cast<std::uint64_t>(key.site) << 32U) | key.comm;
  const std::uint64_t second =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.peer)) << 32U) |
      (static_cast<std::uint64_t>(key.way) << 24U) | (static_cast<std::uint64_t>(key.bin) << 16U) |
      key.type;
  return mixed(mixed(first) ^ second);
}

CellKey key_of(const layout::Cell& cell) {
  return {.site = cell.site,
          .comm = cell.comm,
          .peer = cell.peer,
          .way = static_cast<layout::Way>(cell.way),
          .bin = cell.bin,
          .type = cell.type};
}

layout::Cell** slot_for(layout::Cell** cells, std::size_t mask, const CellKey& key) {
  std::size_t at = hash_of(key) & mask;
  while (cells[at] != nullptr && !same(*cells[at], key)) at = (at + 1) & mask;
  return cells + at;
}

bool make_room(Thread& thread) {
  if (thread.cell_count * 2 <= thread.cell_mask) return true;
  const std::size_t mask = (thread.cell_mask * 2) + 1;
  auto** const cells = own<layout::Cell*>(mask + 1);
  if (cells == nullptr) return false;
  for (std::size_t n = 0; n <= thread.cell_mask; ++n) {
    if (layout::Cell* const cell = thread.cells[n]) *slot_for(cells, mask, key_of(*cell)) = cell;
  }
  thread.cells = cells;
  thread.cell_mask = mask;
  return true;
}

layout::Cell* next_cell(Thread& thread) {
  if (thread.chunk == nullptr || thread.chunk->used == cells_in_chunk) {
    auto* const made = process.storage.make<layout::Cells>(cells_in_chunk * sizeof(layout::Cell));
    if (made == nullptr) return nullptr;
    made->thread = thread.stored->thread;
    Storage::publish(made->block, layout::Kind::cells);
    thread.chunk = made;
  }
  return reinterpret_cast<layout::Cell*>(thread.chunk + 1) + thread.chunk->used;
}

// --- steps --------------------------------------------------------------------------------------

// Every two steps become one.
void fold(layout::Thread& stored) {
  for (std::size_t n = 0; n < layout::most_steps / 2; ++n) {
    stored.step[n] = stored.step[2 * n] + stored.step[(2 * n) + 1];
    stored.sent[n] = stored.sent[2 * n] + stored.sent[(2 * n) + 1];
    stored.memory[n] = std::max(stored.memory[2 * n], stored.memory[(2 * n) + 1]);
  }
  std::fill(stored.step.begin() + layout::most_steps / 2, stored.step.end(), 0);
  std::fill(stored.sent.begin() + layout::most_steps / 2, stored.sent.end(), 0);
  std::fill(stored.memory.begin() + layout::most_steps / 2, stored.memory.end(), 0);
  stored.step_ticks *= 2;
}

// A long call belongs to all the steps in which it was.
void share_out(layout::Thread& stored, Ticks from, Ticks to) {
  from = std::max(from, stored.start);
  while (from < to) {
    const std::size_t n = (from - stored.start) / stored.step_ticks;
    const Ticks end = std::min(to, stored.start + ((n + 1) * stored.step_ticks));
    stored.step[n] += end - from;
    from = end;
  }
}

// Bytes sent since the last check belong to the step that ends: calls are counted when they
// return, and the one that leads to the next step is not counted yet. Where there are many cells,
// only long steps are worth the time.
void share_bytes(Thread& thread) {
  constexpr std::size_t cells_in_first = 2048;
  layout::Thread& stored = *thread.stored;
  if (thread.cell_mask >= cells_in_first * (stored.step_ticks / first_step)) return;
  std::uint64_t sent = 0;
  for (std::size_t n = 0; n <= thread.cell_mask; ++n) {
    if (const layout::Cell* const cell = thread.cells[n]) sent += cell->amount * cell->sends;
  }
  stored.sent[static_cast<std::size_t>(thread.step - stored.step.data())] += sent - thread.sent;
  thread.sent = sent;
}

// What the process has in memory now, as the second number of this file has it in pages; 0:
// unknown.
std::uint32_t resident_kib() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return 0;
  const char* const second = std::strchr(text.data(), ' ');
  if (second == nullptr) return 0;
  const std::uint64_t pages = std::strtoull(second, nullptr, 10);
  return static_cast<std::uint32_t>(pages * static_cast<std::uint64_t>(getpagesize()) / 1024);
}

void look_at_cpu(layout::Cpus& cpus) {
  unsigned cpu = 0, node = 0;
  if (syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return;
  for (std::uint32_t n = 0; n < cpus.used; ++n) {
    if (cpus.cpu[n].cpu != cpu) continue;
    ++cpus.cpu[n].times;
    return;
  }
  if (cpus.used == layout::most_cpus) return;
  cpus.cpu[cpus.used] = {.cpu = cpu, .node = node, .times = 1};
  ++cpus.used;
}

}  // namespace

Thread* begin_thread() {
  const Locked locked;
  Thread* thread = idle;
  if (thread != nullptr) {
    idle = thread->next_idle;
    thread->inside = 0;
    forget_stacks(*thread);
  } else {
    thread = make_thread();
  }
  if (thread == nullptr) return nullptr;
  self = thread;
  watch_end(thread);
  return thread;
}

Place* find_place(Thread& thread, const Caller& caller, std::uint64_t key, Call call) {
  notice_changes(thread);
  Stack stack;
  unwind(caller, process.frames, rule_at, stack);
  if (caller.line != 0) end_at_python(stack, caller.line);
  const std::uint32_t region = State::region(key);
  const std::uint64_t hash = hash_of(stack, (static_cast<std::uint64_t>(region) << 16U) | call);
  Place* place = thread.places[hash % place_lists];
  while (place != nullptr && !same(*place, hash, stack)) place = place->next;
  if (place == nullptr) place = make_place(thread, stack, hash, call, region);
  if (place != nullptr) keep(known_for(thread, caller, key), caller, key, stack, place);
  return place;
}

layout::Cell* find_cell(Thread& thread, const CellKey& key) {
  layout::Cell* const* slot = slot_for(thread.cells, thread.cell_mask, key);
  if (*slot != nullptr) return *slot;
  const Locked locked;
  if (!make_room(thread)) return nullptr;
  layout::Cell* const cell = next_cell(thread);
  if (cell == nullptr) return nullptr;
  cell->site = key.site;
  cell->comm = key.comm;
  cell->peer = key.peer;
  cell->way = static_cast<std::uint8_t>(key.way);
  cell->bin = key.bin;
  cell->type = key.type;
  clear(*cell);
  *slot_for(thread.cells, thread.cell_mask, key) = cell;
  ++thread.cell_count;
  std::atomic_ref(thread.chunk->used).store(thread.chunk->used + 1, std::memory_order_release);
  return cell;
}

void advance_steps(Thread& thread, Ticks end, Ticks took) {
  layout::Thread& stored = *thread.stored;
  share_bytes(thread);
  while (end - stored.start >= layout::most_steps * stored.step_ticks) fold(stored);
  share_out(stored, end - took, end);
  const std::size_t n = (end - stored.start) / stored.step_ticks;
  thread.step = &stored.step[n];
  thread.step_end = stored.start + ((n + 1) * stored.step_ticks);
  look_at_cpu(*thread.cpus);
  if (stored.thread != 0) return;
  note_usage();
  stored.memory[n] = std::max(stored.memory[n], resident_kib());
}

}  // namespace mpigauge::profile
