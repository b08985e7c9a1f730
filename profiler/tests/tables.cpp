// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether what is stored is found again: blocks of the file, sites and cells of a thread, its steps
// and processors, and what is left of them when the profile starts anew. The file is read as
// others read it, too.
//
// usage: tables FOLDER
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "messages.hpp"
#include "process.hpp"
#include "record.hpp"
#include "thread.hpp"

namespace {

using namespace mpigauge::profile;
using tests::failures;

std::string folder;

std::size_t distance(const void* from, const void* to) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(to) -
                                  static_cast<const std::byte*>(from));
}

bool is_zero(const void* from, std::size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(from);
  return std::all_of(at, at + bytes, [](unsigned char each) { return each == 0; });
}

// Linux names the same bit of the processor's.
void the_counter_is_used_where_it_never_stops() {
#if defined(__x86_64__)
  std::FILE* const file = std::fopen("/proc/cpuinfo", "r");
  bool never_stops = false;
  static std::array<char, 16384> text;
  while (file != nullptr && std::fgets(text.data(), text.size(), file) != nullptr) {
    never_stops = never_stops || std::strstr(text.data(), " nonstop_tsc") != nullptr;
  }
  if (file != nullptr) std::fclose(file);
  CHECK(counter_is_invariant == never_stops);
#else
  CHECK(counter_is_invariant);
#endif
}

// --- the file
// ---------------------------------------------------------------------------------------

constexpr std::size_t first_piece = std::size_t{1} << 17U;

void blocks_lie_one_behind_the_other() {
  const std::string path = folder + "/blocks";
  Storage storage;
  errno = ENOSPC;  // an earlier error is none of this one
  CHECK(storage.open(path.c_str(), std::size_t{1} << 20U));
  const layout::Head& head = storage.head();
  CHECK(head.magic == layout::magic && head.version == layout::version && head.pieces == 0);
  const auto* const a = storage.block(1);
  const auto* const b = storage.block(64);
  const auto* const c = storage.block(65);
  CHECK(a->bytes == 64 && b->bytes == 64 && c->bytes == 128);
  CHECK(distance(a, b) == 64 && distance(b, c) == 64);
  for (const auto* each : {a, b, c}) CHECK(each->kind == 0 && is_zero(each + 1, each->bytes - 8));
  CHECK(head.pieces == 1 && head.piece[0].offset == layout::page);
  CHECK(head.piece[0].bytes == first_piece);
  const auto* const rest = storage.block(first_piece - 256);
  CHECK(head.pieces == 1 && distance(c, rest) == 128);
  storage.block(1);
  CHECK(head.pieces == 2 && head.piece[1].offset == layout::page + first_piece);
  CHECK(head.piece[1].bytes == layout::page + first_piece);
  const auto* const large = storage.block(5 * layout::page + 1);
  CHECK(large->bytes == 5 * layout::page + 64 && head.piece[2].bytes == 6 * layout::page);
  struct stat about{};
  stat(path.c_str(), &about);
  CHECK(static_cast<std::size_t>(about.st_size) == 12 * layout::page);
  CHECK((about.st_mode & 0777U) == 0600);
  CHECK(head.loss == 0);
  CHECK(!Storage().open(path.c_str(), std::size_t{1} << 20U) && errno == EEXIST);
}

void a_file_ends_at_its_limit() {
  for (const std::size_t less : {std::size_t{0}, std::size_t{1}}) {
    Storage storage;
    const std::string path = folder + "/limit" + std::to_string(less);
    CHECK(storage.open(path.c_str(), layout::page + first_piece - less));
    CHECK((storage.block(1) != nullptr) == (less == 0));
    CHECK(storage.block(first_piece) == nullptr);
    CHECK(storage.head().loss == static_cast<std::uint32_t>(layout::Loss::limit));
    CHECK((storage.block(first_piece - 64) != nullptr) == (less == 0));
    CHECK(storage.head().pieces == 1 - less);
  }
}

void own_memory_is_zero_and_aligned() {
  auto* const one = static_cast<std::byte*>(own_memory(1));
  auto* const two = static_cast<std::byte*>(own_memory(200));
  for (const std::byte* const each : {one, two}) {
    CHECK(reinterpret_cast<Word>(each) % layout::grain == 0);
  }
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{1} << 18U, std::size_t{1} << 20U}) {
    auto* const made = static_cast<std::byte*>(own_memory(bytes));
    CHECK(is_zero(made, bytes));
    std::memset(made, 1, bytes);
    CHECK(is_zero(one, 64) && is_zero(two, 256));
  }
  CHECK(is_zero(own_memory(4096), 4096));
}

void words_are_found_again() {
  static WordMap map;
  constexpr std::uint64_t many = 2000;
  CHECK(map.find(1) == 0);
  for (std::uint64_t n = 1; n <= many; ++n) CHECK(map.put(n << 20U, n));
  for (std::uint64_t n = 1; n <= many; ++n) CHECK(map.find(n << 20U) == n);
  CHECK(map.find(1) == 0 && map.find((many + 1) << 20U) == 0);
  for (std::uint64_t n = 1; n <= many; n += 2) CHECK(map.put(n << 20U, 0));
  for (std::uint64_t n = 1; n <= many; ++n) CHECK(map.find(n << 20U) == (n % 2 == 0 ? n : 0));
  for (std::uint64_t n = 1; n <= 4 * many; ++n) CHECK(map.put(n << 20U, 7 * n));
  for (std::uint64_t n = 1; n <= 4 * many; ++n) CHECK(map.find(n << 20U) == 7 * n);
  map.clear();
  for (std::uint64_t n = 1; n <= 4 * many; ++n) CHECK(map.find(n << 20U) == 0);
}

void a_rule_is_a_word() {
  constexpr std::int32_t large_frame = (1 << 23) - 8, large_save = (1 << 16) - 8;
  for (const auto frame :
       {Rule::Frame::end, Rule::Frame::from_sp, Rule::Frame::from_fp, Rule::Frame::at_fp}) {
    for (const auto fp : {Rule::Saved::not_at_all, Rule::Saved::in_frame, Rule::Saved::from_fp}) {
      for (const std::int32_t size : {0, 8, -8, large_frame, -large_frame}) {
        for (const std::int32_t offset : {0, 8, -16, large_save, -large_save}) {
          const Rule rule{frame, size, fp, offset, -offset};
          const Rule again = Rule::unpacked(rule.packed());
          CHECK(rule.packed() != 0 && again.frame == frame && again.fp == fp);
          CHECK(again.frame_offset == size && again.fp_offset == offset);
          CHECK(again.return_offset == rule.return_offset);
        }
      }
    }
  }
}

// The linker was told which build-id to write.
void a_file_of_code_has_its_build_id() {
  LoadedFile file, none;
  CHECK(find_file(reinterpret_cast<Word>(&std::fopen), none) && none.base != 0);
  CHECK(!find_file(1, none));
  CHECK(find_file(reinterpret_cast<Word>(&a_rule_is_a_word), file));
  CHECK(*file.path == '\0' && file.unwind_table != nullptr && file.id_bytes == 5);
  CHECK(file.id != nullptr && std::memcmp(file.id, "\x12\x34\x56\x78\x9a", 5) == 0);
}

// Of another version it is not known what its bytes mean.
void tables_of_other_forms_tell_nothing() {
  LoadedFile file;
  const Word pc = reinterpret_cast<Word>(&a_rule_is_a_word) + 16;
  CHECK(find_file(pc, file));
  auto* const table = const_cast<std::uint8_t*>(file.unwind_table);
  const auto page = static_cast<Word>(sysconf(_SC_PAGESIZE));
  auto* const from = reinterpret_cast<void*>(reinterpret_cast<Word>(table) / page * page);
  if (mprotect(from, 2 * page, PROT_READ | PROT_WRITE) != 0) std::exit(1);
  CHECK(find_rule(pc, file).frame != Rule::Frame::end);
  for (const std::size_t place : {0U, 2U, 3U}) {
    ++table[place];
    CHECK(find_rule(pc, file).frame == Rule::Frame::end);
    --table[place];
  }
  CHECK(find_rule(pc, file).frame != Rule::Frame::end);
  CHECK(find_rule(pc, {}).frame == Rule::Frame::end);
}

// --- sites
// ------------------------------------------------------------------------------------------

constexpr Word stack = 1U << 20U;

// A call from this address; no file of code is there, so the stack ends with it.
Place* place_of(Call call, Word pc) {
  Thread* const thread = enter(call, pc, stack, 1);
  if (thread == nullptr) std::exit(1);
  leave(*thread, call, nullptr, 1);
  return thread->place;
}

const layout::Frame& first_frame(const layout::Site& site) {
  return *reinterpret_cast<const layout::Frame*>(&site + 1);
}

void a_site_for_each_call_and_stack() {
  const layout::Site& site = *place_of(call_Barrier, 16)->site;
  CHECK(site.call == call_Barrier && site.region == 0 && site.frames == 1);
  CHECK(site.thread == self->stored->thread && site.failures == 1);
  CHECK(site.least == site.most && site.least == site.ticks);
  CHECK(first_frame(site).offset == 16 && first_frame(site).module == layout::no_module);
  CHECK(site.block.kind == static_cast<std::uint32_t>(layout::Kind::site));
  CHECK(place_of(call_Barrier, 16)->site == &site && site.failures == 2);
  const layout::Site& other = *place_of(call_Send, 16)->site;
  CHECK(&other != &site && other.call == call_Send && other.site == site.site + 1);
  constexpr std::size_t many = 3000;  // more than there are lists of them, and stacks known at once
  std::vector<Place*> places;
  for (Word n = 0; n < many; ++n) places.push_back(place_of(call_Barrier, 4096 + n));
  for (Word n = 0; n < many; ++n) {
    CHECK(place_of(call_Barrier, 4096 + n) == places[n]);
    CHECK(places[n]->site->failures == 2 && first_frame(*places[n]->site).offset == 4096 + n);
    CHECK(places[n]->site->site == other.site + 1 + n);
  }
}

// The deepest stack that may be followed fits into it.
void a_known_stack_has_room_for_its_checks() {
  const std::size_t checks = std::size_t{3} * process.frames;
  CHECK(self->known_bytes >= sizeof(Known) + (checks - 1) * sizeof(Check));
  CHECK(self->known_bytes % line == 0 && self->known_bytes < sizeof(Known) + (checks + 8) * 16);
  const Known& first = known_for(*self, {}, 0);
  CHECK(reinterpret_cast<Word>(&first) % line == 0);
}

void a_region_has_sites_of_its_own() {
  const layout::Site& outside = *place_of(call_Barrier, 16)->site;
  const std::uint64_t before = process.state.load();
  process.state.store(before | (std::uint64_t{5} << State::region_shift));
  const layout::Site& inside = *place_of(call_Barrier, 16)->site;
  CHECK(&inside != &outside && inside.region == 5);
  process.state.store(before);
  CHECK(place_of(call_Barrier, 16)->site == &outside);
}

// --- cells
// ------------------------------------------------------------------------------------------

std::vector<CellKey> cell_keys() {
  std::vector<CellKey> keys;
  for (const std::uint32_t site : {0U, 1U, 700U}) {
    for (const std::uint32_t comm : {0U, 1U, 9U}) {
      for (const std::int32_t peer : {-3, -1, 0, 1, 4000}) {
        for (const auto way : {layout::Way::none, layout::Way::sent, layout::Way::received}) {
          for (const std::uint8_t bin : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{30}}) {
            for (const std::uint16_t type : {std::uint16_t{0}, std::uint16_t{1}}) {
              keys.push_back({site, comm, peer, way, bin, type});
            }
          }
        }
      }
    }
  }
  return keys;
}

void a_cell_for_each_kind_of_message() {
  const std::vector<CellKey> keys = cell_keys();
  std::vector<layout::Cell*> cells;
  for (const CellKey& key : keys) cells.push_back(find_cell(*self, key));
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const CellKey& key = keys[n];
    layout::Cell& cell = *cells[n];
    CHECK(find_cell(*self, key) == &cell);
    CHECK(cell.site == key.site && cell.comm == key.comm && cell.peer == key.peer);
    CHECK(cell.way == static_cast<std::uint8_t>(key.way) && cell.bin == key.bin);
    CHECK(cell.type == key.type && cell.count == 0 && cell.amount == 0 && cell.most == 0);
    CHECK(cell.least == ~std::uint64_t{0});
    cell.count = 1;
  }
  std::sort(cells.begin(), cells.end());
  CHECK(std::adjacent_find(cells.begin(), cells.end()) == cells.end());
  CHECK(self->cell_count == keys.size() && self->cell_mask + 1 == 2048);
}

// As Python reads the file: pieces by the head, blocks by their sizes.
struct Contents {
  std::size_t sites = 0, cells = 0, chunks = 0, counts = 0, threads = 0, names = 0;
};

void count_names(const layout::Block& block, Contents& found) {
  const auto& name = reinterpret_cast<const layout::CallName&>(block);
  const bool sends = name.call == call_Send;
  CHECK(name.name.data() == std::string(sends ? "MPI_Send" : "MPI_Barrier"));
  CHECK(name.group.data() ==
        std::string(group_names[static_cast<std::size_t>(facts_of[name.call].group)]));
  CHECK(sends || name.call == call_Barrier);
  ++found.names;
}

void count_cells(const layout::Block& block, Contents& found) {
  const auto& some = reinterpret_cast<const layout::Cells&>(block);
  const auto* const cell = reinterpret_cast<const layout::Cell*>(&some + 1);
  const std::size_t room = (block.bytes - sizeof some) / sizeof *cell;
  CHECK(some.used <= room && some.thread == 0 && room == 72);
  found.cells += some.used;
  ++found.chunks;
  for (std::size_t each = 0; each < some.used; ++each) found.counts += cell[each].count;
  CHECK(is_zero(cell + some.used, (room - some.used) * sizeof *cell));
}

void count_blocks(const std::vector<std::byte>& piece, Contents& found) {
  for (std::size_t at = 0; at < piece.size();) {
    const auto& block = *reinterpret_cast<const layout::Block*>(piece.data() + at);
    if (block.bytes == 0) return;
    CHECK(block.bytes % layout::grain == 0 && at + block.bytes <= piece.size());
    const auto kind = static_cast<layout::Kind>(block.kind);
    if (kind == layout::Kind::site) ++found.sites;
    if (kind == layout::Kind::thread) ++found.threads;
    if (kind == layout::Kind::call) count_names(block, found);
    if (kind == layout::Kind::cells) count_cells(block, found);
    at += block.bytes;
  }
}

Contents contents(const std::string& path) {
  Contents found;
  std::ifstream file(path, std::ios::binary);
  const layout::Head& head = process.storage.head();
  for (std::size_t n = 0; n < head.pieces; ++n) {
    std::vector<std::byte> piece(head.piece[n].bytes);
    file.seekg(static_cast<std::streamoff>(head.piece[n].offset));
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    CHECK(file.good());
    count_blocks(piece, found);
  }
  return found;
}

void a_reader_finds_all_of_it(const std::string& path) {
  const Contents found = contents(path);
  CHECK(found.sites == self->sites && found.threads == 1 && found.names == 2);
  CHECK(found.cells == cell_keys().size() && found.counts == cell_keys().size());
  CHECK(found.chunks == (found.cells + 71) / 72);
}

// --- steps and processors
// --------------------------------------------------------------------------

constexpr Ticks second = Ticks{1} << 32U;  // about

// The time line as if the thread had begun so many steps ago.
layout::Thread& line_of(double steps) {
  layout::Thread& stored = *self->stored;
  stored.step_ticks = second;
  stored.start = ticks() - static_cast<Ticks>(steps * static_cast<double>(second));
  stored.step.fill(0);
  self->step_end = stored.start;
  return stored;
}

Ticks call_that_took(Ticks took) {
  Thread* const thread = enter(call_Barrier, 16, stack, 1);
  const layout::Site& site = *thread->place->site;
  const Ticks before = site.ticks;
  thread->began = ticks() - took;
  leave(*thread, call_Barrier, nullptr, 1);
  return site.ticks - before;
}

void a_call_is_in_the_steps_in_which_it_was() {
  layout::Thread& stored = line_of(7.5);
  const Ticks took = call_that_took(3 * second);
  for (const std::size_t n : {0U, 1U, 2U, 3U, 8U, 9U}) CHECK(stored.step[n] == 0);
  CHECK(stored.step[5] == second && stored.step[6] == second);
  CHECK(stored.step[4] + stored.step[7] == took - 2 * second);
  CHECK(stored.step[4] < second && stored.step[7] > second / 4);
  CHECK(self->step == &stored.step[7] && self->step_end == stored.start + 8 * second);
  CHECK(stored.latest - stored.start < 8 * second);
  const Ticks more = call_that_took(1);
  CHECK(stored.step[4] + stored.step[7] == took + more - 2 * second);
}

void a_call_from_before_the_line_counts_from_its_start() {
  const layout::Thread& stored = line_of(2.5);
  call_that_took(10 * second);
  CHECK(stored.step[0] == second && stored.step[1] == second && stored.step[2] > second / 4);
  CHECK(stored.step[2] < second && stored.step[3] == 0);
}

void two_steps_become_one_where_there_is_no_room() {
  layout::Thread& stored = line_of(static_cast<double>(layout::most_steps) + 0.5);
  for (std::size_t n = 0; n < layout::most_steps; ++n) {
    stored.step[n] = n;
    stored.memory[n] = static_cast<std::uint32_t>(n);
  }
  const Ticks took = call_that_took(1);
  constexpr std::size_t middle = layout::most_steps / 2;
  for (std::size_t n = 0; n < middle; ++n) {
    CHECK(stored.step[n] == 4 * n + 1 && stored.memory[n] == 2 * n + 1);
  }
  CHECK(stored.memory[middle] > 1000 && stored.memory[middle + 1] == 0);  // of this test
  CHECK(stored.step[middle] == took && stored.step_ticks == 2 * second);
  for (std::size_t n = middle + 1; n < layout::most_steps; ++n) CHECK(stored.step[n] == 0);
  CHECK(self->step == &stored.step[middle]);
  CHECK(self->step_end == stored.start + (middle + 1) * 2 * second);
  // The last step that there is room for is not folded.
  const layout::Thread& last = line_of(static_cast<double>(layout::most_steps) - 0.5);
  const Ticks more = call_that_took(1);
  CHECK(last.step_ticks == second && last.step[layout::most_steps - 1] == more);
}

void processors_are_looked_up_with_each_step() {
  layout::Cpus& cpus = *self->cpus;
  cpus.used = 0;
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> numbers;
  for (int n = 0; n < CPU_SETSIZE && numbers.size() < 2; ++n) {
    if (CPU_ISSET(n, &allowed)) numbers.push_back(n);
  }
  for (int round = 0; round < 3; ++round) {
    for (const int number : numbers) {
      CPU_ZERO(&one);
      CPU_SET(number, &one);
      sched_setaffinity(0, sizeof one, &one);
      line_of(1.5);
      call_that_took(1);
      call_that_took(1);  // of the same step
    }
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
  CHECK(cpus.used == numbers.size());
  for (std::size_t n = 0; n < cpus.used; ++n) {
    CHECK(cpus.cpu[n].times == 3 && cpus.cpu[n].cpu == static_cast<std::uint32_t>(numbers[n]));
  }
  // Where the table is full nothing is written behind it.
  cpus.used = layout::most_cpus;
  for (auto& each : cpus.cpu) each = {.cpu = 9999, .node = 0, .times = 1};
  line_of(1.5);
  call_that_took(1);
  CHECK(cpus.used == layout::most_cpus && cpus.cpu[layout::most_cpus - 1].times == 1);
}

std::uint64_t user_time() {
  rusage took{};
  getrusage(RUSAGE_SELF, &took);
  return static_cast<std::uint64_t>(took.ru_utime.tv_sec) * 1'000'000U +
         static_cast<std::uint64_t>(took.ru_utime.tv_usec);
}

void the_process_notes_what_it_took() {
  layout::Head& head = process.storage.head();
  const std::uint64_t before = user_time();
  head.latest = {};
  head.usage = {};
  line_of(1.5);
  call_that_took(1);
  CHECK(head.latest.ticks > 0 && head.latest.utc_ns > 0 && head.latest.monotonic_ns > 0);
  CHECK(head.usage.user_us >= before && head.usage.user_us <= user_time());
  CHECK(head.usage.peak_kib > 0 && head.usage.minor_faults > 0);
}

// --- messages and collectives
// ----------------------------------------------------------------------

layout::Comm stored_comm{};
Comm some_comm{};

void begin_with_a_communicator() {
  stored_comm.size = 4;
  some_comm.number = 7;
  some_comm.stored = &stored_comm;
  place_of(call_Send, 16);  // which is counted from here on
}

using layout::Way;

void a_channel_for_each_peer_way_and_tag() {
  CHECK(channel_of(nullptr, 1, Way::sent, 5) == nullptr);
  CHECK(channel_of(&some_comm, layout::any_source, Way::received, 5) == nullptr);
  CHECK(channel_of(&some_comm, 0, Way::sent, 5) == nullptr);  // with itself
  CHECK(channel_of(&some_comm, 1, Way::sent, no_tag) == nullptr);
  stored_comm.remote_size = 1;
  CHECK(channel_of(&some_comm, 1, Way::sent, 5) == nullptr);
  stored_comm.remote_size = 0;
  Channel* const channel = channel_of(&some_comm, 1, Way::sent, 5);
  CHECK(channel != nullptr);
  if (channel == nullptr) return;
  CHECK(channel->stored->comm == 7 && channel->stored->peer == 1);
  CHECK(channel->stored->way == static_cast<std::uint8_t>(Way::sent));
  CHECK(channel->stored->tags == 5 && channel->comm == &some_comm && channel->tags == 5);
  CHECK(channel_of(&some_comm, 1, Way::sent, 5) == channel);
  CHECK(channel_of(&some_comm, 1, Way::sent, 0x14) == channel);  // the same four bits
  std::vector<Channel*> others = {channel, channel_of(&some_comm, 2, Way::sent, 5),
                                  channel_of(&some_comm, 1, Way::received, 5),
                                  channel_of(&some_comm, 1, Way::sent, 0)};
  CHECK(channel_beside(channel, 5) == channel && channel_beside(channel, 0) == others[3]);
  CHECK(channel_beside(nullptr, 5) == nullptr);
  std::sort(others.begin(), others.end());
  CHECK(others[0] != nullptr);
  CHECK(std::adjacent_find(others.begin(), others.end()) == others.end());
}

template <class Stored>
void check_kept(const Stored& stored, const Picker& picker, std::uint64_t count) {
  CHECK(stored.count == count && stored.used <= picker.places());
  std::vector<std::uint64_t> kept;
  for (std::uint32_t n = 0; n < stored.used; ++n) {
    const layout::Instance& each = picker.at(n);
    if (!is_kept(each.index, stored.level)) continue;  // its place is not needed yet
    kept.push_back(each.index);
    CHECK(each.thread == 0 && each.site == self->place->site->site && each.needs == 1);
    CHECK(each.entered == each.index && each.posted == each.index);
    CHECK(each.left == 2 * each.index + 1 && each.root == static_cast<std::int32_t>(each.index));
  }
  std::sort(kept.begin(), kept.end());
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t n = 0; n < count; ++n) {
    if (is_kept(n, stored.level)) wanted.push_back(n);
  }
  CHECK(kept == wanted);
}

void of_many_messages_one_in_so_many_is_kept() {
  Channel& channel = *channel_of(&some_comm, 3, Way::sent, 0);
  constexpr std::uint64_t many = 5000, places = 1024;  // of four blocks
  for (std::uint64_t n = 0; n < many; ++n) {
    if (n == places) CHECK(channel.stored->level == 0 && channel.stored->used == places);
    self->began = n;
    count_message(channel, *self, 2 * n + 1, static_cast<int>(n));
  }
  CHECK(channel.picker.blocks == 4 && channel.stored->level > 1);
  check_kept(*channel.stored, channel.picker, many);
  for (std::uint32_t n = 0; n < channel.picker.blocks; ++n) {
    CHECK(channel.picker.block[n]->of == channel.stored->kept &&
          channel.picker.block[n]->part == n);
  }
  forget_messages();
  CHECK(channel.stored->from == many && channel.stored->count == many);
}

void collectives_are_kept_by_call_and_size() {
  CHECK(instances_of(some_comm, call_Send, 3) == nullptr);
  for (int* const outside : {&stored_comm.remote_size, &stored_comm.size}) {
    const int before = *outside;
    *outside = 1;
    CHECK(instances_of(some_comm, call_Allreduce, 3) == nullptr);
    *outside = before;
  }
  stored_comm.size = 2;  // enough to wait for each other
  CHECK(instances_of(some_comm, call_Allgather, 3) != nullptr);
  stored_comm.size = 4;
  Instances* const sums = instances_of(some_comm, call_Allreduce, 3);
  CHECK(sums != nullptr && instances_of(some_comm, call_Allreduce, 3) == sums);
  if (sums == nullptr) return;
  CHECK(sums->stored->comm == 7 && sums->stored->call == call_Allreduce && sums->stored->bin == 3);
  CHECK(sums->stored->waits == static_cast<std::uint8_t>(Waits::all));
  CHECK(instances_of(some_comm, call_Allreduce, 4) != sums);
  CHECK(instances_of(some_comm, call_Bcast, 3)->stored->waits ==
        static_cast<std::uint8_t>(Waits::for_root));
  // Amounts that differ from rank to rank tell nothing apart.
  const Instances* const sizes = instances_of(some_comm, call_Alltoallv, 3);
  CHECK(sizes == instances_of(some_comm, call_Alltoallv, 4));
  CHECK(sizes->stored->bin == layout::other_sizes);
  constexpr std::uint64_t many = 300;
  for (std::uint64_t n = 0; n < many; ++n) {
    self->began = n;
    count_instance(*sums, *self, 2 * n + 1, static_cast<std::int32_t>(n));
  }
  CHECK(sums->stored->ticks == many * (many + 1) / 2 && sums->picker.blocks == 2);
  check_kept(*sums->stored, sums->picker, many);
  forget_instances();
  CHECK(sums->stored->from == many && sums->stored->ticks == 0);
}

// Beyond the first one of each, all together have 2048, of which four are in use.
void blocks_come_to_an_end() {
  std::uint32_t more = 0;
  for (int n = 0; n < 200; ++n) {
    Picker picker;
    CHECK(begin_keeping(picker, next_number(), most_blocks) && picker.blocks == 1);
    while (has_more_places(picker)) ++more;
    CHECK(picker.blocks == most_blocks || more == 2044);
  }
  CHECK(more == 2044);
}

void blocks_are_fewer_in_large_jobs() {
  layout::Head& head = process.storage.head();
  constexpr std::array<std::array<std::uint32_t, 2>, 6> table = {
      {{0, 16}, {1, 16}, {64, 16}, {100, 10}, {256, 4}, {100000, 4}}};
  for (const auto& [ranks, blocks] : table) {
    head.ranks = static_cast<std::int32_t>(ranks);
    CHECK(blocks_of_collective() == blocks);
  }
  head.ranks = 0;
}

// --- starting anew, and other code
// -----------------------------------------------------------------

void a_new_start_forgets_numbers_and_keeps_sites() {
  layout::Head& head = process.storage.head();
  process.keeps = true;
  const layout::Site& site = *place_of(call_Barrier, 16)->site;
  const layout::Site& other = *place_of(call_Send, 16)->site;
  layout::Cell& cell = *find_cell(*self, cell_keys()[3]);
  cell.amount = cell.most = cell.least = 5;
  head.cut = head.nested = head.lost_calls = head.lost_cells = 3;
  head.on_ticks = 99;
  head.on_since = 1;
  const std::uint32_t sites = self->sites;
  const std::uint64_t resets = head.resets;
  start_anew();
  CHECK(head.resets == resets + 1 && head.on_ticks == 0 && head.on_since > 1);
  CHECK(head.cut == 0 && head.nested == 0 && head.lost_calls == 0 && head.lost_cells == 0);
  CHECK(place_of(call_Barrier, 16)->site == &site && self->sites == sites);
  CHECK(self->stored->resets == head.resets);
  CHECK(site.failures == 1 && site.ticks == site.least && site.ticks == site.most);
  CHECK(other.failures == 0 && other.ticks == 0 && other.most == 0);
  CHECK(other.least == ~std::uint64_t{0} && is_zero(other.times.data(), sizeof other.times));
  CHECK(cell.count == 0 && cell.amount == 0 && cell.most == 0 && cell.least == ~std::uint64_t{0});
  CHECK(find_cell(*self, cell_keys()[3]) == &cell);
  CHECK(self->cpus->used <= 1);
  CHECK(self->stored->step_ticks < second && ticks() - self->stored->start < second * 60);
}

// Another library may lie where one was closed.
void a_place_whose_code_moved_is_forgotten() {
  const Place* const stays = place_of(call_Barrier, 16);
  const Place* const moves = place_of(call_Barrier, 4096);
  const layout::Frame& frame = first_frame(*moves->site);
  for (const bool by_offset : {true, false}) {
    const Place* const before = place_of(call_Barrier, 4096);
    auto& now = const_cast<layout::Frame&>(first_frame(*before->site));
    if (by_offset) ++now.offset;
    else now.module = 0;
    const std::uint64_t epoch = State::epoch(process.state.load());
    forget_code();
    CHECK(State::epoch(process.state.load()) == epoch + 1);
    const std::uint32_t sites = self->sites;
    CHECK(place_of(call_Barrier, 16) == stays && self->sites == sites);
    CHECK(place_of(call_Barrier, 4096) != before && self->sites == sites + 1);
    CHECK(place_of(call_Barrier, 4097) == place_of(call_Barrier, 4097));
  }
  CHECK(frame.offset == 4097);
}

void recording_goes_on_and_off() {
  layout::Head& head = process.storage.head();
  head.on_since = ticks();
  head.on_ticks = 0;
  set_recording(true);  // it is on already
  const Ticks since = head.on_since;
  CHECK(head.on_ticks == 0);
  set_recording(false);
  CHECK(head.on_since == 0 && head.on_ticks > 0 && head.on_ticks <= ticks() - since);
  CHECK(enter(call_Barrier, 16, stack, 1) == nullptr);
  const Ticks on = head.on_ticks;
  set_recording(false);
  CHECK(head.on_ticks == on);
  set_recording(true);
  CHECK(head.on_since >= since + on && head.on_ticks == on);
  CHECK(place_of(call_Barrier, 16) != nullptr);
  process.is_child = true;  // it shares the file with its parent
  set_recording(false);
  start_anew();
  process.is_child = false;
  CHECK(head.on_since != 0 && head.on_ticks == on);
}

// What waits for whom is followed as long as a single thread makes calls.
void one_thread_is_followed() {
  CHECK(is_followed(*self) && is_followed(*self));
  std::thread([] {
    place_of(call_Barrier, 16);
    CHECK(!is_followed(*self));
  }).join();
  CHECK(!is_followed(*self));
}

// --- threads
// ----------------------------------------------------------------------------------------

void tables_of_a_thread_that_ended_are_the_next_one_s() {
  const Thread* first = nullptr;
  const Place* place = nullptr;
  std::thread([&] {
    place = place_of(call_Barrier, 16);
    first = self;
    CHECK(enter(call_Barrier, 16, stack, 1) == self);  // it never comes back
  }).join();
  CHECK(first != nullptr && first != self && place->site->thread == 1);
  CHECK(place->site->site == 0 && first->stored->thread == 1 && first->cpus->thread == 1);
  std::thread([&] {
    CHECK(self == nullptr);
    CHECK(place_of(call_Barrier, 16) == place && self == first);
    std::thread([&] {
      place_of(call_Barrier, 16);
      CHECK(self != first && self->stored->thread == 2);
    }).join();
  }).join();
  CHECK(process.storage.head().cut == 0 && place->site->failures == 2);
}

}  // namespace

int main(int argc, char* const* argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const std::string path = folder + "/process";
  choose_clock();
  the_counter_is_used_where_it_never_stops();
  blocks_lie_one_behind_the_other();
  a_file_ends_at_its_limit();
  own_memory_is_zero_and_aligned();
  words_are_found_again();
  a_rule_is_a_word();
  a_file_of_code_has_its_build_id();
  tables_of_other_forms_tell_nothing();
  if (!process.storage.open(path.c_str(), std::size_t{1} << 27U)) return 2;
  process.state.store(State::started | State::recording);
  if (begin_thread() == nullptr) return 2;
  a_site_for_each_call_and_stack();
  a_known_stack_has_room_for_its_checks();
  a_region_has_sites_of_its_own();
  a_cell_for_each_kind_of_message();
  a_reader_finds_all_of_it(path);
  a_call_is_in_the_steps_in_which_it_was();
  a_call_from_before_the_line_counts_from_its_start();
  two_steps_become_one_where_there_is_no_room();
  processors_are_looked_up_with_each_step();
  the_process_notes_what_it_took();
  begin_with_a_communicator();
  a_channel_for_each_peer_way_and_tag();
  of_many_messages_one_in_so_many_is_kept();
  collectives_are_kept_by_call_and_size();
  blocks_are_fewer_in_large_jobs();
  a_new_start_forgets_numbers_and_keeps_sites();
  a_place_whose_code_moved_is_forgotten();
  recording_goes_on_and_off();
  tables_of_a_thread_that_ended_are_the_next_one_s();
  blocks_come_to_an_end();
  one_thread_is_followed();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
