// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instances.hpp"
#include "library.hpp"
#include "messages.hpp"
#include "pending.hpp"
#include "python.hpp"
#include "regions.hpp"
#include "stack.hpp"
#include "thread.hpp"

namespace mpigauge::profile {

constinit Process process{};

namespace {

// A lock of its own kind, so that the thread that starts the profile may take it again.
pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// --- settings -----------------------------------------------------------------------------------

// A program with another's rights is not told by its user where to write.
const char* setting(const char* name) {
  const char* const text = secure_getenv(name);
  return text == nullptr ? "" : text;
}

// A number within limits; what is none, or outside, is said and left.
std::size_t number(const char* name, std::size_t usual, std::size_t most) {
  const char* const text = setting(name);
  if (*text == '\0') return usual;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (errno == 0 && *end == '\0' && *text != '-' && value <= most) return value;
  tell("%s is '%s', which is not a number from 0 to %zu; taking %zu", name, text, most, usual);
  return usual;
}

// --- the head -----------------------------------------------------------------------------------

layout::Moment now() {
  return {.ticks = ticks(),
          .monotonic_ns = nanoseconds_of(CLOCK_MONOTONIC),
          .utc_ns = nanoseconds_of(CLOCK_REALTIME)};
}

std::uint64_t microseconds(const timeval& time) {
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U) +
         static_cast<std::uint64_t>(time.tv_usec);
}

layout::Usage usage() {
  rusage took{};
  getrusage(RUSAGE_SELF, &took);
  const auto plain = [](long value) { return static_cast<std::uint64_t>(value); };
  return {.user_us = microseconds(took.ru_utime),
          .system_us = microseconds(took.ru_stime),
          .peak_kib = plain(took.ru_maxrss),
          .minor_faults = plain(took.ru_minflt),
          .major_faults = plain(took.ru_majflt),
          .voluntary_switches = plain(took.ru_nvcsw),
          .involuntary_switches = plain(took.ru_nivcsw)};
}

void store_words() {
  static std::array<char, 8192> words;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): /proc answers at once
  const ssize_t length = read(file, words.data(), words.size());
  close(file);
  if (length > 0) store_text(layout::About::words, words.data(), static_cast<std::size_t>(length));
}

// --- modules ------------------------------------------------------------------------------------

struct Stored {
  const layout::Module* module;
  Stored* next;
};
Stored* modules = nullptr;
std::uint32_t module_count = 0;

bool same(const layout::Module& module, const LoadedFile& file, const char* path) {
  return module.base == file.base &&
         std::strcmp(reinterpret_cast<const char*>(&module + 1), path) == 0;
}

std::uint32_t store_module(const LoadedFile& file, const char* path) {
  const std::size_t length = std::strlen(path);
  auto* const module = process.storage.make<layout::Module>(length + 1);
  auto* const noted = own<Stored>();
  if (module == nullptr || noted == nullptr) return layout::no_module;
  module->module = module_count++;
  module->base = file.base;
  module->id_bytes = std::min(file.id_bytes, static_cast<std::uint32_t>(module->id.size()));
  if (file.id != nullptr) std::memcpy(module->id.data(), file.id, module->id_bytes);
  module->path_length = static_cast<std::uint32_t>(length);
  std::memcpy(module + 1, path, length);
  Storage::publish(module->block, layout::Kind::module);
  *noted = {module, modules};
  modules = noted;
  return module->module;
}

std::uint32_t module_number(const LoadedFile& file) {
  const char* const path =
      *file.path == '\0' ? process.storage.head().executable.data() : file.path;
  for (const Stored* at = modules; at != nullptr; at = at->next) {
    if (same(*at->module, file, path)) return at->module->module;
  }
  return store_module(file, path);
}

// --- fork ---------------------------------------------------------------------------------------

// A child shares the file with its parent, and must not write there.
void leave_to_parent() {
  process.state.store(State::started, std::memory_order_relaxed);
  process.is_child = true;
  self = nullptr;
  lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

// --- start --------------------------------------------------------------------------------------

using Path = std::array<char, PATH_MAX>;

// How large a file may become: a program is killed that writes beyond what it may.
std::size_t most_bytes() {
  constexpr std::size_t usual = std::size_t{256} << 20U;
  const std::size_t limit = number("MPIGAUGE_PROFILE_LIMIT", usual, std::size_t{1} << 40U);
  rlimit largest{};
  if (getrlimit(RLIMIT_FSIZE, &largest) != 0) return limit;
  return std::min(limit, static_cast<std::size_t>(largest.rlim_cur));
}

// The name of a process may be taken: by the program that it was before exec(), or by one in
// another container. A host that nobody has prepared lacks the folder.
bool open_file(const char* folder, const char* host, Path& path) {
  constexpr int tries = 100;
  const std::size_t limit = most_bytes();
  for (int n = 0; n < tries; ++n) {
    const int length = std::snprintf(path.data(), path.size(), "%s/%s.%d-%d.mpiprof", folder, host,
                                     static_cast<int>(getpid()), n);
    if (length < 0 || static_cast<std::size_t>(length) >= path.size()) errno = ENAMETOOLONG;
    if (limit < layout::page) errno = EFBIG;
    const bool possible = static_cast<std::size_t>(length) < path.size() && limit >= layout::page;
    if (!possible) return false;
    if (process.storage.open(path.data(), limit)) return true;
    if (errno == ENOENT && n == 0 && mkdir(folder, S_IRWXU) == 0) continue;
    if (errno != EEXIST) return false;
  }
  return false;
}

bool make_file(const char* folder) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  static Path path;
  if (!open_file(folder, host.data(), path)) {
    tell("cannot make %s (%s); this process is not profiled", path.data(), std::strerror(errno));
    return false;
  }
  process.storage.head().host = host;
  return true;
}

// Launchers set these for every rank, also for one whose MPI does not read them. Of launchers
// within each other the one with fewest ranks is the inner one.
std::uint64_t ranks_launched() {
  std::uint64_t least = 0;
  for (const char* const name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const std::uint64_t ranks = std::strtoull(setting(name), nullptr, 10);
    if (ranks != 0 && (least == 0 || ranks < least)) least = ranks;
  }
  return least;
}

void fill_head() {
  layout::Head& head = process.storage.head();
  head.abi = static_cast<std::uint32_t>(abi.kind);
  head.pid = static_cast<std::uint64_t>(getpid());
  head.launched = ranks_launched();
  head.rank = -1;
  head.thread_level = -1;
  head.frames = process.frames;
  head.handle_bits = abi.handle_bits;
  head.any_source = abi.any_source;
  head.null_process = abi.proc_null;
  head.any_tag = abi.any_tag;
  head.root = abi.root;
  head.start = now();
  head.latest = head.start;
  head.usage_start = usage();
  head.usage = head.usage_start;
  const ssize_t length =
      readlink("/proc/self/exe", head.executable.data(), head.executable.size() - 1);
  if (length < 0) head.executable[0] = '\0';
  store_words();
}

bool can_start(Word pc, const char* folder) {
  if (!open_library(pc)) {
    tell("the MPI of this program has an ABI that mpigauge does not know; it is not profiled");
    return false;
  }
  choose_clock();
  process.frames = static_cast<std::uint32_t>(number("MPIGAUGE_PROFILE_FRAMES", 8, most_frames));
  return make_file(folder);
}

}  // namespace

Locked::Locked() { pthread_mutex_lock(&lock); }
Locked::~Locked() { pthread_mutex_unlock(&lock); }

void tell(const char* format, ...) {
  std::array<char, 1024> text{};
  std::va_list words;
  va_start(words, format);
  constexpr int start = 18;
  std::memcpy(text.data(), "mpigauge profile: ", start);
  std::vsnprintf(text.data() + start, text.size() - start - 1, format, words);
  va_end(words);
  const std::size_t length = std::strlen(text.data());
  text[length] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), length + 1);
}

void end_without(const char* name) {
  tell("the MPI of this program has no %s, which it calls", name);
  constexpr int as_linkers_do = 127;
  std::_Exit(as_linkers_do);
}

void start(Word pc) {
  const Locked locked;
  if (process.state.load(std::memory_order_relaxed) != 0) return;
  const char* const folder = setting("MPIGAUGE_PROFILE");
  if (*folder == '\0') {
    // The calls themselves are needed all the same.
    if (!open_library(pc)) tell("cannot find the MPI of this program");
    process.state.store(State::started, std::memory_order_release);
    return;
  }
  if (can_start(pc, folder)) {
    fill_head();
    pthread_atfork(nullptr, nullptr, leave_to_parent);
    process.keeps = true;
    const bool wants = std::strcmp(setting("MPIGAUGE_PROFILE_PYTHON_LINES"), "off") != 0;
    process.has_lines = wants && process.frames > 0 && find_python();
  }
  const bool on = process.keeps && std::strcmp(setting("MPIGAUGE_PROFILE_START"), "off") != 0;
  if (on) process.storage.head().on_since = process.storage.head().start.ticks;
  const std::uint64_t word = State::started | (on ? State::recording : 0);
  process.state.store(word, std::memory_order_release);
  begin_early_regions();
}

void store_text(layout::About about, const char* text, std::size_t length) {
  auto* const stored = process.storage.make<layout::Text>(length);
  if (stored == nullptr) return;
  stored->about = static_cast<std::uint32_t>(about);
  stored->length = static_cast<std::uint32_t>(length);
  std::memcpy(stored + 1, text, length);
  Storage::publish(stored->block, layout::Kind::text);
}

Rule rule_at(Word pc) {
  if (const std::uint64_t word = process.rules.find(pc)) return Rule::unpacked(word);
  LoadedFile file;
  const Rule rule = find_file(pc, file) ? find_rule(pc, file) : Rule{};
  const Locked locked;
  process.rules.put(pc, rule.packed());
  return rule;
}

layout::Frame stored_frame(Word pc) {
  LoadedFile file;
  if (!find_file(pc, file)) return {.offset = pc, .module = layout::no_module, .unused = 0};
  return {.offset = pc - file.base, .module = module_number(file), .unused = 0};
}

void note_call(Call call) {
  static std::array<bool, calls> noted;
  if (noted[call]) return;
  auto* const name = process.storage.make<layout::CallName>();
  if (name == nullptr) return;
  noted[call] = true;
  name->call = call;
  name->takes = taken_by(call);
  std::snprintf(name->name.data(), name->name.size(), "%s", call_names[call]);
  const std::string_view group = group_names[static_cast<std::size_t>(facts_of[call].group)];
  group.copy(name->group.data(), name->group.size() - 1);
  Storage::publish(name->block, layout::Kind::call);
}

void set_recording(bool on) {
  const Locked locked;
  if (!process.keeps || process.is_child) return;
  layout::Head& head = process.storage.head();
  const std::uint64_t word = process.state.load(std::memory_order_relaxed);
  if (State::is_recording(word) == on) return;
  if (on) {
    head.on_since = ticks();
    process.state.store(word | State::recording, std::memory_order_release);
  } else {
    head.on_ticks += ticks() - head.on_since;
    head.on_since = 0;
    process.state.store(word & ~State::recording, std::memory_order_release);
  }
}

void start_anew() {
  const Locked locked;
  if (!process.keeps || process.is_child) return;
  layout::Head& head = process.storage.head();
  head.on_ticks = 0;
  if (head.on_since != 0) head.on_since = ticks();
  head.usage_start = usage();
  head.lost_calls = head.lost_cells = head.cut = head.nested = 0;
  forget_regions();
  forget_instances();
  forget_messages();
  ++head.resets;
  process.state.fetch_add(std::uint64_t{1} << State::epoch_shift, std::memory_order_release);
}

void forget_code() {
  const Locked locked;
  if (!process.keeps || process.is_child) return;
  process.rules.clear();
  ++process.code_epoch;
  process.state.fetch_add(std::uint64_t{1} << State::epoch_shift, std::memory_order_release);
}

void note_usage() {
  layout::Head& head = process.storage.head();
  head.latest = now();
  head.usage = usage();
}

}  // namespace mpigauge::profile
