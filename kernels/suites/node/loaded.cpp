// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How long a load takes while others use the memory: the first rank follows a way through its
// array, the others read theirs as fast as they can. Seen from either side: the time of a load, and
// the bytes that the others get. One side has so much to do in a call; the other goes on until it
// is told that this is done, so that neither is ever measured alone.
#include <algorithm>

#include "suites/node/chase.hpp"
#include "suites/node/crew.hpp"
#include "suites/node/shared.hpp"

namespace mpigauge::node {
namespace {

constexpr unsigned loads = 1024;              // of a call that is about loads
constexpr unsigned loads_between_looks = 32;  // of one that is about bytes
constexpr unsigned pieces = 16;               // of that
constexpr std::size_t piece_bytes = std::size_t{64} << 10U;
constexpr std::array<std::size_t, 1> set_sizes{std::size_t{128} << 20U};

double read_by_others(const Shape& s) {
  return static_cast<double>(std::min(piece_bytes, s.bytes)) * pieces * (s.ranks - 1);
}

/// Goes over an array again and again, a piece at a time.
class Reader {
 public:
  explicit Reader(const Arrays& arrays)
      : arrays_(arrays),
        loop_(usual_vectors().tuned.at(place_of(Stream::read)).at(place_of(Manner{}))),
        length_(std::min(piece_bytes / sizeof(double), arrays.n)),
        pieces_(length_ > 0 ? arrays.n / length_ : 1) {}
  void read_piece() {
    sum_ += loop_(arrays_.x, arrays_.y + place(read_), arrays_.z, length_, 1);
    ++read_;
  }
  /// Whether what was read is what lies there.
  [[nodiscard]] bool right() const {
    double sum = 0;
    for (std::size_t piece = 0; piece < read_; ++piece) {
      const std::size_t first = arrays_.first_y + place(piece);
      for (std::size_t i = 0; i < length_; ++i) sum += number_at(first + i);
    }
    return sum == sum_;
  }

 private:
  [[nodiscard]] std::size_t place(std::size_t piece) const { return piece % pieces_ * length_; }

  const Arrays& arrays_;
  Loop loop_;
  std::size_t length_, pieces_;
  std::size_t read_ = 0;
  double sum_ = 0;
};

Line& line_of(std::byte* part) { return *reinterpret_cast<Line*>(part); }

/// What the first rank does.
class Follower {
 public:
  Follower(const Run& run, const Arrays& arrays)
      : lines_(lay_out(arrays.x, run.bytes())),
        first_(reinterpret_cast<Link*>(arrays.x)),
        at_(first_) {}
  void go(unsigned count) { at_ = follow(at_, count); }
  [[nodiscard]] std::size_t wrong() const { return missed(first_, lines_); }

 private:
  std::size_t lines_;
  Link* first_;
  Link* at_;
};

bool all_said(const Parts& parts, std::uint64_t turn) {
  return std::all_of(parts.begin() + 1, parts.end(), [turn](std::byte* part) {
    return line_of(part).flag.load(std::memory_order_acquire) >= turn;
  });
}

// What is timed are so many loads; the others read until they are done.
void follow_beside(Run& run, const Parts& parts, Follower& follower, Reader& reader) {
  Line& said = line_of(parts.front());
  std::uint64_t turn = 0;
  if (run.rank() == 0) {
    return run.measure([&](Turn) {
      follower.go(loads);
      said.flag.store(++turn, std::memory_order_release);
    });
  }
  run.sit_out();
  run.measure([&](Turn) {
    ++turn;
    do reader.read_piece();
    while (said.flag.load(std::memory_order_acquire) < turn);
  });
}

// What is timed are the bytes; the first rank follows its way until all others have theirs.
void read_beside(Run& run, const Parts& parts, Follower& follower, Reader& reader) {
  std::uint64_t turn = 0;
  if (run.rank() > 0) {
    Line& said = line_of(parts[static_cast<std::size_t>(run.rank())]);
    return run.measure([&](Turn) {
      for (unsigned i = 0; i < pieces; ++i) reader.read_piece();
      said.flag.store(++turn, std::memory_order_release);
    });
  }
  run.sit_out();
  run.measure([&](Turn) {
    ++turn;
    do follower.go(loads_between_looks);
    while (!all_said(parts, turn));
  });
}

using Side = void (*)(Run&, const Parts&, Follower&, Reader&);

template <Side side>
void loaded(Run& run) {
  const Crew crew(run);
  const Arrays arrays = arrays_of(run, crew, Pages::huge);
  Reader reader(arrays);
  Follower follower(run, arrays);
  in_shared(
      run, sizeof(Line), [](std::byte* part) { new (part) Line; },
      [&](const Parts& parts) { side(run, parts, follower, reader); });
  const bool right = !run.checking() || (run.rank() == 0 ? follower.wrong() == 0 : reader.right());
  run.expect(right ? 0 : 1);
}

constexpr Card loads_card{
    .suite = "NODE",
    .name = "Chase_loaded",
    .about = "Time of one load that needs the one before, while all other ranks read memory.",
    .place = 120,
    .ranks = Ranks::several,
    .columns = Columns::single,
    .send = nothing,
    .recv = nothing,
    .may_refuse = true,
    .steps = loads,
    .sizes = set_sizes,
    .needs = calls_of_shared,
};
constexpr Card bytes_card = [] {
  Card card = loads_card;
  card.name = "Read_loaded";
  card.about = "What these others read, while the first rank waits for one load after the other.";
  card.place = 121;
  card.moved = read_by_others;
  card.steps = 1;
  return card;
}();

const Add of_loads(loads_card, loaded<follow_beside>);
const Add of_bytes(bytes_card, loaded<read_beside>);

}  // namespace
}  // namespace mpigauge::node
