// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/fabric/hosts.hpp"

#include <algorithm>

#include "core/pairs.hpp"
#include "suites/patterns/random.hpp"

namespace mpigauge::fabric {

namespace {

// The place of a host in an order; the order of the hosts themselves is the empty one.
int place_of(int host, std::span<const int> order) {
  const auto at = std::find(order.begin(), order.end(), host);
  return at == order.end() ? host : static_cast<int>(at - order.begin());
}

}  // namespace

Hosts hosts_of(const Shape& shape) {
  const int lanes = shape.options->host_ranks;
  return {shape.ranks / lanes, lanes};
}

Hosts hosts_of(const Run& run) {
  const int lanes = run.options().host_ranks;
  return {run.ranks() / lanes, lanes};
}

std::string too_few(const Shape& shape, int least) {
  const int lanes = shape.options->host_ranks;
  if (shape.ranks % lanes != 0) {
    return std::to_string(shape.ranks) + " ranks are no whole hosts of " + std::to_string(lanes);
  }
  if (shape.ranks / lanes >= least) return "";
  return "needs " + std::to_string(least) + " hosts";
}

Meeting random_meeting(int host, int hosts, std::uint64_t seed, std::uint32_t round) {
  if (hosts < 2) return {};
  const Rounds tournament({}, hosts);
  const auto order = patterns::random_ring(hosts, seed, round / tournament.count());
  const int place = place_of(host, order);
  const auto seat = tournament.seat(tournament.number(round % tournament.count()), place);
  if (!seat) return {};
  const bool lower = place == seat->pair.first;
  const int other = lower ? seat->pair.second : seat->pair.first;
  return {order[static_cast<std::size_t>(other)], seat->index, lower};
}

Meeting halves_meeting(int host, int hosts, std::span<const int> order, std::uint32_t round) {
  const int half = hosts / 2;
  const int turn = static_cast<int>(round % static_cast<std::uint32_t>(half));
  const int resting = hosts % 2 == 0 ? hosts : hosts - 1 - static_cast<int>(round) % hosts;
  const int sitting = place_of(host, order);
  if (sitting == resting) return {};
  const int place = sitting - (sitting > resting ? 1 : 0);
  const bool lower = place < half;
  const int pair = lower ? place : (place - turn) % half;
  const int other = lower ? half + (place + turn) % half : pair;
  const int chair = other + (other >= resting ? 1 : 0);
  return {order.empty() ? chair : order[static_cast<std::size_t>(chair)], pair, lower};
}

}  // namespace mpigauge::fabric
