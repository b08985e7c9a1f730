// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <array>

#include "core/benchmark.hpp"
#include "core/refused.hpp"
#include "suites/io/folder.hpp"

namespace mpigauge {
namespace {

using namespace io;

constexpr Card card{
    .suite = "IO",
    .name = "Open_Close",
    .about = "All ranks together open a file, each writes a byte, all close it.",
    .place = 1000,
    .unit = Unit::none,
    .columns = Columns::barrier,
    .send = nothing,
    .recv = nothing,
    .options = {SuiteOption::dir, SuiteOption::io_cache},
    .seldom = true,
    .may_refuse = true,
};

/// The file, which is there from the first call to the end of the visit.
class OpenClose {
 public:
  explicit OpenClose(Run& run) : run_(run) {
    fill_bytes(run.rank(), 0, byte_);
    path_ = folder_in(run.directory(), run.comm(), trouble_) + "/data";
  }

  void once() {
    const int opened = MPI_File_open(run_.comm(), path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                     MPI_INFO_NULL, &handle_);
    trouble_.note(opened, "MPI_File_open");
    if (opened != MPI_SUCCESS) return;
    trouble_.note(
        MPI_File_write_at(handle_, run_.rank(), byte_.data(), 1, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_write_at");
    trouble_.note(MPI_File_close(&handle_), "MPI_File_close");
  }

  /// Whether the byte of the next rank is in the file.
  std::size_t wrong() {
    call(MPI_Barrier(run_.comm()));
    const int next = (run_.rank() + 1) % run_.ranks();
    std::array<std::byte, 1> got{poison};
    const int opened =
        MPI_File_open(run_.comm(), path_.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &handle_);
    trouble_.note(opened, "MPI_File_open");
    if (opened != MPI_SUCCESS) return 1;
    trouble_.note(MPI_File_read_at(handle_, next, got.data(), 1, MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_read_at");
    trouble_.note(MPI_File_close(&handle_), "MPI_File_close");
    return wrong_bytes(next, 0, got);
  }

  void remove() {
    call(MPI_Barrier(run_.comm()));
    if (run_.rank() == 0) MPI_File_delete(path_.c_str(), MPI_INFO_NULL);
    call(MPI_Barrier(run_.comm()));
    trouble_.agree(run_.comm());
  }

 private:
  Run& run_;
  Trouble trouble_;
  std::string path_;
  std::array<std::byte, 1> byte_{};
  MPI_File handle_ = MPI_FILE_NULL;
};

void open_close(Run& run) {
  OpenClose file(run);
  file.once();  // makes it, which is not timed
  run.measure([&](Turn) { file.once(); });
  run.expect(run.checking() ? file.wrong() : 0);
  file.remove();
}

const Add added{card, open_close};

}  // namespace
}  // namespace mpigauge
