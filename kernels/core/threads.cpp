// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/threads.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <stdexcept>
#include <thread>

namespace mpigauge {

namespace {

// A copy of a communicator for one thread.
class Duplicate {
 public:
  explicit Duplicate(MPI_Comm comm) { call(MPI_Comm_dup(comm, &comm_)); }
  ~Duplicate() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  Duplicate(Duplicate&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Duplicate& operator=(Duplicate&&) = delete;
  Duplicate(const Duplicate&) = delete;
  Duplicate& operator=(const Duplicate&) = delete;
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// What threads of a rank have of their own; the first has what the rank has.
class Teams {
 public:
  explicit Teams(Run& run) : run_(run), meeting_(run.threads()) {
    const Team& own = run.team();
    const auto threads = static_cast<std::size_t>(run.threads());
    for (std::size_t i = 1; i < threads; ++i) comms_.emplace_back(own.comm);
    starters_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) {
      Team team = own;
      team.thread = static_cast<int>(i);
      team.comm = i == 0 ? own.comm : comms_[i - 1].comm();
      team.starter = &starters_.emplace_back(own.starter->on(team.comm));
      team.threads = &meeting_;
      team.buffers = i == 0 ? own.buffers : &own.buffers->of_thread(i - 1);
      teams_.push_back(team);
    }
    place_buffers();
  }
  [[nodiscard]] const Team& operator[](std::size_t thread) const { return teams_[thread]; }
  [[nodiscard]] std::size_t size() const { return teams_.size(); }

 private:
  void place_buffers() {
    const ThreadMemory where = run_.options().thread_memory;
    if (where == ThreadMemory::continuous) lend_parts();
    if (where != ThreadMemory::serial) return;
    for (const Team& team : teams_) {
      Run of_thread(run_, team);
      static_cast<void>(of_thread.send_block());
      static_cast<void>(of_thread.recv_block());
    }
  }
  void lend_parts() {
    const std::size_t align = run_.options().align;
    const auto padded = [align](std::size_t bytes) { return (bytes / align + 1) * align; };
    const Layout memory = run_.memory();
    const std::size_t send = padded(memory.send_total()), recv = padded(memory.recv_total());
    std::byte* at = whole_.recv(size() * (send + recv)).location().data;
    for (Team& team : teams_) {
      Buffers& parts = parts_.emplace_back(mapped_arena);
      parts.lend_send(Run(run_, team).contents_to_send(), at, send);
      parts.lend_recv(at + send, recv);
      at += send + recv;
      team.buffers = &parts;
    }
  }

  Run& run_;
  std::barrier<> meeting_;
  std::vector<Duplicate> comms_;
  std::vector<Starter> starters_;
  std::vector<Team> teams_;
  Buffers whole_{mapped_arena};
  std::list<Buffers> parts_;
};

// A thread that fails cannot hand its error to the others, which wait for it in MPI.
[[noreturn]] void give_up(const std::exception& error) {
  std::fprintf(stderr, "mpigauge-kernel: in a thread on %s: %s\n", platform::host_name().c_str(),
               error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

Outcome run_thread(const Run& of_rank, const Team& team, const platform::CpuSet& core,
                   const std::function<void(Run&)>& benchmark) {
  try {
    const Bound bound(core);
    Run run(of_rank, team);
    benchmark(run);
    return run.take_outcome();
  } catch (const std::exception& error) {
    give_up(error);
  }
}

}  // namespace

Bound::Bound(const platform::CpuSet& cpus) {
  if (cpus.empty()) return;
  before_ = platform::allowed_cpus();
  if (!platform::bind(cpus) || platform::allowed_cpus() != cpus) {
    throw std::runtime_error("cannot bind a thread to core " + platform::format_cpuset(cpus));
  }
}

Bound::~Bound() {
  if (!before_.empty()) platform::bind(before_);
}

int mpi_constant(ThreadLevel level) {
  switch (level) {
    case ThreadLevel::single: break;
    case ThreadLevel::funneled: return MPI_THREAD_FUNNELED;
    case ThreadLevel::serialized: return MPI_THREAD_SERIALIZED;
    case ThreadLevel::multiple: return MPI_THREAD_MULTIPLE;
  }
  return MPI_THREAD_SINGLE;
}

ThreadLevel thread_level_of(int constant) {
  for (const auto level : {ThreadLevel::funneled, ThreadLevel::serialized, ThreadLevel::multiple}) {
    if (constant == mpi_constant(level)) return level;
  }
  return ThreadLevel::single;
}

std::vector<platform::CpuSet> cores_of_threads(const platform::CpuSet& allowed, int threads,
                                               int local_rank) {
  const auto wanted = static_cast<std::size_t>(threads);
  if (allowed.size() < wanted) return {};
  std::vector<platform::CpuSet> cores;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t at = static_cast<std::size_t>(local_rank) * wanted + i;
    cores.push_back({allowed[at % allowed.size()]});
  }
  return cores;
}

void on_threads(Run& run, const std::function<void(Run&)>& benchmark) {
  if (run.threads() == 1) return benchmark(run);
  const Teams teams(run);
  std::vector<Outcome> outcomes(teams.size());
  auto cores = cores_of_threads(platform::allowed_cpus(), run.threads(),
                                platform::launcher_local_rank().value_or(0));
  cores.resize(teams.size());
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < teams.size(); ++i) {
      others.emplace_back([&, i] { outcomes[i] = run_thread(run, teams[i], cores[i], benchmark); });
    }
    outcomes[0] = run_thread(run, teams[0], cores[0], benchmark);
  }
  run.take_over(std::move(outcomes));
}

}  // namespace mpigauge
