// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How long a load takes that needs the one before.
#include "suites/node/chase.hpp"

#include "suites/node/crew.hpp"

namespace mpigauge::node {

// The lines, a power of two of them: with such an odd step and such a factor one comes through all
// of them before the first returns (Hull and Dobell, 1962), in an order that no prefetcher follows,
// and that can be written down line by line.
std::size_t lay_out(double* at, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  constexpr std::size_t factor = 0x5851F42D4C957F2D, step = 0x14057B7EF767814F;
  std::size_t lines = 1;
  while (2 * lines * line_bytes <= bytes) lines *= 2;
  auto* base = reinterpret_cast<std::byte*>(at);
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t next = (factor * i + step) % lines;
    new (base + i * line_bytes) Link{reinterpret_cast<Link*>(base + next * line_bytes)};
  }
  return lines;
}

Link* follow(Link* at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    at = at->next;
    asm volatile("" : "+r"(at));
  }
  return at;
}

std::size_t missed(const Link* first, std::size_t lines) {
  std::size_t seen = 1;
  for (const Link* at = first->next; at != first && seen <= lines; at = at->next) ++seen;
  return seen > lines ? seen - lines : lines - seen;
}

namespace {

constexpr unsigned loads = 1024;  // of a call
constexpr std::array<std::size_t, 8> set_sizes{std::size_t{16} << 10U,  std::size_t{64} << 10U,
                                               std::size_t{256} << 10U, std::size_t{1} << 20U,
                                               std::size_t{4} << 20U,   std::size_t{16} << 20U,
                                               std::size_t{64} << 20U,  std::size_t{256} << 20U};

constexpr Card usual_card{
    .suite = "NODE",
    .name = "Chase",
    .about = "Time of one load that needs the one before, anywhere in so many bytes.",
    .place = 100,
    .send = nothing,
    .recv = nothing,
    .options = {SuiteOption::memory_on},
    .may_refuse = true,
    .steps = loads,
    .sizes = set_sizes,
    .choice = [](const Shape& shape) { return whereabouts(shape, Pages::usual); },
};
constexpr Card huge_card = [] {
  Card card = usual_card;
  card.name = "Chase_huge";
  card.about = "The same in huge pages: without most of what finding the page takes.";
  card.place = 110;
  card.choice = [](const Shape& shape) { return whereabouts(shape, Pages::huge); };
  return card;
}();

void chase(Run& run, Pages pages) {
  const Crew crew(run);
  const Arrays arrays = arrays_of(run, crew, pages);
  const std::size_t lines = lay_out(arrays.x, run.bytes());
  auto* at = reinterpret_cast<Link*>(arrays.x);
  const Link* const first = at;
  run.measure([&at](Turn) { at = follow(at, loads); });
  run.expect(run.checking() ? missed(first, lines) : 0);
}

const Add usual(usual_card, [](Run& run) { chase(run, Pages::usual); });
const Add huge(huge_card, [](Run& run) { chase(run, Pages::huge); });

}  // namespace
}  // namespace mpigauge::node
