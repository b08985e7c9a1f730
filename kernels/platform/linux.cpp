// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <utility>

#include "platform/platform.hpp"
#include "platform/taken.hpp"

namespace mpigauge::platform {

namespace detail {
bool counter_is_invariant = false;
}

namespace {

constexpr std::size_t page = 4096;
constexpr long most_cpus = 1L << 20;  // more than any kernel counts

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

#if defined(__x86_64__)
// The first processors of this kind cannot read the counter and wait for what came before.
bool reads_counter_in_order() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && (d & (1U << 27U)) != 0;
}
#endif

// The kernel drops the TSC as its clock source when it finds it unstable, also where a
// hypervisor hides the invariant bit; so its choice is the better witness.
bool invariant_counter() {
#if defined(__x86_64__)
  if (!reads_counter_in_order()) return false;
  const auto source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source.empty()) return source == "tsc";
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#elif defined(__aarch64__)
  return true;  // architected: constant rate, all cores alike
#else
  return false;
#endif
}

const char* clock_name() {
  if (!detail::counter_is_invariant) return "clock_monotonic";
#if defined(__aarch64__)
  return "cntvct";
#else
  return "tsc";
#endif
}

struct Origin {
  Ticks ticks = 0;
  Ticks ns = 0;
};
Origin origin;

Origin both_clocks() {
  // The reading with the least time between its two monotonic stamps is the truest pair.
  Origin best;
  Ticks least = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < 16; ++i) {
    const Ticks before = detail::monotonic_ns();
    const Ticks now = ticks();
    const Ticks after = detail::monotonic_ns();
    if (after - before < least) {
      least = after - before;
      best = {now, before + (after - before) / 2};
    }
  }
  return best;
}

double clock_rate() {
  if (!detail::counter_is_invariant) return 1e9;
#if defined(__aarch64__)
  Ticks hz;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
  return static_cast<double>(hz);
#else
  while (detail::monotonic_ns() - origin.ns < 20'000'000U) {
  }
  const Origin now = both_clocks();
  return static_cast<double>(now.ticks - origin.ticks) * 1e9 /
         static_cast<double>(now.ns - origin.ns);
#endif
}

// Cost of a reading: the fastest of many short runs, since anything slower was disturbed.
double cost_in_ticks() {
  constexpr int run = 100;
  Ticks least = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < 200; ++i) {
    const Ticks start = ticks();
    for (int j = 0; j < run - 1; ++j) static_cast<void>(ticks());
    least = std::min(least, ticks() - start);
  }
  return static_cast<double>(least) / run;
}

double step_in_ticks() {
  Ticks least = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < 2000; ++i) {
    const Ticks start = ticks();
    Ticks next = ticks();
    while (next == start) next = ticks();
    least = std::min(least, next - start);
  }
  return static_cast<double>(least);
}

std::optional<int> int_from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') {
      char* end = nullptr;
      const long value = std::strtol(text, &end, 10);
      if (*end == '\0' && value >= 0 && value <= std::numeric_limits<int>::max()) {
        return static_cast<int>(value);
      }
    }
  }
  return std::nullopt;
}

std::size_t mem_available() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == "MemAvailable:") {
      std::size_t kib = 0;
      file >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

// What is left below a cgroup's limit, for both hierarchies; the whole machine where none is set.
std::size_t cgroup_left(const std::string& limit_path, const std::string& used_path) {
  const auto number = [](const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 10);
  };
  const auto limit = first_line(limit_path);
  if (limit.empty() || limit == "max") return std::numeric_limits<std::size_t>::max();
  const auto used = first_line(used_path);
  const auto bound = number(limit), taken = number(used);
  return bound > taken ? bound - taken : 0;
}

std::string own_cgroup(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return "";
}

}  // namespace

void start_clock() {
  detail::counter_is_invariant = invariant_counter();
  origin = both_clocks();
}

ClockFacts clock_facts() {
  const double hz = clock_rate();
  return {clock_name(), hz, cost_in_ticks() / hz, step_in_ticks() / hz};
}

double now_s() noexcept { return static_cast<double>(detail::monotonic_ns()) * 1e-9; }

std::optional<CpuSet> parse_cpuset(const std::string& text) {
  CpuSet cpus;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at || first < 0 || first >= most_cpus) return std::nullopt;
    long last = first;
    if (*end == '-') {
      at = end + 1;
      last = std::strtol(at, &end, 10);
      if (end == at || last < first || last >= most_cpus) return std::nullopt;
    }
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    if (*end == ',') ++end;
    else if (*end != '\0') return std::nullopt;
    at = end;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string format_cpuset(const CpuSet& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1) ++j;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (j > i) text += '-' + std::to_string(cpus[j]);
    i = j + 1;
  }
  return text;
}

bool bind(const CpuSet& cpus) {
  if (cpus.empty()) return false;
  const int most = cpus.back() + 1;
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(most));
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
  CPU_ZERO_S(bytes, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  const bool done = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  // The kernel silently drops processors that the cpuset does not hold.
  return done && allowed_cpus() == cpus;
}

CpuSet allowed_cpus() {
  for (std::size_t most = 1024; most <= most_cpus; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const bool fits = sched_getaffinity(0, bytes, set) == 0;
    CpuSet cpus;
    for (std::size_t cpu = 0; fits && cpu < most; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(set);
    if (fits) return cpus;
  }
  return {};
}

int current_cpu() noexcept { return sched_getcpu(); }

int numa_node(int cpu) {
  const auto folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
  int node = -1;
  if (DIR* entries = opendir(folder.c_str()); entries != nullptr) {
    while (const dirent* entry = readdir(entries)) {
      if (std::strncmp(entry->d_name, "node", 4) == 0)
        node = static_cast<int>(std::strtol(entry->d_name + 4, nullptr, 10));
    }
    closedir(entries);
  }
  return node;
}

std::optional<int> launcher_local_rank() {
  return int_from_environment({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                               "PALS_LOCAL_RANKID", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID"});
}

std::optional<int> launcher_rank() {
  return int_from_environment(
      {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "FLUX_TASK_RANK"});
}

std::optional<int> launcher_size() {
  return int_from_environment(
      {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE"});
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

int process_id() noexcept { return getpid(); }

double process_age_s() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The 22nd field; the second is a name in brackets, which may hold blanks.
  std::istringstream fields(text.substr(text.find_last_of(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  const double started = std::strtod(field.c_str(), nullptr);
  timespec now{};
  if (started <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nan("");
  const double now_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  return now_s - started / static_cast<double>(sysconf(_SC_CLK_TCK));
}

namespace {

// The number that pthread_getcpuclockid() gives for a thread whose handle one has.
clockid_t clock_of_thread(int number) {
  constexpr unsigned of_one_thread = 4, exact = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(number) << 3U) | of_one_thread | exact);
}

}  // namespace

std::map<int, double> thread_cpu_s() {
  std::map<int, double> found;
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return found;
  while (const dirent* entry = readdir(threads)) {
    const auto number =
        static_cast<int>(std::strtol(entry->d_name, nullptr, 10));  // 0 for . and ..
    timespec used{};
    if (number > 0 && clock_gettime(clock_of_thread(number), &used) == 0) {
      found[number] = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
    }
  }
  closedir(threads);
  return found;
}

void sleep_s(double seconds) {
  timespec left{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::string utc_now() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::size_t available_memory() {
  const auto v2 = "/sys/fs/cgroup" + own_cgroup("");
  const auto v1 = "/sys/fs/cgroup/memory" + own_cgroup("memory");
  return std::min({mem_available(), cgroup_left(v2 + "/memory.max", v2 + "/memory.current"),
                   cgroup_left(v1 + "/memory.limit_in_bytes", v1 + "/memory.usage_in_bytes")});
}

Mapping::Mapping(std::size_t bytes) : size_((bytes + page - 1) / page * page) {
  if (size_ == 0) return;
  void* at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

namespace {

// What was stolen from a core, as last looked up.
class Steal {
 public:
  /// Looks when it is time to; true when more was stolen than at the last look, from the same core.
  bool grew(int cpu) {
    const double now = now_s();
    if (cpu == cpu_ && now < next_look_s_) return false;
    const long before = jiffies_;
    jiffies_ = stolen_jiffies(cpu);
    const bool more = cpu == cpu_ && jiffies_ > before;
    cpu_ = cpu;
    const double cost = now_s() - now;
    next_look_s_ = now + std::max(5e-3, 50 * cost);
    return more;
  }

 private:
  int cpu_ = -1;
  long jiffies_ = 0;
  double next_look_s_ = 0.0;
};
thread_local Steal steal;

}  // namespace

Counted counted() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {.blocked = usage.ru_nvcsw, .preempted = usage.ru_nivcsw, .cpu = current_cpu()};
}

TaintProbe::TaintProbe() {
  steal.grew(current_cpu());
  mark();
}

void TaintProbe::mark() { before_ = counted(); }

unsigned TaintProbe::taint() const {
  const Counted after = counted();
  unsigned bits = taint_between(before_, after);
  if (steal.grew(after.cpu)) bits |= Taint::stolen;
  return bits;
}

}  // namespace mpigauge::platform
