// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The buffer of MPI_Bsend. Programs add MPI_BSEND_OVERHEAD for each message, which is a number in
// their code: where the target needs more, it gets a larger buffer of ours.
#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

namespace {

constexpr Wide of_program = pick<program_abi>(96, 128, 512);
// The standard's 512 are more than any library with its ABI needs.
constexpr Wide of_target = pick<target_abi>(96, 128, 128);

/// Ours, and what the program believes is there. One buffer can be attached at a time.
struct Attached {
  void* memory = nullptr;
  void* programs = nullptr;
  Wide size = 0;
};
constinit Attached attached{};
constinit std::atomic<bool> is_larger{false};

Wide enough(void* address, Wide size) {
  const bool is_memory = special_to_target(address) == address && address != nullptr;
  if (of_target <= of_program || !is_memory || size <= 0) return size;
  return size + (size / of_program + 1) * (of_target - of_program);
}

int attach_to_target(Call call, void* address, Wide size) {
  if (function_of<call_Buffer_attach_c>() != nullptr) {
    return error_to_program(ask<call_Buffer_attach_c>(address, size));
  }
  if (!is_small(size)) {
    return refuse(name_of(call), "the target has no large counts, and this one is above 2^31 - 1",
                  Target::MPI_ERR_COUNT);
  }
  return error_to_program(ask<call_Buffer_attach>(address, static_cast<int>(size)));
}

int attach(Call call, void* address, Wide size) {
  if (function_of<call_Buffer_attach>() == nullptr) return missing(call);
  const Wide needed = enough(address, size);
  if (needed == size) return attach_to_target(call, special_to_target(address), size);
  void* const memory = std::malloc(static_cast<std::size_t>(needed));
  if (memory == nullptr) return error_to_program(Target::MPI_ERR_NO_MEM);
  const int code = attach_to_target(call, memory, needed);
  if (code != 0) {
    std::free(memory);
    return code;
  }
  attached = {memory, address, size};
  is_larger.store(true, std::memory_order_release);
  return 0;
}

/// The program gets back what it gave.
template <class Size>
int detach(Call call, void* place, Size* size) {
  if (function_of<call_Buffer_detach>() == nullptr) return missing(call);
  void* memory = nullptr;
  Wide many = 0;
  int few = 0, code = 0;
  if (function_of<call_Buffer_detach_c>() != nullptr) {
    code = ask<call_Buffer_detach_c>(static_cast<void*>(&memory), &many);
  } else {
    code = ask<call_Buffer_detach>(static_cast<void*>(&memory), &few);
    many = few;
  }
  if (code != 0) return error_to_program(code);
  memory = special_to_program(memory);
  if (is_larger.exchange(false, std::memory_order_acquire)) {
    std::free(attached.memory);
    memory = attached.programs;
    many = attached.size;
  }
  std::memcpy(place, static_cast<void*>(&memory), sizeof memory);
  *size = static_cast<Size>(many);
  return 0;
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Buffer_attach(void* address, int size) {
  return attach(call_Buffer_attach, address, size);
}
MPIGAUGE_EXPORT int PMPI_Buffer_attach_c(void* address, Wide size) {
  return attach(call_Buffer_attach_c, address, size);
}
MPIGAUGE_EXPORT int PMPI_Buffer_detach(void* place, int* size) {
  return detach(call_Buffer_detach, place, size);
}
MPIGAUGE_EXPORT int PMPI_Buffer_detach_c(void* place, Wide* size) {
  return detach(call_Buffer_detach_c, place, size);
}
MPIGAUGE_ALSO(Buffer_attach)
MPIGAUGE_ALSO(Buffer_attach_c)
MPIGAUGE_ALSO(Buffer_detach)
MPIGAUGE_ALSO(Buffer_detach_c)
