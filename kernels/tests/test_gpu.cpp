// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "check.hpp"
#include "core/run.hpp"
#include "driver/cases.hpp"
#include "driver/names.hpp"
#include "fake_mode.hpp"
#include "gpu/arenas.hpp"
#include "gpu/driver.hpp"
#include "gpu/state.hpp"

using namespace mpigauge;

namespace {

constexpr const char* variable = "MPIGAUGE_FAKE_CUDA";

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const gpu::Error& error) {
    return error.what();
  }
  return "";
}

void open_driver(const std::string& file) { const gpu::Driver driver(file); }

std::span<std::byte> bytes_of(const Arena& arena, std::size_t bytes) {
  return {arena.location().mirror, bytes};
}

// The signal that ends a process which reads the first byte there; 0: none.
int signal_of_reading(const std::byte* address) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    const auto value = *static_cast<const volatile std::byte*>(address);
    _exit(value == std::byte{0} ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST(the_driver_describes_its_gpus) {
  const gpu::Driver driver(FAKE_CUDA);
  CHECK_EQ(driver.version(), "13.0");
  CHECK_EQ(driver.devices().size(), 2U);
  const gpu::Device& second = driver.devices().at(1);
  CHECK_EQ(second.index, 1);
  CHECK_EQ(second.bus, "0000:1a:00.0");
  CHECK_EQ(second.uuid, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01");
  CHECK_EQ(second.name, "Fake GPU");
  CHECK_EQ(second.bytes, std::size_t{4096} << 20U);
  CHECK_EQ(driver.device_at("0000:1A:00.0").index, 1);
}

TEST(a_driver_that_cannot_be_used_is_named_in_one_line) {
  CHECK(error_of([] { open_driver("/nowhere/libcuda.so.1"); }).starts_with("no CUDA driver: "));
  CHECK_EQ(error_of([] { open_driver("libc.so.6"); }),
           "libc.so.6 is no CUDA driver of version 11.4 or newer: it has no cuInit");
  {
    const FakeMode none(variable, "none");
    CHECK_EQ(error_of([] { open_driver(FAKE_CUDA); }), "the CUDA driver reports no GPU");
  }
  {
    const FakeMode old(variable, "old");
    CHECK_EQ(error_of([] { open_driver(FAKE_CUDA); }),
             "the CUDA driver supports CUDA 10.2, and 11.4 is the oldest that will do");
  }
  const gpu::Driver driver(FAKE_CUDA);
  CHECK_EQ(error_of([&] { static_cast<void>(driver.device_at("0000:99:00.0")); }),
           "no GPU at 0000:99:00.0: the driver reports 0000:19:00.0, 0000:1a:00.0");
}

TEST(a_rank_gets_its_gpu) {
  const auto index_of = [](const std::vector<std::string>& buses, int local) {
    gpu::start(FAKE_CUDA, buses, local);
    return gpu::driver()->used().index;
  };
  CHECK_EQ(index_of({}, 0), 0);
  CHECK_EQ(index_of({}, 1), 1);
  CHECK_EQ(index_of({}, 2), 0);
  CHECK_EQ(index_of({"0000:1a:00.0", "0000:1a:00.0"}, 1), 1);
  CHECK_EQ(error_of([&] { index_of({"0000:1a:00.0"}, 1); }),
           "GPUs are named for 1 ranks of a host, this is number 2");
}

TEST(each_kind_of_memory_holds_what_the_mirror_shows) {
  gpu::start(FAKE_CUDA, {}, 0);
  for (const Memory memory : {Memory::host, Memory::pinned, Memory::device, Memory::managed}) {
    constexpr std::size_t bytes = 10000;
    const auto arena = gpu::arenas_in(memory, mapped_arena)(bytes);
    const auto mirror = bytes_of(*arena, bytes);
    fill_bytes(3, 0, mirror);
    arena->push(bytes);
    CHECK_EQ(arena->location().data == arena->location().mirror, !is_on_gpu(memory));
    if (is_on_gpu(memory)) std::fill(mirror.begin(), mirror.end(), poison);
    arena->pull(bytes);
    CHECK_EQ(wrong_bytes(3, 0, mirror), 0U);
  }
}

TEST(the_fake_gpu_faults_where_a_cpu_reads_its_memory) {
  gpu::start(FAKE_CUDA, {}, 0);
  const auto device = gpu::arenas_in(Memory::device, mapped_arena)(64);
  CHECK_EQ(signal_of_reading(device->location().data), SIGSEGV);
  CHECK_EQ(signal_of_reading(device->location().mirror), 0);
  const FakeMode aware(variable, "aware");
  const auto touchable = gpu::arenas_in(Memory::device, mapped_arena)(64);
  CHECK_EQ(signal_of_reading(touchable->location().data), 0);
}

TEST(memory_that_a_gpu_lacks_is_refused) {
  gpu::start(FAKE_CUDA, {}, 0);
  const std::size_t too_much = gpu::driver()->free_bytes() + 1;
  for (const Memory memory : {Memory::device, Memory::managed}) {
    bool refused = false;
    try {
      gpu::driver()->free(memory == Memory::device ? gpu::driver()->allocate(too_much)
                                                   : gpu::driver()->allocate_managed(too_much));
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST(a_lost_gpu_ends_with_the_name_of_the_error) {
  gpu::start(FAKE_CUDA, {}, 0);
  const auto arena = gpu::arenas_in(Memory::device, mapped_arena)(64);
  const FakeMode lost(variable, "lost");
  std::string error;
  for (int i = 0; i < 200 && error.empty(); ++i) error = error_of([&] { arena->push(64); });
  CHECK_EQ(error, "cuMemcpyHtoD: CUDA_ERROR_DEVICES_UNAVAILABLE");
}

TEST(the_link_of_a_gpu_is_read_from_sysfs) {
  const auto root = std::filesystem::temp_directory_path() / "mpigauge-test-gpu-link";
  const auto folder = root / "sys/bus/pci/devices/0000:19:00.0";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text << '\n';
  };
  write("current_link_speed", "16.0 GT/s PCIe");
  write("current_link_width", "8");
  write("max_link_speed", "32.0 GT/s PCIe");
  write("max_link_width", "16");
  write("numa_node", "1");
  const gpu::Link link = gpu::link_of("0000:19:00.0", root.string());
  CHECK_EQ(link.now, "16.0 GT/s x8");
  CHECK_EQ(link.fastest, "32.0 GT/s x16");
  CHECK_EQ(link.numa, 1);
  write("current_link_speed", "Unknown");
  CHECK_EQ(gpu::link_of("0000:19:00.0", root.string()).now, "");
  CHECK_EQ(gpu::link_of("0000:1a:00.0", root.string()).numa, -1);
  std::filesystem::remove_all(root);
}

TEST(reasons_of_a_low_clock_have_words) {
  CHECK_EQ(gpu::throttle_words(0x1), "");  // idle
  CHECK_EQ(gpu::throttle_words(0x4), "power");
  CHECK_EQ(gpu::throttle_words(0x80 | 0x20), "power,thermal");
  CHECK_EQ(gpu::throttle_words(0x48), "thermal,hardware");
}

TEST(each_memory_makes_a_case_where_there_are_buffers) {
  const auto names = [](const std::string& benchmark) {
    const Options options = read_options(
        {"--benchmarks", benchmark, "--sizes", "8", "--memory", "device,host,device:host"});
    std::string all;
    for (const Job& job : jobs_of(*find_benchmark(benchmark), 2, options)) {
      const auto why = refusal_of(job.row, 1e9);
      all += job.row.memories.name() + (why ? " (" + why->reason + ")" : "") + "; ";
    }
    return all;
  };
  CHECK_EQ(names("PingPong"), "device; host; device>host; ");
  CHECK_EQ(names("Barrier"), "host; ");
  CHECK_EQ(names("Bcast"),
           "device; host; device>host (memory device>host: only the two ranks of a pair can "
           "differ); ");
  CHECK(names("Compare_and_swap")
            .starts_with("device (memory device: its operands are in memory of the host); host"));
}

TEST(buffers_on_a_gpu_are_neither_cold_nor_fresh) {
  for (const auto& [option, reason] : std::map<std::string, std::string>{
           {"--cache", "memory device: rotating buffers are in memory of the host only"},
           {"--data", "memory device: fresh data are written in memory of the host only"}}) {
    const Options options =
        read_options({"--benchmarks", "PingPong", "--sizes", "8", "--memory", "device", option,
                      option == "--cache" ? "cold" : "fresh"});
    for (const Job& job : jobs_of(*find_benchmark("PingPong"), 2, options)) {
      const auto why = refusal_of(job.row, 1e9);
      CHECK(why.has_value());
      if (why) CHECK_EQ(why->reason, reason);
    }
  }
}
