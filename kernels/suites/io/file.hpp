// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The file of a visit, or a file for each rank: made and filled before the clock runs, read or
// written turn by turn, removed after it.
#pragma once

#include <string>

#include "core/run.hpp"
#include "suites/io/access.hpp"
#include "suites/io/share.hpp"
#include "suites/io/trouble.hpp"

namespace mpigauge::io {

class File {
 public:
  File(Run& run, const Access& access);

  // All ranks together; these throw Refused on all of them or on none.

  /// Makes the file, with what is to be read in it, and opens it.
  void open();
  /// Closes and removes it, and tells all ranks of any trouble since it was opened.
  void finish();
  /// Closes and removes it after trouble; throws nothing.
  void discard();

  /// Before each loop, all ranks together: to the first turn, and the page cache as it is wanted.
  void rewind();

  // In the loop. Failures are noted, and known to all by finish().

  /// Reads or writes this rank's block of the next turn.
  void at_once(void* data) {
    next_turn();
    trouble_.note(calls_.at_once(handle_, offset_, data, count_), calls_.name);
  }
  /// Begins to; `request` is only used where the call has one.
  void start(void* data, MPI_Request* request) {
    next_turn();
    trouble_.note(calls_.start(handle_, offset_, data, count_, request), calls_.start_name);
  }
  void complete(void* data, MPI_Request* request) {
    trouble_.note(calls_.finish(handle_, data, request), calls_.start_name);
  }
  /// What has been written is on disk, and all ranks know.
  void settle();

  /// Bytes of this rank in each turn.
  [[nodiscard]] Stretch share() const { return share_; }
  [[nodiscard]] Stretch share_of_rank(int rank) const;
  /// Where the block of a rank is at a turn, in its file.
  [[nodiscard]] std::size_t place(std::size_t turn, int rank) const;
  /// Shows all of the file again, for checks. All ranks of the file together.
  void show_all();
  /// Reads at a place in the file; a rank by itself.
  void read_at(std::size_t place, std::span<std::byte> to);
  [[nodiscard]] Trouble& trouble() { return trouble_; }
  [[nodiscard]] const Access& access() const { return access_; }

 private:
  void next_turn() {
    if (turn_ == turns_) [[unlikely]]
      to_first_turn();
    ++turn_;
    offset_ = next_offset_;
    next_offset_ += static_cast<MPI_Offset>(step_);
  }
  void to_first_turn();
  [[nodiscard]] std::size_t turns_wanted() const;
  [[nodiscard]] bool reads() const { return access_.direction == Direction::read; }
  [[nodiscard]] std::string path_of(int rank) const;
  void check_room();
  void fill();
  void fill_blocks_of(int reader, MPI_File to);
  void fill_stretch(std::size_t first, std::size_t bytes, MPI_File to);
  void open_handle();
  void show_own_blocks();
  void look_at_hints();
  void drop_cache();
  void close_and_remove();

  Run& run_;
  Access access_;
  const Calls& calls_;
  IoCache cache_;
  Stretch share_;
  int count_;
  std::size_t step_;   // from a block of this rank to its next
  std::size_t turns_;  // blocks of a rank in the file
  std::string folder_;
  MPI_File handle_ = MPI_FILE_NULL;
  bool open_on_all_ = false;
  std::size_t turn_ = 0;
  MPI_Offset offset_ = 0;
  MPI_Offset next_offset_ = 0;
  Trouble trouble_;
};

}  // namespace mpigauge::io
