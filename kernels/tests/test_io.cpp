// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "platform/files.hpp"
#include "suites/io/access.hpp"
#include "suites/io/positions.hpp"
#include "suites/io/share.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::io;
namespace fs = std::filesystem;

namespace {

std::vector<std::size_t> shares(std::size_t bytes, int ranks) {
  std::vector<std::size_t> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(share_of(bytes, rank, ranks).bytes);
  return all;
}

using Shares = std::vector<std::size_t>;

std::vector<std::string> names_of_io() {
  std::vector<std::string> names;
  for (const auto& benchmark : benchmarks()) {
    if (benchmark.card.suite == "IO") names.emplace_back(benchmark.card.name);
  }
  return names;
}

// A place of its own for a test, gone afterwards.
class Place {
 public:
  Place() : path_(fs::temp_directory_path() / "mpigauge-test-io-XXXXXX") {
    std::string text = path_;
    path_ = mkdtemp(text.data());
  }
  ~Place() { fs::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write_file(const std::string& path, std::size_t bytes) {
  std::ofstream(path) << std::string(bytes, 'x');
}

}  // namespace

TEST(shares_are_whole_units_and_the_first_ranks_have_more) {
  CHECK_EQ(shares(16, 2), (Shares{8, 8}));
  CHECK_EQ(shares(12, 2), (Shares{8, 4}));
  CHECK_EQ(shares(4, 3), (Shares{4, 0, 0}));
  CHECK_EQ(shares(0, 2), (Shares{0, 0}));
}

TEST(a_cut_unit_is_the_last_one) {
  CHECK_EQ(shares(1, 2), (Shares{1, 0}));
  CHECK_EQ(shares(6, 2), (Shares{4, 2}));
  CHECK_EQ(shares(11, 2), (Shares{8, 3}));
}

TEST(shares_lie_side_by_side_and_make_up_all_bytes) {
  for (const std::size_t bytes : {0UL, 1UL, 3UL, 4UL, 5UL, 31UL, 4096UL, 4099UL, 1048576UL}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Stretch share = share_of(bytes, rank, ranks);
        CHECK_EQ(share.first, next);
        next += share.bytes;
      }
      CHECK_EQ(next, bytes);
      const auto all = shares(bytes, ranks);
      CHECK_EQ(static_cast<double>(*std::max_element(all.begin(), all.end())),
               largest_share({.bytes = bytes, .ranks = ranks}));
    }
  }
}

TEST(the_suite_is_in_the_order_of_imb) {
  const auto names = names_of_io();
  CHECK_EQ(names.size(), 37U);
  CHECK_EQ(names.front(), "S_Write_Indv");
  CHECK_EQ(names[1], "S_IWrite_Indv");
  CHECK_EQ(names[6], "P_Write_Shared");
  CHECK_EQ(names[17], "C_IWrite_Expl");
  CHECK_EQ(names[18], "S_Read_Indv");
  CHECK_EQ(names.back(), "Open_Close");
}

TEST(every_access_has_calls_of_its_kind) {
  for (const auto& access : all_accesses()) {
    const std::string called = calls_of(access).name;
    const bool reads = called.find("read") != std::string::npos;
    CHECK_EQ(reads, access.direction == Direction::read);
    const bool together = called.ends_with("_all") || called.ends_with("_ordered");
    CHECK_EQ(together, access.who == Who::collective);
  }
}

TEST(what_a_file_holds_depends_on_the_place_alone) {
  std::vector<std::byte> whole(100), part(41);
  fill_positions(0, whole);
  fill_positions(7, part);
  CHECK(std::equal(part.begin(), part.end(), whole.begin() + 7));
  CHECK_EQ(wrong_positions(7, part), 0U);
  part[5] ^= std::byte{1};
  CHECK_EQ(wrong_positions(7, part), 1U);
  CHECK(wrong_positions(11, part) > 30);
}

TEST(a_folder_goes_with_its_owner) {
  const Place place;
  const std::string path = place / "own";
  {
    const auto owner = platform::OwnFolder::make(path);
    const auto second = platform::OwnFolder::make(path);
    write_file(path + "/data", 10);
    CHECK(fs::exists(path + "/data"));
  }
  CHECK(!fs::exists(path));
}

TEST(who_did_not_make_a_folder_does_not_remove_it) {
  const Place place;
  const std::string path = place / "own";
  const auto owner = platform::OwnFolder::make(path);
  {
    const auto second = platform::OwnFolder::make(path);
  }
  CHECK(fs::exists(path));
}

TEST(it_is_said_why_a_folder_cannot_be_written) {
  const Place place;
  write_file(place / "file", 1);
  CHECK_EQ(platform::why_not_writable(place / "."), "");
  CHECK_EQ(platform::why_not_writable(place / "missing"), "No such file or directory");
  CHECK_EQ(platform::why_not_writable(place / "file"), "it is not a folder");
  CHECK(fs::is_empty(place / ".") == false);  // nothing but the file
  CHECK_EQ(std::distance(fs::directory_iterator(place / "."), {}), 1);
}

TEST(shares_in_the_page_cache_are_shares) {
  const Place place;
  const std::string path = place / "data";
  CHECK_EQ(platform::share_in_page_cache(path), 0.0);
  write_file(path, 1U << 16U);
  const double before = platform::share_in_page_cache(path);
  platform::drop_from_page_cache(path);
  const double after = platform::share_in_page_cache(path);
  CHECK(before >= 0 && before <= 1);
  CHECK(after >= 0 && after <= before);  // a file system in memory keeps all
}
