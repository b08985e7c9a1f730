// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A card: the facts of a benchmark, known without running it. The list, the plan, the memory
// check, the records and the tables read the same card.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mpigauge {

/// Which numbers of ranks a benchmark can run on.
enum class Ranks { pair, pairs, any };

/// What one printed time means.
enum class Time {
  half_round_trip,  ///< half of a call, as rank 0 sees it
  call,             ///< a call, as its slowest rank sees it
};

/// What a message is made of.
enum class Unit { transfer, reduction, none };

/// Whether the ranks meet before each timed call, or calls follow each other.
enum class Meet { never, each };

/// Which table of IMB the benchmark belongs to.
enum class Columns { single, parallel, collective, barrier, band };

/// The shape of a case: what buffer sizes and traffic depend on.
struct Shape {
  std::size_t bytes = 0;
  int ranks = 1;
  int inflight = 1;
};

/// A size or a count as a function of the shape.
using Amount = double (*)(const Shape&);
inline double nothing(const Shape&) { return 0; }
inline double once(const Shape&) { return 1; }
inline double message(const Shape& s) { return static_cast<double>(s.bytes); }
inline double twice_message(const Shape& s) { return 2 * message(s); }
inline double message_per_rank(const Shape& s) { return message(s) * s.ranks; }

struct Card {
  std::string_view suite;
  std::string_view name;
  std::string_view about;
  int place = 0;  ///< where it stands in its suite's list
  Ranks ranks = Ranks::any;
  Time time = Time::call;
  Unit unit = Unit::transfer;
  Meet meet = Meet::never;
  Columns columns = Columns::collective;
  Amount send = message;         ///< bytes of the send buffer of a rank
  Amount recv = message;         ///< bytes of its receive buffer
  Amount moved = nothing;        ///< bytes that count for bandwidth in one printed time
  Amount messages = nothing;     ///< messages that count for the rate in one printed time
  bool rooted = false;           ///< has a root that --root-shift can move
  bool windowed = false;         ///< keeps --inflight messages under way
  bool counts_per_rank = false;  ///< its call takes a count (and a place) for every rank
  bool large_counts = false;     ///< can send more than 2^31 - 1 elements where the MPI can
  bool by_default = true;
  std::array<std::string_view, 4> needs{};  ///< calls newer than MPI-2.2 that it cannot do without
};

/// A card that differs from another in name, sense and place alone, and is run only when named.
constexpr Card variant_of(Card card, std::string_view name, std::string_view about, int place) {
  card.name = name;
  card.about = about;
  card.place = place;
  card.by_default = false;
  return card;
}

constexpr double time_scale(const Card& card) {
  return card.time == Time::half_round_trip ? 0.5 : 1.0;
}

}  // namespace mpigauge
