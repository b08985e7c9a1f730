// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Launches on a fake clock: the sampling of the kernels measures a cell whose times come from a
// recorded trace or from a made-up process, among other cells that take time too.
//
//   replay SOURCE BYTES PRECISION LAUNCHES SEED
//
// SOURCE is a file of 32-bit numbers, the nanoseconds of calls one after the other, or the name of
// a process below. A launch begins at a random moment of the source. It prints a line: value, ends
// of its interval (nan: none), rounds, why it stopped, and its flags, joined by commas; times in
// nanoseconds. A trace also has detours: what its calls take beyond the usual is what detours
// took of the two cores.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>

#include "core/sampling.hpp"
#include "platform/taint.hpp"

namespace {

using namespace mpigauge;
using Random = std::mt19937_64;

constexpr double ns = 1e-9;

struct Call {
  double seconds = 0.0;
  platform::Counted counted{.cpu = 0};  ///< by the system, meanwhile
};

/// Where times come from; it goes on while others have their turns.
class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual Call call() = 0;
  virtual void pass(double seconds) = 0;
  /// As they would be found before a launch; none: nobody looks.
  [[nodiscard]] virtual Detours detours() const { return {}; }
};

// --- recorded ------------------------------------------------------------------------------

std::vector<std::uint32_t> read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::uint32_t> trace(static_cast<std::size_t>(file.tellg()) / sizeof(std::uint32_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(trace.data()),
            static_cast<std::streamsize>(trace.size() * sizeof(std::uint32_t)));
  return trace;
}

struct Recorded {
  std::vector<std::uint32_t> calls;
  Detours detours;
};

Recorded with_detours(std::vector<std::uint32_t> calls) {
  Detours found;
  const double usual = median({calls.begin(), calls.end()});
  for (const std::uint32_t taken : calls) {
    const double lost = (taken - usual) * ns;
    const bool detour = lost > Detours::shortest_s;
    if (detour) found.add(lost);
    found.observed(taken * ns, detour ? lost : 0);
  }
  return {std::move(calls), found};
}

class Trace : public Source {
 public:
  Trace(const Recorded& recorded, Random& random)
      : trace_(recorded.calls), detours_(recorded.detours), at_(random() % trace_.size()) {}
  [[nodiscard]] Detours detours() const override { return detours_; }
  Call call() override {
    const double taken = trace_[at_] * ns;
    at_ = (at_ + 1) % trace_.size();
    return {taken};
  }
  void pass(double seconds) override {
    while (seconds > 0) seconds -= call().seconds;
  }

 private:
  const std::vector<std::uint32_t>& trace_;
  const Detours& detours_;
  std::size_t at_;
};

// --- made up: 1 microsecond is the median of each, 1 ms of the last
// ------------------------------------------

/// Log-normal noise round a base that depends on time.
class Noisy : public Source {
 public:
  Noisy(Random& random, double sigma) : random_(random), sigma_(sigma) {}
  Call call() override {
    const double taken = 1e-6 * base(now_) * std::exp(sigma_ * normal_(random_));
    now_ += taken;
    return {taken};
  }
  void pass(double seconds) override { now_ += seconds; }

 protected:
  virtual double base(double) { return 1.0; }
  double uniform() { return uniform_(random_); }
  double normal() { return normal_(random_); }
  double waiting(double mean) { return -mean * std::log1p(-uniform()); }

 private:
  Random& random_;
  double sigma_, now_ = 0.0;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

/// Up and down by a tenth in ten seconds, longer than a launch.
class Drifting : public Noisy {
 public:
  explicit Drifting(Random& random)
      : Noisy(random, 0.03), phase_(2 * std::numbers::pi * uniform()) {}

 protected:
  double base(double now) override {
    return std::exp(0.1 * std::sin(phase_ + 2 * std::numbers::pi * now / 10));
  }

 private:
  double phase_;
};

/// Two speeds, 40 % apart, each kept for a while; the faster one more often.
class Bimodal : public Noisy {
 public:
  Bimodal(Random& random, double dwell_s)
      : Noisy(random, 0.02), dwell_s_(dwell_s), fast_(uniform() < share) {
    until_ = waiting(dwell_of());
  }
  static constexpr double share = 0.7;

 protected:
  double base(double now) override {
    while (now >= until_) {
      fast_ = !fast_;
      until_ += waiting(dwell_of());
    }
    // Divided by the quantile of a fast call that is the median of all calls, so that it is 1.
    constexpr double middle = 1.01142;  // exp(0.02 z) with P(Z < z) = 0.5 / 0.7
    return (fast_ ? 1.0 : 1.4) / middle;
  }

 private:
  [[nodiscard]] double dwell_of() const { return dwell_s_ * (fast_ ? share : 1 - share); }
  double dwell_s_;
  bool fast_;
  double until_ = 0.0;
};

/// A level that wanders and comes back, with a memory of 20 ms.
class Wandering : public Noisy {
 public:
  explicit Wandering(Random& random) : Noisy(random, 0.05), level_(normal()) {}

 protected:
  double base(double now) override {
    const double keep = std::exp(-(now - last_) / 20e-3);
    level_ = keep * level_ + std::sqrt(1 - keep * keep) * normal();
    last_ = now;
    return std::exp(0.1 * level_);
  }

 private:
  double level_, last_ = 0.0;
};

/// Others take the core now and then, mostly seen by the system, for times without a mean.
class Interrupted : public Noisy {
 public:
  explicit Interrupted(Random& random) : Noisy(random, 0.02), next_s_(waiting(every_s)) {}
  Call call() override {
    Call made = Noisy::call();
    elapsed_s_ += made.seconds;
    if (elapsed_s_ < next_s_) return made;
    const double lost = 20e-6 / (1 - uniform());
    Noisy::pass(lost);
    elapsed_s_ += lost;
    next_s_ = elapsed_s_ + waiting(every_s);
    return {made.seconds + lost, {.preempted = uniform() < 0.9 ? 1 : 0, .cpu = 0}};
  }
  void pass(double seconds) override {
    Noisy::pass(seconds);
    elapsed_s_ += seconds;
    // What happened while others were measured is not ours.
    if (elapsed_s_ >= next_s_) next_s_ = elapsed_s_ + waiting(every_s);
  }

 private:
  static constexpr double every_s = 100e-6;
  double elapsed_s_ = 0.0, next_s_;
};

/// A library that sleeps until the message is there, in calls a thousand times as long: two of five
/// find it there, the others wait for it.
class Blocking : public Noisy {
 public:
  explicit Blocking(Random& random) : Noisy(random, 0.002) {}
  Call call() override {
    const bool waits = uniform() < 0.6;
    // The middle of all calls is where a sixth of those that wait are done.
    const double late = waits ? 0.08 + 0.72 * uniform() : 0;
    const double taken = 20e-6 * (0.8 + late) * std::exp(0.002 * normal());
    Noisy::pass(taken);
    return {taken, {.blocked = waits ? 1 : 0, .cpu = 0}};
  }
};

using Begin = std::function<std::unique_ptr<Source>(Random&)>;

const std::map<std::string, Begin>& processes() {
  static const std::map<std::string, Begin> table{
      {"lognormal", [](Random& r) { return std::make_unique<Noisy>(r, 0.15); }},
      {"drift", [](Random& r) { return std::make_unique<Drifting>(r); }},
      {"bimodal-slow", [](Random& r) { return std::make_unique<Bimodal>(r, 1.0); }},
      {"bimodal-fast", [](Random& r) { return std::make_unique<Bimodal>(r, 20e-3); }},
      {"wandering", [](Random& r) { return std::make_unique<Wandering>(r); }},
      {"interrupted", [](Random& r) { return std::make_unique<Interrupted>(r); }},
      {"blocking", [](Random& r) { return std::make_unique<Blocking>(r); }},
  };
  return table;
}

Begin begin_of(const std::string& source) {
  if (const auto found = processes().find(source); found != processes().end()) return found->second;
  auto calls = read_trace(source);
  if (calls.empty()) throw std::runtime_error(source + " is empty");
  const auto trace = std::make_shared<const Recorded>(with_detours(std::move(calls)));
  return [trace](Random& random) { return std::make_unique<Trace>(*trace, random); };
}

// --- a launch ------------------------------------------------------------------------------

/// Twelve cells up to 1 MiB, of which the first is the one that is looked at.
class Launch {
 public:
  Launch(Source& source, double bytes, double precision, std::uint64_t seed)
      : source_(source),
        rules_{.hz = 1 / ns,
               .clock_cost_ticks = 12,
               .precision = precision,
               .seed = seed,
               .detours = source.detours()},
        sampling_(rules_, goals(bytes), 0.0) {}

  void run() {
    for (Round round = next(); !round.visits.empty(); round = next()) {
      for (const Visit& visit : round.visits) make(round, visit);
      spend(20e-6);  // the ranks agree on the next round
    }
  }

  void print() const {
    const Cell& cell = sampling_.cells()[0];
    const Estimate e = cell.estimate();
    const double none = std::numeric_limits<double>::quiet_NaN();
    const Stop stop = sampling_.stopped(0);
    std::string flags;
    for (const auto flag : summarise(cell, rules_, stop, sampling_.target()).flags) {
      flags += (flags.empty() ? "" : ",") + std::string(flag);
    }
    std::printf("%.6g %.6g %.6g %u %s %s\n", e.value, e.has_interval ? e.interval.low : none,
                e.has_interval ? e.interval.high : none, cell.rounds(),
                std::string(word(stop)).c_str(), flags.c_str());
  }

 private:
  static constexpr int others = 11;

  static std::vector<Goal> goals(double bytes) {
    std::vector<Goal> all{{calls_of_imb(bytes)}};
    for (int i = 0; i < others; ++i) all.push_back({calls_of_imb(std::exp2(2 * i))});
    return all;
  }

  Round next() { return sampling_.next(now_s_); }

  void spend(double seconds) {
    source_.pass(seconds);
    now_s_ += seconds;
  }

  void make(const Round& round, const Visit& visit) {
    const double start = now_s_;
    Chunk chunk{.round = round.number, .calls = visit.calls};
    for (int i = 0; i < visit.warm; ++i) call(visit.cell);
    for (int i = 0; i < visit.samples; ++i) {
      double all = 0.0;
      for (std::uint32_t c = 0; c < visit.calls; ++c) {
        const Call made = call(visit.cell);
        all += made.seconds;
        chunk.taint |= platform::taint_between({.cpu = 0}, made.counted);
      }
      chunk.slowest.push_back(static_cast<std::uint64_t>(std::llround(all * rules_.hz)));
    }
    chunk.fastest = chunk.mean = chunk.slowest;
    sampling_.add(visit.cell, std::move(chunk), now_s_ - start);
    spend(5e-6);  // the results come together
  }

  Call call(std::uint32_t cell) {
    if (cell == 0) {
      const Call made = source_.call();
      now_s_ += made.seconds;
      return made;
    }
    // 0.5 us and 10 GB/s, without noise: these stop as early as they may.
    const Call made{0.5e-6 + std::exp2(2 * (cell - 1)) * 1e-10};
    spend(made.seconds);
    return made;
  }

  Source& source_;
  Rules rules_;
  Sampling sampling_;
  double now_s_ = 0.0;
};

int replay(const std::vector<std::string>& words) {
  const Begin begin = begin_of(words[0]);
  const double bytes = std::stod(words[1]), precision = std::stod(words[2]);
  Random random(std::stoull(words[4]));
  for (long i = std::stol(words[3]); i > 0; --i) {
    const auto source = begin(random);
    Launch launch(*source, bytes, precision, random());
    launch.run();
    launch.print();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 6) return replay({argv + 1, argv + argc});
    std::fputs("usage: replay SOURCE BYTES PRECISION LAUNCHES SEED\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
  }
  return 2;
}
