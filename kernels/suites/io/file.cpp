// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/file.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/refused.hpp"
#include "platform/files.hpp"
#include "suites/io/folder.hpp"
#include "suites/io/positions.hpp"

namespace mpigauge::io {

namespace {

// A visit that would need more goes through the file again.
constexpr std::size_t enough_bytes = std::size_t{64} << 20U;
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
constexpr double hardly_any = 0.01;
constexpr std::array<const char*, 2> direct_hints{"direct_read", "direct_write"};

/// Hints for a file that is to bypass the page cache; none otherwise.
class Hints {
 public:
  explicit Hints(IoCache cache) {
    if (cache != IoCache::direct) return;
    call(MPI_Info_create(&info_));
    for (const char* hint : direct_hints) call(MPI_Info_set(info_, hint, "true"));
  }
  ~Hints() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  [[nodiscard]] MPI_Info info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

bool says_true(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int there = 0;
  call(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &there));
  return there != 0 && std::string_view(value.data()) == "true";
}

std::size_t all_calls(const Task& task) {
  return task.warm + static_cast<std::size_t>(task.calls) * task.samples;
}

}  // namespace

File::File(Run& run, const Access& access)
    : run_(run),
      access_(access),
      calls_(calls_of(access)),
      cache_(run.options().io_cache),
      share_(share_of_rank(run.rank())),
      count_(static_cast<int>(std::min<std::size_t>(share_.bytes, INT_MAX))),
      step_(access.own_files() ? share_.bytes : run.bytes()),
      turns_(turns_wanted()) {}

Stretch File::share_of_rank(int rank) const { return share_of(run_.bytes(), rank, run_.ranks()); }

std::size_t File::place(std::size_t turn, int rank) const {
  const Stretch share = share_of_rank(rank);
  return access_.own_files() ? turn * share.bytes : turn * run_.bytes() + share.first;
}

// A block for each call, so that none is read or written twice; where that is too much and nothing
// is to be kept out of the cache, at least for each call of a sample.
std::size_t File::turns_wanted() const {
  constexpr std::size_t for_checks = 2;
  const std::size_t wanted = all_calls(run_.task()) + (run_.checking() ? for_checks : 0);
  if (run_.bytes() == 0 || (reads() && cache_ != IoCache::keep)) return wanted;
  return std::min(wanted, std::max<std::size_t>(run_.task().calls, enough_bytes / run_.bytes()));
}

std::string File::path_of(int rank) const {
  if (!access_.own_files()) return folder_ + "/data";
  return folder_ + "/data." + std::to_string(rank);
}

void File::open() {
  folder_ = folder_in(run_.directory(), run_.comm(), trouble_);
  check_room();
  if (reads()) fill();
  open_handle();
  if (!reads()) {
    const std::size_t bytes = turns_ * step_;
    trouble_.note(MPI_File_set_size(handle_, static_cast<MPI_Offset>(bytes)), "MPI_File_set_size");
  }
  if (access_.pointer == Pointer::indv && !access_.own_files()) show_own_blocks();
  trouble_.agree(run_.comm());
}

void File::check_room() {
  if (share_.bytes > INT_MAX) {
    trouble_.note("more than 2147483647 bytes of a rank, which MPI-IO counts as int");
  }
  if (run_.rank() == 0) {
    const std::size_t needed = turns_ * run_.bytes(), free = platform::free_bytes(folder_);
    if (needed > free) {
      trouble_.note("not enough room: needs " + std::to_string(needed) + " bytes in " +
                    std::string(run_.directory()) + ", where " + std::to_string(free) +
                    " are free");
    }
  }
  trouble_.agree(run_.comm());
}

// Where the cache is to be kept out, a rank reads what the one after it wrote: on another host that
// one's pages are of no use to it.
void File::fill() {
  const int ranks = run_.ranks();
  const int reader = cache_ == IoCache::keep ? run_.rank() : (run_.rank() + ranks - 1) % ranks;
  MPI_File file = MPI_FILE_NULL;
  const std::string path = path_of(reader);
  const int opened = MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                   MPI_INFO_NULL, &file);
  trouble_.note(opened, "MPI_File_open");
  if (opened == MPI_SUCCESS) {
    fill_blocks_of(reader, file);
    if (cache_ != IoCache::keep) trouble_.note(MPI_File_sync(file), "MPI_File_sync");
    trouble_.note(MPI_File_close(&file), "MPI_File_close");
  }
  trouble_.agree(run_.comm());
}

void File::fill_blocks_of(int reader, MPI_File to) {
  const Stretch share = share_of_rank(reader);
  if (access_.own_files()) return fill_stretch(0, turns_ * share.bytes, to);
  // In one piece where it does not matter who wrote which block.
  if (cache_ == IoCache::keep || run_.ranks() == 1) {
    const Stretch part = share_of(turns_ * run_.bytes(), reader, run_.ranks());
    return fill_stretch(part.first, part.bytes, to);
  }
  for (std::size_t turn = 0; turn < turns_; ++turn) {
    fill_stretch(place(turn, reader), share.bytes, to);
  }
}

void File::fill_stretch(std::size_t first, std::size_t bytes, MPI_File to) {
  std::vector<std::byte> piece(std::min(bytes, piece_bytes));
  for (std::size_t done = 0; done < bytes && !trouble_.any();) {
    const std::span<std::byte> part(piece.data(), std::min(piece.size(), bytes - done));
    const std::size_t at = first + done;
    fill_positions(at, part);
    trouble_.note(MPI_File_write_at(to, static_cast<MPI_Offset>(at), part.data(),
                                    static_cast<int>(part.size()), MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at");
    done += part.size();
  }
}

void File::open_handle() {
  const Hints hints(cache_);
  const MPI_Comm comm = access_.own_files() ? MPI_COMM_SELF : run_.comm();
  const int mode = reads() ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR;
  const std::string path = path_of(run_.rank());
  const int opened = MPI_File_open(comm, path.c_str(), mode, hints.info(), &handle_);
  if (opened != MPI_SUCCESS) handle_ = MPI_FILE_NULL;
  trouble_.note(opened, "MPI_File_open");
  trouble_.agree(run_.comm());
  open_on_all_ = true;
  if (cache_ == IoCache::direct) look_at_hints();
}

// A view of nothing but the blocks of this rank: its share of each turn.
void File::show_own_blocks() {
  MPI_Datatype block = MPI_DATATYPE_NULL, shown = MPI_BYTE;
  if (share_.bytes > 0) {
    call(MPI_Type_contiguous(count_, MPI_BYTE, &block));
    call(MPI_Type_create_resized(block, 0, static_cast<MPI_Aint>(run_.bytes()), &shown));
    call(MPI_Type_commit(&shown));
  }
  trouble_.note(MPI_File_set_view(handle_, static_cast<MPI_Offset>(share_.first), MPI_BYTE, shown,
                                  "native", MPI_INFO_NULL),
                "MPI_File_set_view");
  if (share_.bytes > 0) {
    call(MPI_Type_free(&shown));
    call(MPI_Type_free(&block));
  }
}

void File::look_at_hints() {
  MPI_Info info = MPI_INFO_NULL;
  trouble_.note(MPI_File_get_info(handle_, &info), "MPI_File_get_info");
  if (info == MPI_INFO_NULL) return;
  const char* hint = direct_hints[reads() ? 0 : 1];
  if (!says_true(info, hint)) run_.remark(Remark::buffered);
  call(MPI_Info_free(&info));
}

void File::show_all() {
  trouble_.note(MPI_File_set_view(handle_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
                "MPI_File_set_view");
}

void File::read_at(std::size_t place, std::span<std::byte> to) {
  trouble_.note(MPI_File_read_at(handle_, static_cast<MPI_Offset>(place), to.data(),
                                 static_cast<int>(to.size()), MPI_BYTE, MPI_STATUS_IGNORE),
                "MPI_File_read_at");
}

void File::rewind() {
  to_first_turn();
  if (reads() && cache_ == IoCache::drop) drop_cache();
}

// All ranks come here at the same turn, so that moving the shared pointer may be collective.
void File::to_first_turn() {
  next_offset_ = static_cast<MPI_Offset>(place(0, run_.rank()));
  if (std::exchange(turn_, 0) == 0) return;  // just opened
  if (access_.pointer == Pointer::shared) {
    trouble_.note(MPI_File_seek_shared(handle_, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
  } else if (access_.pointer != Pointer::expl) {
    trouble_.note(MPI_File_seek(handle_, 0, MPI_SEEK_SET), "MPI_File_seek");
  }
}

// On every host, as each has a cache of its own; what is there afterwards is looked up.
void File::drop_cache() {
  const std::string path = path_of(run_.rank());
  platform::drop_from_page_cache(path);
  call(MPI_Barrier(run_.comm()));
  if (platform::share_in_page_cache(path) > hardly_any) run_.remark(Remark::cached);
}

// The barrier between two syncs is what makes all writes visible to all ranks.
void File::settle() {
  trouble_.note(MPI_File_sync(handle_), "MPI_File_sync");
  call(MPI_Barrier(run_.comm()));
  trouble_.note(MPI_File_sync(handle_), "MPI_File_sync");
}

void File::finish() {
  close_and_remove();
  trouble_.agree(run_.comm());
}

void File::discard() { close_and_remove(); }

void File::close_and_remove() {
  // A file that could not be opened by all cannot be closed together; the end of the job does that.
  if (handle_ != MPI_FILE_NULL && (open_on_all_ || access_.own_files())) {
    trouble_.note(MPI_File_close(&handle_), "MPI_File_close");
  }
  if (folder_.empty()) return;
  call(MPI_Barrier(run_.comm()));
  // What is not there (refused before it was made) need not go.
  if (run_.rank() == 0 || access_.own_files()) {
    MPI_File_delete(path_of(run_.rank()).c_str(), MPI_INFO_NULL);
  }
  call(MPI_Barrier(run_.comm()));
}

}  // namespace mpigauge::io
