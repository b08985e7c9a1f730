// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "record/json.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

std::string value_text(double value) { return Object().add("x", value).text(); }

std::string content(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

std::string new_file() {
  std::string path = "/tmp/mpigauge-test-XXXXXX";
  const int file = mkstemp(path.data());
  if (file >= 0) close(file);
  return path;
}

}  // namespace

TEST(members_stand_in_order) {
  Object inner;
  inner.add("hz", 2.5e9);
  Object object = record("cell");
  object.add("n", 3).add("big", ~std::uint64_t{0}).add("good", true).add("clock", inner);
  CHECK_EQ(
      object.text(),
      R"({"record":"cell","n":3,"big":18446744073709551615,"good":true,"clock":{"hz":2.5e+09}})");
  CHECK_EQ(Object().text(), "{}");
}

TEST(text_is_escaped) {
  Object object;
  object.add("a\"b", "back\\slash \"quoted\" \n\t\x01 µs");
  CHECK_EQ(object.text(), "{\"a\\\"b\":\"back\\\\slash \\\"quoted\\\" \\u000a\\u0009\\u0001 µs\"}");
}

TEST(what_is_no_number_is_null) {
  CHECK_EQ(value_text(std::nan("")), R"({"x":null})");
  CHECK_EQ(value_text(std::numeric_limits<double>::infinity()), R"({"x":null})");
  CHECK_EQ(value_text(-std::numeric_limits<double>::infinity()), R"({"x":null})");
}

TEST(numbers_keep_nine_digits) {
  CHECK_EQ(value_text(1.23456789e-7), R"({"x":1.23456789e-07})");
  CHECK_EQ(value_text(0), R"({"x":0})");
  CHECK_EQ(value_text(-0.25), R"({"x":-0.25})");
}

TEST(lists_and_merged_objects) {
  Object one, two, both;
  one.add("n", 1);
  two.add("n", 2);
  CHECK_EQ(both.add("all", std::vector{one, two}).text(), R"({"all":[{"n":1},{"n":2}]})");
  CHECK_EQ(Object().add("w", std::vector<std::string_view>{"a", "b"}).text(), R"({"w":["a","b"]})");
  CHECK_EQ(Object().add("w", std::vector<std::string_view>{}).text(), R"({"w":[]})");
  Object merged;
  CHECK_EQ(merged.merge(one).merge(Object()).merge(two).text(), R"({"n":1,"n":2})");
}

TEST(words_become_base64_of_little_endian_bytes) {
  const auto encoded = [](std::vector<std::uint32_t> words) { return base64(words); };
  CHECK_EQ(encoded({}), "");
  CHECK_EQ(encoded({0}), "AAAAAA==");
  CHECK_EQ(encoded({0x656d6f53}), "U29tZQ==");                  // "Some"
  CHECK_EQ(encoded({0x656d6f53, 0x78657420}), "U29tZSB0ZXg=");  // "Some tex"
  CHECK_EQ(encoded({0x656d6f53, 0x78657420, 0x21212174}), "U29tZSB0ZXh0ISEh");
  CHECK_EQ(encoded({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}), "////////////////");
  CHECK_EQ(encoded({0xFBEFBE3E}), "Pr7v+w==");
}

TEST(lines_are_appended) {
  const std::string path = new_file();
  Writer(path).write("one");
  Writer(path).write(Object().add("n", 2));
  CHECK_EQ(content(path), "one\n{\"n\":2}\n");
  unlink(path.c_str());
}

TEST(records_are_counted_without_news_of_progress) {
  std::string kept;
  Writer writer(kept);
  CHECK_EQ(writer.records(), 0U);
  writer.write(record("launch"));
  writer.write(record("progress").add("launch", 0));
  writer.write(record("cell").text() + '\n' + record("progress").text() + '\n' +
               record("skip").text());
  CHECK_EQ(writer.records(), 3U);
}

TEST(a_full_disk_is_said_with_its_reason) {
  const auto said = check::thrown_by<std::runtime_error>([] { Writer("/dev/full").write("x"); });
  CHECK_EQ(said, "cannot write /dev/full: No space left on device");
}

TEST(a_file_that_cannot_be_opened_is_named) {
  const auto said =
      check::thrown_by<std::runtime_error>([] { const Writer writer("/no/such/folder/records"); });
  CHECK_EQ(said, "cannot write /no/such/folder/records: No such file or directory");
}
