// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/shared.hpp"

#include <algorithm>

#include "suites/node/arrays.hpp"

namespace mpigauge::node {

namespace {

struct SharedCalls {
  int (*allocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*);
  int (*query)(MPI_Win, int, MPI_Aint*, int*, void*);
};

const SharedCalls& shared_calls() {
  static const SharedCalls found{
      .allocate = find_as<decltype(SharedCalls::allocate)>(calls_of_shared[0]),
      .query = find_as<decltype(SharedCalls::query)>(calls_of_shared[1]),
  };
  return found;
}

void agree_on_host(const Run& run) {
  std::array<char, 256> name{};
  const std::string own = platform::host_name().substr(0, name.size() - 1);
  std::copy(own.begin(), own.end(), name.begin());
  call(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, run.comm()));
  agree(run, own == name.data(), "its ranks are on different hosts, which share no cache");
}

// Some libraries, such as Open MPI 4.1, begin a window within a line. All ranks find the same first
// line, since the memory begins at a page for each of them.
std::byte* first_line(std::byte* base) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(base) % sizeof(Line);
  return beyond == 0 ? base : base + (sizeof(Line) - beyond);
}

std::byte* part_of(MPI_Win window, int rank) {
  MPI_Aint bytes = 0;
  int unit = 0;
  std::byte* base = nullptr;
  call(shared_calls().query(window, rank, &bytes, &unit, &base));
  return first_line(base);
}

}  // namespace

void in_shared(const Run& run, std::size_t bytes, const std::function<void(std::byte*)>& touch,
               const std::function<void(const Parts&)>& body) {
  agree_on_host(run);
  const std::size_t lines = bytes == 0 ? 0 : 1 + (bytes + sizeof(Line) - 1) / sizeof(Line);
  MPI_Win window = MPI_WIN_NULL;
  std::byte* mine = nullptr;
  call(shared_calls().allocate(static_cast<MPI_Aint>(lines * sizeof(Line)), 1, MPI_INFO_NULL,
                               run.comm(), &mine, &window));
  if (bytes > 0) touch(first_line(mine));
  call(MPI_Barrier(run.comm()));
  Parts parts;
  for (int rank = 0; rank < run.ranks(); ++rank) parts.push_back(part_of(window, rank));
  body(parts);
  call(MPI_Barrier(run.comm()));
  call(MPI_Win_free(&window));
}

}  // namespace mpigauge::node
