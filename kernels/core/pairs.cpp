// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/pairs.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/reading.hpp"

namespace mpigauge {

namespace {

int rank_of(std::string_view text, std::string_view pair) {
  int rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0) {
    throw std::invalid_argument("'" + std::string(pair) +
                                "' is not a pair of ranks, as 0-1 is one");
  }
  return rank;
}

RankPair pair_of(std::string_view text) {
  const auto ranks = parts_of(text, '-');
  if (ranks.size() != 2) return {rank_of("", text), 0};
  const RankPair pair{rank_of(ranks[0], text), rank_of(ranks[1], text)};
  if (pair.first == pair.second) {
    throw std::invalid_argument("'" + std::string(text) + "' is a rank with itself");
  }
  return pair;
}

PairRound round_of(std::string_view text) {
  PairRound round;
  std::set<int> seen;
  for (const auto part : parts_of(text, ',')) {
    const RankPair pair = pair_of(part);
    for (const int rank : {pair.first, pair.second}) {
      if (seen.insert(rank).second) continue;
      throw std::invalid_argument("rank " + std::to_string(rank) + " is twice in the round '" +
                                  std::string(text) + "'; a ';' begins a new one");
    }
    round.push_back(pair);
  }
  return round;
}

// Coprime with the number of rounds and near its golden section: then however many of the first
// places are taken, their rounds lie far apart.
std::uint64_t wide_step(std::uint64_t rounds) {
  auto step = static_cast<std::uint64_t>(0.618 * static_cast<double>(rounds));
  while (step > 1 && std::gcd(step, rounds) != 1) --step;
  return std::max<std::uint64_t>(step, 1);
}

// Pair number k of 0-1, 0-2 ... 1-2 ...
RankPair lexicographic(std::uint64_t k, int ranks) {
  const auto before = [&](std::int64_t first) {
    return static_cast<std::uint64_t>(first * (2 * std::int64_t{ranks} - first - 1) / 2);
  };
  std::int64_t low = 0, high = ranks - 2;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (before(middle) <= k) low = middle;
    else high = middle - 1;
  }
  const auto first = static_cast<int>(low);
  return {first, first + 1 + static_cast<int>(k - before(low))};
}

}  // namespace

Rounds::Rounds(const Pairing& pairing, int ranks) : pairing_(pairing), ranks_(ranks) {
  if (ranks < 2) throw std::invalid_argument("a pair needs 2 ranks, the job has 1");
  const auto all = static_cast<std::uint64_t>(ranks);
  switch (pairing.kind) {
    case Pairing::Kind::all:
      count_ = all - 1 + all % 2;
      step_ = wide_step(count_);
      break;
    case Pairing::Kind::each: count_ = all * (all - 1) / 2; break;
    case Pairing::Kind::ring: count_ = ranks == 2 ? 1 : 2 + all % 2; break;
    case Pairing::Kind::named: count_ = pairing.named.size(); break;
  }
  for (const auto& round : pairing.named) {
    for (const auto& pair : round) {
      const int most = std::max(pair.first, pair.second);
      if (most < ranks) continue;
      throw std::invalid_argument("there is no rank " + std::to_string(most) + ", the job has " +
                                  std::to_string(ranks));
    }
  }
}

// The circle method of tournaments. One place of the circle stays, the others move on by one; who
// sit opposite meet. With an odd number there is an empty chair, and whoever sits opposite rests.
namespace {
std::uint64_t moving_chairs(int ranks) {
  const int chairs = ranks + ranks % 2;
  return static_cast<std::uint64_t>(chairs) - 1;
}
}  // namespace

int Rounds::on_chair(std::uint64_t round, int chair) const {
  const auto moving = moving_chairs(ranks_);
  if (chair == 0) return 0;
  return static_cast<int>(1 + (static_cast<std::uint64_t>(chair) - 1 + round) % moving);
}

int Rounds::chair_of(std::uint64_t round, int rank) const {
  const auto moving = moving_chairs(ranks_);
  if (rank == 0) return 0;
  return static_cast<int>(1 + (static_cast<std::uint64_t>(rank) - 1 + moving - round % moving) %
                                  moving);
}

// Which pair of the circle lacks a rank; behind all of them where their number is even.
int Rounds::empty_index(std::uint64_t round) const {
  if (ranks_ % 2 == 0) return ranks_;
  const int chair = chair_of(round, ranks_);
  return std::min(chair, ranks_ - chair);
}

std::optional<Rounds::Seat> Rounds::seat_at_table(std::uint64_t round, int rank) const {
  const int last = ranks_ - 1 + ranks_ % 2;
  const int chair = chair_of(round, rank);
  const int other = on_chair(round, last - chair);
  if (other >= ranks_) return std::nullopt;
  const int index = std::min(chair, last - chair);
  const int before = index > empty_index(round) ? 1 : 0;
  return Seat{index - before, {std::min(rank, other), std::max(rank, other)}};
}

// The first rank of a pair of neighbours: even ones, then odd ones, then the last of an odd number.
int Rounds::ring_first(std::uint64_t round, int index) const {
  return round == 2 ? ranks_ - 1 : 2 * index + static_cast<int>(round);
}

int Rounds::pairs(std::uint64_t round) const {
  switch (pairing_.kind) {
    case Pairing::Kind::all: return ranks_ / 2;
    case Pairing::Kind::each: return 1;
    case Pairing::Kind::ring: return round == 2 ? 1 : ranks_ / 2;
    case Pairing::Kind::named: break;
  }
  return static_cast<int>(pairing_.named.at(round).size());
}

RankPair Rounds::pair(std::uint64_t round, int index) const {
  switch (pairing_.kind) {
    case Pairing::Kind::all: {
      const int chair = index >= empty_index(round) ? index + 1 : index;
      const auto seat = seat_at_table(round, on_chair(round, chair));
      if (!seat) throw std::logic_error("an empty chair has no pair");
      return seat->pair;
    }
    case Pairing::Kind::each: return lexicographic(round, ranks_);
    case Pairing::Kind::ring: {
      const int first = ring_first(round, index);
      return {first, (first + 1) % ranks_};
    }
    case Pairing::Kind::named: break;
  }
  return pairing_.named.at(round).at(static_cast<std::size_t>(index));
}

std::optional<Rounds::Seat> Rounds::seat(std::uint64_t round, int rank) const {
  if (pairing_.kind == Pairing::Kind::all) return seat_at_table(round, rank);
  if (pairing_.kind == Pairing::Kind::ring && round < 2) {
    const int place = (rank + ranks_ - static_cast<int>(round)) % ranks_;
    const int index = place / 2;
    if (index >= pairs(round)) return std::nullopt;
    return Seat{index, pair(round, index)};
  }
  for (int index = 0; index < pairs(round); ++index) {
    const RankPair here = pair(round, index);
    if (here.first == rank || here.second == rank) return Seat{index, here};
  }
  return std::nullopt;
}

Pairing parse_pairing(const std::string& text) {
  if (text == "all") return {Pairing::Kind::all, {}};
  if (text == "each") return {Pairing::Kind::each, {}};
  if (text == "ring") return {Pairing::Kind::ring, {}};
  Pairing pairing{Pairing::Kind::named, {}};
  for (const auto part : parts_of(text, ';')) pairing.named.push_back(round_of(part));
  return pairing;
}

}  // namespace mpigauge
