// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The driver of NVIDIA GPUs, opened at run time: no toolkit is needed to build or to run. Its
// functions and types are declared here as far as they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mpigauge::gpu {

/// An address in memory of a GPU.
using Address = std::uint64_t;
using Stream = void*;

/// A call of the driver that failed, or a driver that cannot be used.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A GPU as the driver describes it.
struct Device {
  int index = 0;
  std::string bus;   ///< 0000:19:00.0
  std::string uuid;  ///< GPU-… or MIG-… as nvidia-smi prints it
  std::string name;
  std::size_t bytes = 0;
};

class Driver {
 public:
  /// Opens the library and initialises it. Throws Error: it is missing, is no CUDA driver, is too
  /// old, or reports no GPU.
  explicit Driver(const std::string& file);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The version of CUDA that it supports: 13.0.
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// The device at an address of the PCI bus. Throws Error: no device has it.
  [[nodiscard]] const Device& device_at(const std::string& bus) const;

  /// Makes the primary context of a device current on this thread, which MPI, UCX and NCCL share.
  void use(const Device& device);
  [[nodiscard]] const Device& used() const { return devices_.at(used_); }
  /// Bytes of the used device that are free.
  [[nodiscard]] std::size_t free_bytes() const;

  /// These throw std::bad_alloc where memory lacks, Error where anything else is wrong.
  [[nodiscard]] Address allocate(std::size_t bytes) const;
  [[nodiscard]] Address allocate_managed(std::size_t bytes) const;
  [[nodiscard]] std::byte* allocate_pinned(std::size_t bytes) const;
  /// They do not throw: an error that they report happened earlier, and was reported then.
  void free(Address address) const noexcept;
  void free_pinned(std::byte* address) const noexcept;

  void copy_to_gpu(Address to, const std::byte* from, std::size_t bytes) const;
  void copy_to_host(std::byte* to, Address from, std::size_t bytes) const;
  /// Waits for all that the used device was given to do.
  void synchronize() const;

  [[nodiscard]] Stream make_stream() const;
  void synchronize(Stream stream) const;
  void free_stream(Stream stream) const noexcept;

 private:
  struct Calls;
  void check(int result, const char* call) const;
  void check_memory(int result, const char* call) const;
  void list_devices();

  std::unique_ptr<Calls> calls_;
  std::string file_, version_;
  std::vector<Device> devices_;
  std::size_t used_ = 0;
  bool holds_context_ = false;
};

/// Opens the driver of this process and selects the GPU of a rank: the one at its bus address, else
/// its local rank modulo the number of GPUs. Before MPI starts, so that the MPI finds the context.
void start(const std::string& file, const std::vector<std::string>& buses, int local_rank);
/// The driver that start() opened; null: none.
[[nodiscard]] Driver* driver();

}  // namespace mpigauge::gpu
