// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cstdlib>
#include <functional>
#include <string>

#include "check.hpp"
#include "driver/cases.hpp"
#include "driver/names.hpp"
#include "driver/options.hpp"
#include "fake_mode.hpp"
#include "gpu/arenas.hpp"
#include "gpu/nccl.hpp"

using namespace mpigauge;

namespace {

constexpr const char* variable = "MPIGAUGE_FAKE_NCCL";

std::string error_of(const std::function<void()>& action) {
  return check::thrown_by<gpu::Error>(action);
}

std::string opened_as(const std::string& file) {
  return error_of([&] { const gpu::Nccl library(file); });
}

std::vector<Job> jobs(const std::string& benchmark, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"--benchmarks", benchmark, "--sizes", "8"};
  words.insert(words.end(), more.begin(), more.end());
  return jobs_of(*find_benchmark(benchmark), 2, read_options(words));
}

bool is_on_nccl(const Benchmark& benchmark) { return benchmark.card.suite == "NCCL"; }

}  // namespace

TEST(versions_of_nccl_in_words) {
  CHECK_EQ(gpu::nccl_version_of(22803), "2.28.3");
  CHECK_EQ(gpu::nccl_version_of(21105), "2.11.5");
  CHECK_EQ(gpu::nccl_version_of(2708), "2.7.8");
}

TEST(a_library_that_is_no_nccl_is_named) {
  CHECK(opened_as("/nowhere/libnccl.so.2").starts_with("cannot open NCCL: /nowhere/libnccl.so.2"));
  CHECK_EQ(opened_as(FAKE_CUDA), FAKE_CUDA " is not NCCL: it has no ncclGetVersion");
  const FakeMode mode(variable, "ancient");
  CHECK_EQ(opened_as(FAKE_NCCL), FAKE_NCCL " is NCCL 2.4.8, and 2.7.8 is the oldest that will do");
}

TEST(types_and_operations_of_nccl_are_those_of_the_kernels) {
  for (const char* name : {"byte", "char", "int", "float", "double", "int8", "int32", "int64",
                           "uint8", "uint32", "uint64", "float16", "bfloat16"}) {
    CHECK(gpu::find_nccl_type(name) != nullptr);
    CHECK(find_type(name) != nullptr);
  }
  for (const char* name : {"int16", "uint16", "double_complex", "2int", ""}) {
    CHECK(gpu::find_nccl_type(name) == nullptr);
  }
  for (const char* name : {"sum", "prod", "max", "min"}) CHECK(gpu::find_nccl_op(name) != nullptr);
  for (const char* name : {"land", "bxor", "maxloc", ""}) CHECK(gpu::find_nccl_op(name) == nullptr);
}

TEST(a_single_rank_reduces_on_the_gpu) {
  gpu::start(FAKE_CUDA, {}, 0);
  const gpu::Nccl library(FAKE_NCCL);
  CHECK_EQ(library.version(), "2.30.7");
  CHECK(library.has_all_to_all());
  auto* const connection = library.connect(library.make_id(), 1, 0);
  auto* const stream = gpu::driver()->make_stream();
  constexpr std::size_t bytes = 200000;
  const Contents sent{find_type("float"), "sum", 0};
  Buffers buffers(gpu::arenas_in(Memory::device, mapped_arena));
  const Arena& out = buffers.send(sent, bytes);
  Arena& in = buffers.recv(bytes);
  const gpu::NcclCount count{bytes / 4, *gpu::find_nccl_type("float"), bytes};
  const auto wrong = [&] {
    in.pull(bytes);
    return wrong_elements(*sent.type, reduced_period(*sent.type, "sum", 1), 0,
                          {in.location().mirror, bytes});
  };
  CHECK(wrong() > 0);
  library.all_reduce(out.location().data, in.location().data, count, *gpu::find_nccl_op("sum"),
                     connection, stream);
  gpu::driver()->synchronize(stream);
  library.check_background(connection);
  CHECK_EQ(wrong(), 0U);
  const FakeMode mode(variable, "wrong");
  library.all_reduce(out.location().data, in.location().data, count, *gpu::find_nccl_op("sum"),
                     connection, stream);
  CHECK_EQ(wrong(), 1U);
  library.disconnect(connection);
  gpu::driver()->free_stream(stream);
}

TEST(an_error_of_nccl_is_told_in_its_own_words) {
  gpu::start(FAKE_CUDA, {}, 0);
  const gpu::Nccl library(FAKE_NCCL);
  CHECK_EQ(error_of([&] { static_cast<void>(library.connect({}, 99, 0)); }),
           "NCCL 2.30.7: ncclCommInitRank: too many ranks for the fake");
}

TEST(benchmarks_of_nccl_are_on_the_gpu_whatever_memory_is_named) {
  std::size_t count = 0;
  for (const Benchmark& benchmark : benchmarks()) {
    if (!is_on_nccl(benchmark)) continue;
    ++count;
    const std::string name = "NCCL:" + std::string(benchmark.card.name);
    CHECK(uses_gpu(read_options({"--benchmarks", name})));
    for (const auto& more : {std::vector<std::string>{}, {"--memory", "host,managed"}}) {
      const auto rows = jobs(name, more);
      CHECK_EQ(rows.size(), 2U);  // each completion
      for (const Job& job : rows) {
        CHECK_EQ(job.row.memories.name(), "device");
        CHECK(!refusal_of(job.row, 1e9));
        // Calls that are completed at the end follow each other.
        CHECK((job.sync == SyncMethod::none) == (job.row.completion == Completion::end));
      }
    }
  }
  CHECK_EQ(count, 7U);
}

TEST(what_mpi_lacks_is_not_in_the_way_of_nccl) {
  for (const Job& job : jobs("NCCL:AllReduce", {"--datatype", "bfloat16"})) {
    CHECK(!refusal_of(job.row, 1e9));
  }
  Case row = jobs("NCCL:Broadcast").front().row;
  row.shape.bytes = std::size_t{1} << 33U;
  CHECK(!refusal_of(row, 1e12));
}
