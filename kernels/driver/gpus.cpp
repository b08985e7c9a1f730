// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/gpus.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/driver.hpp"
#include "gpu/nccl.hpp"
#include "gpu/state.hpp"

namespace mpigauge {

namespace {

// Room for GPU-00000000-0000-0000-0000-000000000000, and its end.
constexpr std::size_t uuid_room = 48;
using Uuid = std::array<char, uuid_room>;

std::vector<Uuid> uuids_of_all(const Session& session) {
  Uuid mine{};
  gpu::driver()->used().uuid.copy(mine.data(), mine.size() - 1);
  std::vector<Uuid> all(static_cast<std::size_t>(session.ranks));
  call(MPI_Allgather(mine.data(), uuid_room, MPI_CHAR, all.data(), uuid_room, MPI_CHAR,
                     MPI_COMM_WORLD));
  return all;
}

std::string memory_kinds_of_world() {
  MPI_Info info = MPI_INFO_NULL;
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int has_it = 0;
  const auto get_info = find_as<int (*)(MPI_Comm, MPI_Info*)>("MPI_Comm_get_info");  // MPI-3
  if (get_info == nullptr || get_info(MPI_COMM_WORLD, &info) != MPI_SUCCESS) return "";
  MPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value.data(), &has_it);
  MPI_Info_free(&info);
  return has_it != 0 ? std::string("mpi_memory_alloc_kinds=") + value.data() : "";
}

}  // namespace

void select_gpu(const Options& options) {
  if (!uses_gpu(options)) return;
  gpu::name_nccl(options.nccl);
  const int local = options.all_on_first_gpu ? 0 : platform::launcher_local_rank().value_or(0);
  try {
    gpu::start(options.cuda, options.gpus, local);
  } catch (const gpu::Error& error) {
    const char* const option = options.all_on_first_gpu ? "" : "--memory: ";
    throw UsageError(option + platform::host_name() + ": " + error.what());
  }
}

void count_ranks_on_gpus(Session& session) {
  if (gpu::driver() == nullptr) return;
  auto all = uuids_of_all(session);
  const Uuid mine = all.at(static_cast<std::size_t>(session.rank));
  session.ranks_on_gpu = static_cast<int>(std::count(all.begin(), all.end(), mine));
  std::sort(all.begin(), all.end());
  session.options.gpus_shared = std::adjacent_find(all.begin(), all.end()) != all.end();
}

records::Gpu gpu_record(const Session& session) {
  const gpu::Driver* const driver = gpu::driver();
  if (driver == nullptr) return {};
  const gpu::Device& device = driver->used();
  const gpu::Link link = gpu::link_of(device.bus);
  return {.index = device.index,
          .bus = device.bus,
          .uuid = device.uuid,
          .name = device.name,
          .numa = link.numa,
          .link = link.now,
          .link_max = link.fastest,
          .mig = gpu::state_of(device.bus).mig,
          .mps = gpu::has_mps(),
          .ranks_on_it = session.ranks_on_gpu};
}

std::string cuda_version() {
  const gpu::Driver* const driver = gpu::driver();
  return driver != nullptr ? driver->version() : "";
}

std::string gpu_claims() {
  if (gpu::driver() == nullptr) return "";
  std::string text = memory_kinds_of_world();
  for (const std::string_view name : {"MPIX_Query_cuda_support"}) {
    const auto query = find_as<int (*)()>(name);
    if (query == nullptr) continue;
    if (!text.empty()) text += "; ";
    text += std::string(name) + '=' + std::to_string(query());
  }
  return text;
}

// The first rank on a GPU writes for all of them.
void write_gpu_states(const Session& session, const char* when) {
  const gpu::Driver* const driver = gpu::driver();
  if (driver == nullptr) return;
  const auto all = uuids_of_all(session);
  const auto mine = all.begin() + session.rank;
  std::string line;
  if (std::find(all.begin(), mine, *mine) == mine) {
    const gpu::State state = gpu::state_of(driver->used().bus);
    // A server of MPS is a process on the GPU, too.
    const auto own = static_cast<unsigned>(session.ranks_on_gpu + (gpu::has_mps() ? 1 : 0));
    line = object_of(records::GpuState{.launch = session.options.launch,
                                       .rank = session.rank,
                                       .when = when,
                                       .bus = driver->used().bus,
                                       .clock_hz = state.clock_hz,
                                       .clock_max_hz = state.clock_max_hz,
                                       .throttle = state.throttle,
                                       .power_w = state.power_w,
                                       .temperature_c = state.temperature_c,
                                       .others = state.processes - std::min(own, state.processes)})
               .text();
  }
  session.write_all(MPI_COMM_WORLD, line);
}

}  // namespace mpigauge
