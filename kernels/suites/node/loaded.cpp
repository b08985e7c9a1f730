// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How long a load takes while others use the memory: the first rank follows a way through its
// array, the others read theirs as fast as they can, or rest after each few lines as often as long,
// so that few cores make small loads, too. Seen from either side: the time of a load, and the bytes
// that the others get. One side has so much to do in a call; the other goes on until it is told
// that this is done, so that neither is ever measured alone.
#include <algorithm>
#include <limits>

#include "suites/node/chase.hpp"
#include "suites/node/crew.hpp"
#include "suites/node/shared.hpp"

namespace mpigauge::node {
namespace {

constexpr unsigned loads = 1024;              // of a call that is about loads
constexpr unsigned loads_between_looks = 32;  // of one that is about bytes
constexpr unsigned pieces = 16;               // of that
constexpr std::size_t piece_bytes = std::size_t{64} << 10U;
constexpr std::size_t burst_bytes = std::size_t{4} << 10U;  // between two rests
constexpr std::array<std::size_t, 1> set_sizes{std::size_t{128} << 20U};

double read_by_others(const Shape& s) {
  return static_cast<double>(std::min(piece_bytes, s.bytes)) * pieces * (s.ranks - 1);
}

/// Goes over an array again and again, a piece at a time, and rests `rests` times as long as it
/// reads: a share of 1 / (1 + rests) of what it can do.
class Reader {
 public:
  Reader(const Arrays& arrays, unsigned rests)
      : arrays_(arrays),
        loop_(usual_vectors().tuned.at(place_of(Stream::read)).at(place_of(Manner{}))),
        rests_(rests),
        length_(std::min(piece_bytes / sizeof(double), arrays.n)),
        burst_(std::min(burst_bytes / sizeof(double), length_)),
        pieces_(length_ > 0 ? arrays.n / length_ : 1) {}
  void read_piece() {
    const double* piece = arrays_.y + place(read_);
    if (rests_ == 0) read(piece, length_);
    else read_resting(piece);
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
  void read(const double* from, std::size_t count) {
    sum_ += loop_(arrays_.x, from, arrays_.z, count, 1);
  }
  // The clock only paces it; what is timed is timed by others.
  void read_resting(const double* piece) {
    for (std::size_t done = 0; done < length_; done += burst_) {
      const auto start = platform::ticks();
      read(piece + done, std::min(burst_, length_ - done));
      const auto end = platform::ticks(), rest = rests_ * usual(end - start);
      while (platform::ticks() - end < rest) {
      }
    }
  }
  // Who was kept from reading for a while does not rest for longer.
  platform::Ticks usual(platform::Ticks took) {
    fastest_ = std::min(fastest_, took);
    return std::min(took, 4 * fastest_);
  }

  const Arrays& arrays_;
  Loop loop_;
  unsigned rests_;
  std::size_t length_, burst_, pieces_;
  platform::Ticks fastest_ = std::numeric_limits<platform::Ticks>::max() / 4;
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

template <Side side, unsigned rests>
void loaded(Run& run) {
  const Crew crew(run);
  const Arrays arrays = arrays_of(run, crew, Pages::huge);
  Reader reader(arrays, rests);
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

const Add of_loads(loads_card, loaded<follow_beside, 0>);
const Add of_bytes(bytes_card, loaded<read_beside, 0>);

// The same while the others rest as many times as long as they read.
template <unsigned rests>
struct Resting {
  Resting(std::string_view load, std::string_view loads_about, std::string_view read,
          std::string_view bytes_about, int place)
      : of_loads(variant_of(loads_card, load, loads_about, place), loaded<follow_beside, rests>),
        of_bytes(variant_of(bytes_card, read, bytes_about, place + 1), loaded<read_beside, rests>) {
  }
  Add of_loads, of_bytes;
};

const Resting<1> half("Chase_loaded_half",
                      "Chase_loaded while the others read half of the time, a few lines at once.",
                      "Read_loaded_half", "Read_loaded by others who read half of the time.", 122);
const Resting<3> quarter("Chase_loaded_quarter",
                         "Chase_loaded while the others read a quarter of the time.",
                         "Read_loaded_quarter",
                         "Read_loaded by others who read a quarter of the time.", 124);
const Resting<7> eighth("Chase_loaded_eighth",
                        "Chase_loaded while the others read an eighth of the time.",
                        "Read_loaded_eighth",
                        "Read_loaded by others who read an eighth of the time.", 126);

}  // namespace
}  // namespace mpigauge::node
