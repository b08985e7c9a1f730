// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What programs ask for by name while they run. Some ask whether their MPI has a call before they
// make it, some take all calls from there. So a call that the MPI lacks must not be found here, and
// one that it has must be found here and not there. And what they close.
#include "asked.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "facts.hpp"
#include "frames.hpp"
#include "loaded.hpp"
#include "process.hpp"

#if defined(__has_cpp_attribute) && __has_cpp_attribute(clang::musttail)
#define MPIGAUGE_JUMP [[clang::musttail]]
#else
#define MPIGAUGE_JUMP
#endif

namespace mpigauge::profile {

namespace {

bool is_wrapped(const char* name) {
  if (std::strncmp(name, "MPI_", 4) != 0) return false;
  const auto same = [name](const char* known) { return std::strcmp(known, name) == 0; };
  return std::any_of(call_names.begin(), call_names.end(), same);
}

const void* file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

// NOLINTNEXTLINE(misc-const-correctness): dlsym takes what dlopen gave
bool is_of_mpi(void* file, const void* address) {
  void const* const init = linkers_dlsym()(file, "PMPI_Init");
  return init != nullptr && file_of(init) == file_of(address);
}

bool is_profiled() {
  const char* const folder = std::getenv("MPIGAUGE_PROFILE");
  return folder != nullptr && *folder != '\0';
}

[[gnu::noinline]] void* find_call(void* file, const char* name, Word pc) {
  void* const found = linkers_dlsym()(file, name);
  if (is_ours(found)) return mpi_has(name, pc) ? found : found_after_us(name);
  if (found == nullptr || !is_profiled() || !is_of_mpi(file, found)) return found;
  return linkers_dlsym()(RTLD_DEFAULT, name);
}

}  // namespace

bool is_ours(const void* address) {
  static const char in_our_file = 0;
  return file_of(address) == file_of(&in_our_file);
}

}  // namespace mpigauge::profile

namespace profile = mpigauge::profile;

// The linker looks where it is asked from, so it is left by a jump.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" [[gnu::visibility("default")]] void* dlsym(void* file, const char* name) noexcept {
  profile::clear_weak_references();
  if (file == RTLD_NEXT || !profile::is_wrapped(name)) {
    const profile::FindSymbol find = profile::linkers_dlsym();
    MPIGAUGE_JUMP return find(file, name);
  }
  const auto pc = reinterpret_cast<profile::Word>(__builtin_return_address(0));
  return profile::find_call(file, name, pc);
}

// Where a file of code is closed another may come in its place.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" [[gnu::visibility("default")]] int dlclose(void* file) {
  static int (*next)(void*) = nullptr;
  if (next == nullptr) {
    void const* const found = profile::found_after_us("dlclose");
    std::memcpy(&next, &found, sizeof next);
  }
  const unsigned long long before = profile::files_closed();
  const int code = next(file);
  if (profile::files_closed() != before) profile::forget_code();
  return code;
}
