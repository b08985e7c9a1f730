// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/groups.hpp"

namespace mpigauge {

namespace {

// The largest divisor that is not above `most`, or 1.
int divisor(int number, int most) {
  int side = std::clamp(most, 1, number);
  while (number % side != 0) --side;
  return side;
}

}  // namespace

std::vector<int> stencil_sides(int ranks, int dimensions) {
  std::vector<int> sides;
  int left = ranks;
  if (dimensions == 3) {
    sides.push_back(divisor(left, static_cast<int>(std::floor(std::cbrt(left) + 1e-9))));
    left /= sides.back();
  }
  sides.push_back(divisor(left, static_cast<int>(std::ceil(std::sqrt(left) - 1e-9))));
  sides.push_back(left / sides.back());
  // A first side that leaves a prime: three factors exist all the same where the side is not a
  // prime.
  if (dimensions == 3 && sides.back() * sides[1] != 1 && std::min(sides[1], sides[2]) == 1) {
    const int rest = sides[1] * sides[2];
    const int part = divisor(sides[0], static_cast<int>(std::sqrt(sides[0]) + 1e-9));
    sides = {part, sides[0] / part, rest};
  }
  if (*std::min_element(sides.begin(), sides.end()) < 2) return {};
  return sides;
}

std::vector<int> even_sides(int ranks) {
  std::vector<int> sides = factors(ranks, 3);
  sides.erase(std::remove(sides.begin(), sides.end(), 1), sides.end());
  if (sides.empty()) sides.push_back(1);
  return sides;
}

std::vector<int> halo_sides(const std::vector<int>& proportions, int ranks) {
  std::vector<int> sides = proportions;
  int divisor = 0;
  for (const int side : sides) divisor = std::gcd(divisor, side);
  if (divisor > 1) {
    for (int& side : sides) side /= divisor;
  }
  const auto fits = [&](int factor) {
    double points = 1;
    for (const int side : sides) points *= static_cast<double>(side) * factor;
    return points <= ranks;
  };
  int factor = 1;
  while (fits(factor + 1)) ++factor;
  for (int& side : sides) side *= factor;
  return sides;
}

int points_of(const std::vector<int>& sides) {
  return std::accumulate(sides.begin(), sides.end(), 1, std::multiplies<>());
}

std::vector<int> neighbours_on(const std::vector<int>& sides, int rank) {
  std::vector<int> neighbours;
  int step = points_of(sides);
  for (const int side : sides) {
    step /= side;
    if (side == 1) continue;
    const int here = rank / step % side;
    const int origin = rank - here * step;
    neighbours.push_back(origin + (here + side - 1) % side * step);
    neighbours.push_back(origin + (here + 1) % side * step);
  }
  return neighbours;
}

int faces_of(const std::vector<int>& sides) {
  return 2 *
         static_cast<int>(std::count_if(sides.begin(), sides.end(), [](int s) { return s > 1; }));
}

void exchange_on(Run& run, const std::vector<int>& sides, const Touch& touch) {
  const std::vector<int> neighbours = neighbours_on(sides, run.rank());
  const std::size_t faces = neighbours.size(), bytes = run.bytes();
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const MPI_Comm comm = run.comm();
  std::vector<Block> to, from;
  for (std::size_t i = 0; i < faces; ++i) {
    to.push_back(out.part(i * bytes, bytes));
    from.push_back(in.part(i * bytes, bytes));
  }
  std::vector<MPI_Request> requests(2 * faces, MPI_REQUEST_NULL);
  run.measure([&](Turn t) {
    for (std::size_t i = 0; i < faces; ++i) irecv(from[i][t], neighbours[i], comm, &requests[i]);
    // What goes backwards is sent last: where both neighbours of a dimension are the same rank,
    // its first receive is for what came from before it.
    for (std::size_t i = 0; i < faces; ++i) {
      const std::size_t face = i ^ 1U;
      touch.sent(to[face][t], bytes);
      isend(to[face][t], neighbours[face], comm, &requests[faces + i]);
    }
    wait_all(static_cast<int>(2 * faces), requests.data());
    for (std::size_t i = 0; i < faces; ++i) touch.received(from[i][t], bytes);
  });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < faces; ++i) {
    wrong += run.wrong(from[i].bytes(), neighbours[i], (i ^ 1U) * bytes);
  }
  run.expect(wrong);
}

}  // namespace mpigauge
