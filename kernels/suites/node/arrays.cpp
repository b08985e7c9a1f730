// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/refused.hpp"
#include "platform/pages.hpp"

namespace mpigauge::node {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_lines = 128;
constexpr double share_of_memory = 0.8;

// A piece that starts at a huge page, whether it has any or not, so that addresses are alike.
class Piece {
 public:
  Piece() = default;
  Piece(std::size_t bytes, Pages pages) : mapping_(bytes + platform::huge_page), bytes_(bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(mapping_.data());
    const std::size_t skip = (platform::huge_page - at % platform::huge_page) % platform::huge_page;
    data_ = mapping_.data() + skip;
    if (pages == Pages::huge) platform::ask_for_huge_pages(data_, bytes);
  }
  [[nodiscard]] double* numbers() const { return reinterpret_cast<double*>(data_); }
  [[nodiscard]] std::size_t count() const { return bytes_ / sizeof(double); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  platform::Mapping mapping_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Held {
  Piece x, read;
  int epoch = 0;
};

Held& held(Pages pages) {
  static std::array<Held, 2> all;
  return all.at(pages == Pages::huge ? 1 : 0);
}

// Old memory goes before new is taken, or both would be needed at once.
void renew(Held& all, std::size_t bytes, std::size_t to_read, Pages pages) {
  all.x = Piece();
  all.read = Piece();
  all.x = Piece(bytes, pages);
  all.read = Piece(to_read, pages);
  std::fill_n(all.x.numbers(), all.x.count(), 1.0);
  double* numbers = all.read.numbers();
  for (std::size_t i = 0; i < all.read.count(); ++i) numbers[i] = number_at(i);
}

std::string mib(std::size_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / (1U << 20U));
  return text.data();
}

void provide(const Run& run, Held& all, Pages pages) {
  if (const int epoch = run.team().buffers->epoch(); all.epoch != epoch) {
    all = Held();
    all.epoch = epoch;
  }
  const std::size_t bytes = std::max<std::size_t>(run.bytes(), 4096);
  const std::size_t to_read = 2 * (bytes + most_lines * line_bytes);
  const bool enough = all.x.bytes() >= bytes && all.read.bytes() >= to_read;
  // The other ranks of this host want as much; they may be all there are.
  const double wanted = static_cast<double>(bytes + to_read) * run.ranks();
  const double there = share_of_memory * static_cast<double>(platform::available_memory()) +
                       static_cast<double>(all.x.bytes() + all.read.bytes());
  agree(run, enough || wanted <= there,
        "not enough memory: three arrays of " + mib(bytes) + " on each of " +
            std::to_string(run.ranks()) + " ranks");
  if (!enough) renew(all, bytes, to_read, pages);
}

double expected(Stream what, const Arrays& a, std::size_t i) {
  const double y = number_at(a.first_y + i), z = number_at(a.first_z + i);
  switch (what) {
    case Stream::write: return factor_of(what);
    case Stream::copy: return y;
    case Stream::scale: return factor_of(what) * y;
    case Stream::add: return y + z;
    case Stream::triad: return y + factor_of(what) * z;
    case Stream::update: return factor_of(what) * number_at(i);
    case Stream::read: return y;
    case Stream::dot: return y * z;
  }
  return 0;
}

}  // namespace

void agree(const Run& run, bool fine, const std::string& otherwise) {
  int mine = fine ? 1 : 0, all = 0;
  call(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, run.comm()));
  if (all == 0) throw Refused(otherwise);
}

void make_ready(Stream what, const Arrays& a) {
  for (std::size_t i = 0; i < a.n; ++i) {
    a.x[i] = what == Stream::update ? number_at(i) : std::numeric_limits<double>::quiet_NaN();
  }
}

// A comparison that a number which is none does not pass.
std::size_t wrong_numbers(Stream what, const Arrays& a, double sum) {
  if (what == Stream::read || what == Stream::dot) {
    double right = 0;
    for (std::size_t i = 0; i < a.n; ++i) right += expected(what, a, i);
    return sum == right ? 0 : 1;
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.n; ++i) wrong += a.x[i] == expected(what, a, i) ? 0 : 1;
  return wrong;
}

Arrays arrays_of(const Run& run, Pages pages, std::size_t lines) {
  Held& all = held(pages);
  provide(run, all, pages);
  Arrays a;
  a.n = run.bytes() / sizeof(double);
  const std::size_t apart = std::min(lines, most_lines / 2) * line_bytes / sizeof(double);
  const std::size_t per_line = line_bytes / sizeof(double);
  a.first_y = apart;
  a.first_z = (a.n + per_line - 1) / per_line * per_line + 2 * apart;
  a.x = all.x.numbers();
  a.y = all.read.numbers() + a.first_y;
  a.z = all.read.numbers() + a.first_z;
  return a;
}

bool in_huge_pages(const Arrays& a) {
  const std::size_t bytes = a.n * sizeof(double);
  return 2 * platform::bytes_in_huge_pages(reinterpret_cast<const std::byte*>(a.x), bytes) > bytes;
}

}  // namespace mpigauge::node
