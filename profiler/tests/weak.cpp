// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether weak references to calls that the MPI lacks are null, and no others: of a library that is
// there at the start, and of one that is opened later. The MPI (weak_mpi.cpp) has a single call.
//
// usage: weak LIBRARY
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

extern "C" {
unsigned weak_references();
// NOLINTNEXTLINE(readability-identifier-naming): it is to look like a call
[[gnu::visibility("default")]] int MPX_of_program() { return 0; }
}

namespace {

int failures = 0;

// As weak_library.cpp has them: those of MPI_Barrier and of what is no call stay.
void check(const char* what, unsigned references) {
  constexpr unsigned expected = 0b1100101;
  if (references == expected) return;
  ++failures;
  std::printf("%s: %#x, not %#x\n", what, references, expected);
}

}  // namespace

int main(int argc, char* const* argv) {
  if (argc != 2) return 2;
  check("at the start", weak_references());
  for (int round = 0; round < 2; ++round) {
    void* const file = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) return 2;
    const void* const found = dlsym(file, "weak_references_opened");
    unsigned (*references)() = nullptr;
    std::memcpy(&references, &found, sizeof references);
    check("opened", references());
    check("at the start, later", weak_references());
    dlclose(file);
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
