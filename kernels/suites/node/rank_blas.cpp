// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/rank_blas.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "blas/trial.hpp"
#include "core/library.hpp"
#include "suites/node/arrays.hpp"

namespace mpigauge::node {

namespace {

constexpr double patience_s = 30.0;
constexpr long most_threads = 4096;

struct Opened {
  std::string tried;  // what the trial printed, on the first rank of a host
  std::unique_ptr<blas::Library> library;
};
Opened& opened() {
  static Opened one;
  return one;
}

int& counted_threads() {
  static int threads = 1;
  return threads;
}

std::string file_of(const SuiteOptions& options) {
  return options.blas.substr(options.blas.find('=') + 1);
}

// A process for each rank would be many at a time.
std::string tried_on_host(const Run& run, const std::string& file) {
  MPI_Comm host = split_by_host(run.comm(), run.rank());
  std::string& said = opened().tried;
  if (rank_in(host) == 0 && said.empty()) {
    said = blas::try_out(blas::own_program(), file, patience_s);
  }
  std::string all = said;
  auto length = static_cast<int>(all.size());
  call(MPI_Bcast(&length, 1, MPI_INT, 0, host));
  all.resize(static_cast<std::size_t>(length));
  call(MPI_Bcast(all.data(), length, MPI_CHAR, 0, host));
  call(MPI_Comm_free(&host));
  return all;
}

// What a library is told before it is opened: it may make its threads then.
std::unique_ptr<blas::Library> open(const std::string& file) {
  blas::ask_for_threads(threads_of_library());
  auto library = std::make_unique<blas::Library>(file);
  library->use_threads(threads_of_library());
  return library;
}

}  // namespace

// The trial is talked about at checked visits alone, which all ranks of a run make together.
const blas::Library& library_of(const Run& run) {
  Opened& mine = opened();
  if (!run.checking()) return *mine.library;
  const std::string& blas = run.options().blas;
  agree(run, !blas.empty(), "no BLAS is named: --blas openblas, mkl, blis or a file");
  const std::string file = file_of(run.options());
  std::string problem = blas::read_trial(tried_on_host(run, file)).problem;
  if (problem.empty() && mine.library == nullptr) {
    try {
      mine.library = open(file);
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
  }
  agree(run, problem.empty(), problem);
  return *mine.library;
}

std::string words_of_library(const Shape& /*any*/) {
  const auto& library = opened().library;
  return library == nullptr ? "" : blas::words_of(library->account());
}

// Ranks that nobody bound share their cores.
void count_threads() {
  const auto cores = platform::allowed_cpus();
  const auto mine = std::hash<std::string>()(platform::format_cpuset(cores));
  MPI_Comm host = split_by_host(MPI_COMM_WORLD, rank_in(MPI_COMM_WORLD));
  std::vector<std::size_t> all(static_cast<std::size_t>(size_of(host)));
  call(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, host));
  call(MPI_Comm_free(&host));
  const auto sharers = std::max<std::ptrdiff_t>(1, std::count(all.begin(), all.end(), mine));
  counted_threads() = std::max(1, static_cast<int>(cores.size()) / static_cast<int>(sharers));
}

int threads_of_library() {
  const char* said = std::getenv("OMP_NUM_THREADS");
  const long wanted = said != nullptr ? std::strtol(said, nullptr, 10) : 0;
  return wanted > 0 ? static_cast<int>(std::min(wanted, most_threads)) : counted_threads();
}

void side_by_side(std::size_t items, const std::function<void(std::size_t, std::size_t)>& work) {
  const auto cores = platform::allowed_cpus();
  const auto parts = std::clamp<std::size_t>(static_cast<std::size_t>(threads_of_library()), 1,
                                             std::max<std::size_t>(items, 1));
  if (parts == 1) return work(0, items);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < parts; ++i) {
    threads.emplace_back([&, i] {
      platform::bind({cores[i % cores.size()]});
      work(items * i / parts, items * (i + 1) / parts);
    });
  }
}

}  // namespace mpigauge::node
