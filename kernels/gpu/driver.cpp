// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "gpu/driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <new>

namespace mpigauge::gpu {

namespace {

constexpr int success = 0;
constexpr int out_of_memory = 2;
constexpr int no_device = 100;
constexpr int oldest_version = 11040;  // of cuDeviceGetUuid_v2
constexpr unsigned attach_global = 1;
constexpr unsigned portable = 1;

struct Uuid {
  std::array<unsigned char, 16> bytes;
};
using Handle = int;
using Context = void*;

std::string text_of(const Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", uuid.bytes.at(i));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += two;
  }
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

// The functions under the names that their current versions have in the library.
struct Driver::Calls {
  void* library = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(Handle*, int) = nullptr;
  int (*name)(char*, int, Handle) = nullptr;
  int (*uuid)(Uuid*, Handle) = nullptr;
  int (*bus)(char*, int, Handle) = nullptr;
  int (*total)(std::size_t*, Handle) = nullptr;
  int (*retain)(Context*, Handle) = nullptr;
  int (*release)(Handle) = nullptr;
  int (*set_current)(Context) = nullptr;
  int (*synchronize)() = nullptr;
  int (*memory)(std::size_t*, std::size_t*) = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*allocate_managed)(Address*, std::size_t, unsigned) = nullptr;
  int (*free)(Address) = nullptr;
  int (*allocate_pinned)(void**, std::size_t, unsigned) = nullptr;
  int (*free_pinned)(void*) = nullptr;
  int (*to_gpu)(Address, const void*, std::size_t) = nullptr;
  int (*to_host)(void*, Address, std::size_t) = nullptr;
  int (*make_stream)(Stream*, unsigned) = nullptr;
  int (*wait_for_stream)(Stream) = nullptr;
  int (*free_stream)(Stream) = nullptr;

  explicit Calls(const std::string& file) : library(dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    if (library == nullptr) throw Error(std::string("no CUDA driver: ") + dlerror());
    find(init, "cuInit");
    find(version, "cuDriverGetVersion");
    find(error_name, "cuGetErrorName");
    find(count, "cuDeviceGetCount");
    find(device, "cuDeviceGet");
    find(name, "cuDeviceGetName");
    find(uuid, "cuDeviceGetUuid_v2");
    find(bus, "cuDeviceGetPCIBusId");
    find(total, "cuDeviceTotalMem_v2");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(release, "cuDevicePrimaryCtxRelease_v2");
    find(set_current, "cuCtxSetCurrent");
    find(synchronize, "cuCtxSynchronize");
    find(memory, "cuMemGetInfo_v2");
    find(allocate, "cuMemAlloc_v2");
    find(allocate_managed, "cuMemAllocManaged");
    find(free, "cuMemFree_v2");
    find(allocate_pinned, "cuMemHostAlloc");
    find(free_pinned, "cuMemFreeHost");
    find(to_gpu, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(make_stream, "cuStreamCreate");
    find(wait_for_stream, "cuStreamSynchronize");
    find(free_stream, "cuStreamDestroy_v2");
    if (missing.empty()) return;
    throw Error(file + " is no CUDA driver of version 11.4 or newer: it has no " + missing);
  }

 private:
  template <class Function>
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = symbol;
  }
  std::string missing;
};

void Driver::check(int result, const char* call) const {
  if (result == success) return;
  const char* name = nullptr;
  if (calls_->error_name(result, &name) != success || name == nullptr) name = "an unknown error";
  throw Error(std::string(call) + ": " + name);
}

void Driver::check_memory(int result, const char* call) const {
  if (result == out_of_memory) throw std::bad_alloc();
  check(result, call);
}

// The library stays open: MPI may use it until the process ends.
Driver::Driver(const std::string& file) : calls_(std::make_unique<Calls>(file)), file_(file) {
  const int started = calls_->init(0);
  if (started == no_device) throw Error("the CUDA driver reports no GPU");
  check(started, "cuInit");
  int version = 0;
  check(calls_->version(&version), "cuDriverGetVersion");
  version_ = std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
  if (version < oldest_version) {
    throw Error("the CUDA driver supports CUDA " + version_ +
                ", and 11.4 is the oldest that will do");
  }
  list_devices();
}

Driver::~Driver() {
  if (!holds_context_) return;
  Handle handle = 0;
  if (calls_->device(&handle, used().index) == success) calls_->release(handle);
}

void Driver::list_devices() {
  int count = 0;
  check(calls_->count(&count), "cuDeviceGetCount");
  if (count == 0) throw Error("the CUDA driver reports no GPU");
  for (int index = 0; index < count; ++index) {
    Handle handle = 0;
    Uuid uuid{};
    std::array<char, 256> name{}, bus{};
    std::size_t bytes = 0;
    check(calls_->device(&handle, index), "cuDeviceGet");
    check(calls_->name(name.data(), static_cast<int>(name.size()), handle), "cuDeviceGetName");
    check(calls_->uuid(&uuid, handle), "cuDeviceGetUuid");
    check(calls_->bus(bus.data(), static_cast<int>(bus.size()), handle), "cuDeviceGetPCIBusId");
    check(calls_->total(&bytes, handle), "cuDeviceTotalMem");
    devices_.push_back({.index = index,
                        .bus = lower(bus.data()),
                        .uuid = "GPU-" + text_of(uuid),
                        .name = name.data(),
                        .bytes = bytes});
  }
}

const Device& Driver::device_at(const std::string& bus) const {
  const auto at = std::find_if(devices_.begin(), devices_.end(),
                               [&](const Device& each) { return each.bus == lower(bus); });
  if (at != devices_.end()) return *at;
  std::string all;
  for (const Device& each : devices_) all += (all.empty() ? "" : ", ") + each.bus;
  throw Error("no GPU at " + bus + ": the driver reports " + all);
}

void Driver::use(const Device& device) {
  Handle handle = 0;
  Context context = nullptr;
  check(calls_->device(&handle, device.index), "cuDeviceGet");
  check(calls_->retain(&context, handle), "cuDevicePrimaryCtxRetain");
  check(calls_->set_current(context), "cuCtxSetCurrent");
  used_ = static_cast<std::size_t>(device.index);
  holds_context_ = true;
}

std::size_t Driver::free_bytes() const {
  std::size_t left = 0, total = 0;
  check(calls_->memory(&left, &total), "cuMemGetInfo");
  return left;
}

Address Driver::allocate(std::size_t bytes) const {
  Address address = 0;
  check_memory(calls_->allocate(&address, bytes), "cuMemAlloc");
  return address;
}

Address Driver::allocate_managed(std::size_t bytes) const {
  // The driver grants more than there is, and thrashes.
  if (bytes > free_bytes()) throw std::bad_alloc();
  Address address = 0;
  check_memory(calls_->allocate_managed(&address, bytes, attach_global), "cuMemAllocManaged");
  return address;
}

std::byte* Driver::allocate_pinned(std::size_t bytes) const {
  void* address = nullptr;
  check_memory(calls_->allocate_pinned(&address, bytes, portable), "cuMemHostAlloc");
  return static_cast<std::byte*>(address);
}

void Driver::free(Address address) const noexcept { calls_->free(address); }

void Driver::free_pinned(std::byte* address) const noexcept { calls_->free_pinned(address); }

void Driver::copy_to_gpu(Address to, const std::byte* from, std::size_t bytes) const {
  check(calls_->to_gpu(to, from, bytes), "cuMemcpyHtoD");
}

void Driver::copy_to_host(std::byte* to, Address from, std::size_t bytes) const {
  check(calls_->to_host(to, from, bytes), "cuMemcpyDtoH");
}

void Driver::synchronize() const { check(calls_->synchronize(), "cuCtxSynchronize"); }

Stream Driver::make_stream() const {
  Stream stream = nullptr;
  constexpr unsigned not_blocking = 1;
  check(calls_->make_stream(&stream, not_blocking), "cuStreamCreate");
  return stream;
}

void Driver::synchronize(Stream stream) const {
  check(calls_->wait_for_stream(stream), "cuStreamSynchronize");
}

void Driver::free_stream(Stream stream) const noexcept { calls_->free_stream(stream); }

namespace {
std::unique_ptr<Driver>& opened() {
  static std::unique_ptr<Driver> driver;
  return driver;
}
}  // namespace

void start(const std::string& file, const std::vector<std::string>& buses, int local_rank) {
  auto driver = std::make_unique<Driver>(file);
  const auto local = static_cast<std::size_t>(std::max(local_rank, 0));
  if (buses.empty()) {
    driver->use(driver->devices()[local % driver->devices().size()]);
  } else if (local < buses.size()) {
    driver->use(driver->device_at(buses[local]));
  } else {
    throw Error("GPUs are named for " + std::to_string(buses.size()) +
                " ranks of a host, this is number " + std::to_string(local + 1));
  }
  opened() = std::move(driver);
}

Driver* driver() { return opened().get(); }

}  // namespace mpigauge::gpu
