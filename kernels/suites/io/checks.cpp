// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/checks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "suites/io/positions.hpp"

namespace mpigauge::io {

namespace {

// Each rank looks at what the next one wrote, so that its own memory of it is of no use; a file of
// its own it reads itself.
std::size_t wrong_in_order(const Run& run, File& file, std::size_t turns) {
  const bool own = file.access().own_files();
  const int writer = own ? run.rank() : (run.rank() + 1) % run.ranks();
  std::vector<std::byte> got(file.share_of_rank(writer).bytes);
  std::size_t wrong = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::fill(got.begin(), got.end(), poison);
    file.read_at(file.place(turn, writer), got);
    wrong += wrong_bytes(writer, 0, got);
  }
  return wrong;
}

// The block of which rank begins here; the longest that fits, as a short one may look like the
// beginning of a long one.
std::optional<int> writer_at(const File& file, std::span<const std::byte> here,
                             const std::vector<std::size_t>& left) {
  std::optional<int> found;
  std::size_t longest = 0;
  for (int rank = 0; rank < static_cast<int>(left.size()); ++rank) {
    const std::size_t bytes = file.share_of_rank(rank).bytes;
    if (left[static_cast<std::size_t>(rank)] == 0 || bytes <= longest || bytes > here.size()) {
      continue;
    }
    if (wrong_bytes(rank, 0, here.first(bytes)) == 0) {
      found = rank;
      longest = bytes;
    }
  }
  return found;
}

// Blocks are where the ranks happened to come: each must be there as often as it was written.
std::size_t wrong_in_any_order(const Run& run, File& file, std::size_t turns) {
  if (run.rank() != 0) return 0;
  std::vector<std::size_t> left(static_cast<std::size_t>(run.ranks()), turns);
  const std::size_t end = turns * run.bytes();
  std::vector<std::byte> here(file.share_of_rank(0).bytes);
  for (std::size_t at = 0; at < end;) {
    const std::span<std::byte> part(here.data(), std::min(here.size(), end - at));
    std::fill(part.begin(), part.end(), poison);
    file.read_at(at, part);
    const auto writer = writer_at(file, part, left);
    if (!writer) return end - at;
    --left[static_cast<std::size_t>(*writer)];
    at += file.share_of_rank(*writer).bytes;
  }
  return 0;
}

// Where blocks of a turn can begin: after any number of blocks of each length.
std::set<std::size_t> possible_places(const Run& run, const File& file) {
  std::map<std::size_t, std::size_t> ranks_with;
  for (int rank = 0; rank < run.ranks(); ++rank) ++ranks_with[file.share_of_rank(rank).bytes];
  std::set<std::size_t> places{0};
  for (const auto& [bytes, ranks] : ranks_with) {
    std::set<std::size_t> more;
    for (const std::size_t place : places) {
      for (std::size_t n = 0; n <= ranks; ++n) more.insert(place + n * bytes);
    }
    places = std::move(more);
  }
  return places;
}

// Which place of the turn a block is from that was read through a pointer that all move.
std::optional<std::size_t> origin_of(const Run& run, const File& file, std::size_t turn,
                                     std::span<const std::byte> got) {
  for (const std::size_t place : possible_places(run, file)) {
    if (wrong_positions(turn * run.bytes() + place, got) == 0) return place;
  }
  return std::nullopt;
}

// Each rank must have got a block of the turn, and no two the same. A block of less than a unit may
// look like several, so it is not asked which it is.
std::size_t wrong_of_shared(const Run& run, const File& file, std::size_t turn,
                            std::span<const std::byte> got) {
  const auto origin = got.empty() ? 0 : origin_of(run, file, turn, got);
  const bool tells = origin && got.size() >= unit_bytes;
  const long mine = tells ? static_cast<long>(*origin) : -1L;
  std::vector<long> all(static_cast<std::size_t>(run.ranks()));
  call(MPI_Allgather(&mine, 1, MPI_LONG, all.data(), 1, MPI_LONG, run.comm()));
  const bool twice = tells && std::count(all.begin(), all.end(), mine) > 1;
  return !origin || twice ? got.size() : 0;
}

}  // namespace

std::size_t wrong_in_file(const Run& run, File& file, std::size_t turns) {
  file.show_all();
  const std::size_t wrong = file.access().unordered() ? wrong_in_any_order(run, file, turns)
                                                      : wrong_in_order(run, file, turns);
  call(MPI_Barrier(run.comm()));  // before anyone writes again
  return wrong;
}

std::size_t wrong_from_file(const Run& run, const File& file, std::size_t turn,
                            std::span<const std::byte> got) {
  if (file.access().unordered()) return wrong_of_shared(run, file, turn, got);
  return wrong_positions(file.place(turn, run.rank()), got);
}

}  // namespace mpigauge::io
