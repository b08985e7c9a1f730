// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The host: opens the site's MPI library, then the plugin that was built for its ABI, and hands
// over. It is linked to neither, so one build of the kernels runs on every MPI of an ABI.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int exit_usage = 2;

int fail(const char* what, const char* name) {
  std::fprintf(stderr, "mpigauge-kernel: %s %s: %s\n", what, name, dlerror());
  return exit_usage;
}

int usage() {
  std::fputs("usage: mpigauge-kernel --libmpi FILE --plugin FILE [--imb NAME] OPTIONS\n", stderr);
  return exit_usage;
}

using Entry = int (*)(int, char**);

Entry find_entry(void* plugin, const char* name) {
  const void* address = dlsym(plugin, name);
  Entry entry = nullptr;
  std::memcpy(&entry, &address, sizeof entry);
  return entry;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int own_words = 5;
  if (argc < own_words || std::strcmp(argv[1], "--libmpi") != 0 ||
      std::strcmp(argv[3], "--plugin") != 0) {
    return usage();
  }
  // Global, since the plugin's calls are resolved against it.
  if (dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) == nullptr) return fail("cannot open MPI", argv[2]);
  // Lazily, so that a call which an old library has not matters to those only that make it.
  void* plugin = dlopen(argv[4], RTLD_LAZY | RTLD_LOCAL);
  if (plugin == nullptr) return fail("cannot open plugin", argv[4]);
  argc -= own_words;
  argv += own_words;
  const bool as_imb = argc >= 2 && std::strcmp(argv[0], "--imb") == 0;
  const Entry entry = find_entry(plugin, as_imb ? "mpigauge_imb" : "mpigauge_kernel");
  if (entry == nullptr) return fail("no kernels in", argv[-1]);
  return as_imb ? entry(argc - 1, argv + 1) : entry(argc, argv);
}
