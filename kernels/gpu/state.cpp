// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "gpu/state.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "platform/platform.hpp"

namespace mpigauge::gpu {

namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// "32.0 GT/s PCIe" and "16" as one text.
std::string speed_and_width(const std::string& folder, const std::string& which) {
  const std::string speed = first_line(folder + which + "_link_speed");
  const std::string width = first_line(folder + which + "_link_width");
  if (speed.empty() || width.empty() || speed.find("GT/s") == std::string::npos) return "";
  return speed.substr(0, speed.find("GT/s")) + "GT/s x" + width;
}

using Device = void*;
struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned instance, compute_instance;
};

constexpr unsigned clock_of_processors = 1;
constexpr unsigned temperature_of_gpu = 0;
constexpr int success = 0;
constexpr double hz_in_mhz = 1e6;
constexpr double w_in_mw = 1e-3;

// NVML as far as it is used; calls that a version lacks stay null.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    int (*init)() = nullptr;
    find(init, "nvmlInit_v2");
    is_open_ = init != nullptr && init() == success;
    find(device, "nvmlDeviceGetHandleByPciBusId_v2");
    find(clock, "nvmlDeviceGetClockInfo");
    find(clock_max, "nvmlDeviceGetMaxClockInfo");
    find(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(mig, "nvmlDeviceGetMigMode");
  }
  [[nodiscard]] bool is_open() const { return is_open_ && device != nullptr; }

  int (*device)(const char*, Device*) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*clock_max)(Device, unsigned, unsigned*) = nullptr;
  int (*throttle)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*processes)(Device, unsigned*, Process*) = nullptr;
  int (*mig)(Device, unsigned*, unsigned*) = nullptr;

 private:
  template <class Function>
  void find(Function& function, const char* symbol) const {
    if (library_ != nullptr) function = reinterpret_cast<Function>(dlsym(library_, symbol));
  }
  void* library_;
  bool is_open_ = false;
};

const Nvml& nvml() {
  static const Nvml library;
  return library;
}

// The value that a call writes last, scaled; NaN where it fails or is missing.
template <class... Arguments, class... Given>
double number(double scale, int (*call)(Arguments...), Given... given) {
  unsigned value = 0;
  if (call == nullptr || call(given..., &value) != success) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return scale * value;
}

}  // namespace

Link link_of(const std::string& bus, const std::string& root) {
  const std::string folder = root + "/sys/bus/pci/devices/" + bus + '/';
  Link link{.now = speed_and_width(folder, "current"), .fastest = speed_and_width(folder, "max")};
  const std::string numa = first_line(folder + "numa_node");
  if (!numa.empty()) link.numa = static_cast<int>(std::strtol(numa.c_str(), nullptr, 10));
  return link;
}

State state_of(const std::string& bus) {
  State state;
  Device device = nullptr;
  const Nvml& calls = nvml();
  if (!calls.is_open() || calls.device(bus.c_str(), &device) != success) return state;
  state.clock_hz = number(hz_in_mhz, calls.clock, device, clock_of_processors);
  state.clock_max_hz = number(hz_in_mhz, calls.clock_max, device, clock_of_processors);
  state.power_w = number(w_in_mw, calls.power, device);
  state.temperature_c = number(1, calls.temperature, device, temperature_of_gpu);
  unsigned long long reasons = 0;
  if (calls.throttle != nullptr && calls.throttle(device, &reasons) == success) {
    state.throttle = throttle_words(reasons);
  }
  std::array<Process, 256> processes{};
  auto count = static_cast<unsigned>(processes.size());
  if (calls.processes != nullptr && calls.processes(device, &count, processes.data()) == success) {
    state.processes = count;
  }
  unsigned divided = 0, later = 0;
  state.mig =
      calls.mig != nullptr && calls.mig(device, &divided, &later) == success && divided == 1;
  return state;
}

bool has_mps() {
  const char* const folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string pipes = folder != nullptr ? folder : "/tmp/nvidia-mps";
  return platform::file_exists(pipes + "/nvidia-cuda-mps-control.pid");
}

std::string throttle_words(unsigned long long reasons) {
  struct Reason {
    unsigned long long bits;
    std::string_view word;
  };
  constexpr std::array words{Reason{0x84, "power"}, Reason{0x60, "thermal"},
                             Reason{0x08, "hardware"}};
  std::string text;
  for (const auto& [bits, word] : words) {
    if ((reasons & bits) != 0) text.append(text.empty() ? "" : ",").append(word);
  }
  return text;
}

}  // namespace mpigauge::gpu
