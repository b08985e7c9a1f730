// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "gpu/arenas.hpp"

#include <cstdint>
#include <memory>

#include "gpu/driver.hpp"

namespace mpigauge::gpu {

namespace {

Driver& opened() {
  Driver* const open = driver();
  if (open == nullptr) throw Error("no CUDA driver is open");
  return *open;
}

class PinnedArena : public Arena {
 public:
  explicit PinnedArena(std::size_t bytes)
      : driver_(opened()), data_(driver_.allocate_pinned(bytes)) {}
  ~PinnedArena() override { driver_.free_pinned(data_); }
  PinnedArena(const PinnedArena&) = delete;
  PinnedArena& operator=(const PinnedArena&) = delete;
  [[nodiscard]] Location location() const override { return {data_, data_}; }

 private:
  const Driver& driver_;
  std::byte* data_;
};

class GpuArena : public Arena {
 public:
  using Allocate = Address (Driver::*)(std::size_t) const;
  GpuArena(std::size_t bytes, Allocate allocate)
      : driver_(opened()), mirror_(bytes), data_((driver_.*allocate)(bytes)) {}
  ~GpuArena() override { driver_.free(data_); }
  GpuArena(const GpuArena&) = delete;
  GpuArena& operator=(const GpuArena&) = delete;

  [[nodiscard]] Location location() const override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are numbers
    return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(data_)),
            mirror_.location().mirror};
  }
  void push(std::size_t bytes) override {
    if (bytes == 0) return;
    driver_.copy_to_gpu(data_, mirror_.location().mirror, bytes);
    driver_.synchronize();
  }
  void pull(std::size_t bytes) override {
    if (bytes == 0) return;
    driver_.synchronize();
    driver_.copy_to_host(mirror_.location().mirror, data_, bytes);
  }

 private:
  const Driver& driver_;
  PinnedArena mirror_;
  Address data_;
};

std::unique_ptr<Arena> pinned_arena(std::size_t bytes) {
  return std::make_unique<PinnedArena>(bytes);
}
std::unique_ptr<Arena> device_arena(std::size_t bytes) {
  return std::make_unique<GpuArena>(bytes, &Driver::allocate);
}
std::unique_ptr<Arena> managed_arena(std::size_t bytes) {
  return std::make_unique<GpuArena>(bytes, &Driver::allocate_managed);
}

}  // namespace

MakeArena arenas_in(Memory memory, MakeArena host) {
  switch (memory) {
    case Memory::pinned: return pinned_arena;
    case Memory::device: return device_arena;
    case Memory::managed: return managed_arena;
    case Memory::host: break;
  }
  return host;
}

}  // namespace mpigauge::gpu
