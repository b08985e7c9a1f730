// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The MPI among the libraries that are loaded, asked by names: for the library that is preloaded,
// which was linked to no MPI. See linked.cpp for the other way.
#include "loaded.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace mpigauge::profile {

namespace {

// The library itself, as dlopen gives it.
void* library = nullptr;

// NOLINTNEXTLINE(misc-const-correctness): dlsym takes what dlopen gave
void* symbol(void* file, const char* name) { return linkers_dlsym()(file, name); }

// The file that a function is in, opened once more.
void* opened_file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

constexpr const char* surely_there = "PMPI_Init";

// What the caller's own file would find: a library that was opened for it alone, too.
void* seen_by_caller(Word pc) {
  void* const file = opened_file_of(reinterpret_cast<const void*>(pc));
  return file == nullptr ? nullptr : symbol(file, surely_there);
}

// NOLINTNEXTLINE(misc-const-correctness): as it is declared
int seen_in_file(dl_phdr_info* info, std::size_t, void* found) {
  if (info->dlpi_name == nullptr || *info->dlpi_name == '\0') return 0;
  void* const file = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (file == nullptr) return 0;
  void* const function = symbol(file, surely_there);
  dlclose(file);
  *static_cast<void**>(found) = function;
  return function == nullptr ? 0 : 1;
}

void* find_init(Word pc) {
  if (void* found = symbol(RTLD_NEXT, surely_there)) return found;
  if (void* found = seen_by_caller(pc)) return found;
  void* found = nullptr;
  dl_iterate_phdr(seen_in_file, &found);
  return found;
}

AbiKind kind_of_library() {
  if (symbol(library, "ompi_mpi_comm_world") != nullptr) return AbiKind::ompi;
  if (symbol(library, "MPIR_Dup_fn") != nullptr) return AbiKind::mpich;
  if (symbol(library, "MPI_Abi_get_version") != nullptr) return AbiKind::standard;
  return AbiKind::unknown;
}

// Which versions of symbols the C library has, by its own number: to ask for one that is not there
// would take memory, and whoever gives that out may be asking for symbols itself.
const char* version_of_dlsym() {
#if defined(__x86_64__)
  constexpr const char* before = "GLIBC_2.2.5";
#else
  constexpr const char* before = "GLIBC_2.17";
#endif
  constexpr long since = 34;
  char* point = nullptr;
  const long major = std::strtol(gnu_get_libc_version(), &point, 10);
  const long minor = *point == '.' ? std::strtol(point + 1, nullptr, 10) : 0;
  return major > 2 || minor >= since ? "GLIBC_2.34" : before;
}

}  // namespace

// NOLINTNEXTLINE(misc-const-correctness): dlsym takes what dlopen gave
bool has_call(void* file, const char* name) {
  std::array<char, 64> profiling{};
  std::snprintf(profiling.data(), profiling.size(), "P%s", name);
  return symbol(file, profiling.data()) != nullptr || symbol(file, name) != nullptr;
}

FindSymbol linkers_dlsym() {
  static FindSymbol found = nullptr;
  if (found == nullptr) {
    void const* const there = dlvsym(RTLD_NEXT, "dlsym", version_of_dlsym());
    std::memcpy(&found, &there, sizeof found);
  }
  return found;
}

void* found_after_us(const char* name) {
  void* const found = symbol(RTLD_NEXT, name);
  asm volatile("" ::: "memory");  // so that it is not a jump: who asks is told by where it is asked
  return found;
}

Function function_after_us(const char* name, Word pc) {
  void const* found = found_after_us(name);
  void* const file = found == nullptr ? opened_file_of(reinterpret_cast<const void*>(pc)) : nullptr;
  if (file != nullptr) found = symbol(file, name);
  Function function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

// An object of Open MPI's. A program that is not position-independent has a copy, which is what
// counts.
Word object_of(const char* name) {
  void const* found = symbol(RTLD_DEFAULT, name);
  if (found == nullptr) found = symbol(library, name);
  return reinterpret_cast<Word>(found);
}

void* mpi_seen_from(Word pc) {
  if (library != nullptr) return library;
  void const* const init = find_init(pc);
  return init == nullptr ? nullptr : opened_file_of(init);
}

bool mpi_has(const char* name, Word pc) {
  void* const file = mpi_seen_from(pc);
  return file != nullptr && has_call(file, name);
}

FoundMpi find_mpi(Word pc) {
  void const* const init = find_init(pc);
  if (init == nullptr) return {};
  library = opened_file_of(init);
  if (library == nullptr) return {};
  return {.init = reinterpret_cast<Word>(init), .kind = kind_of_library()};
}

Function find_function(const char* name) {
  std::array<char, 64> profiling{};
  std::snprintf(profiling.data(), profiling.size(), "P%s", name);
  void const* found = symbol(library, profiling.data());
  if (found == nullptr) found = symbol(library, name);
  Function function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

}  // namespace mpigauge::profile
