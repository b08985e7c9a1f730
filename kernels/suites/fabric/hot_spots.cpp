// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Many hosts send to one, or one to many; each round has another one.
#include <algorithm>

#include "suites/fabric/hosts.hpp"

namespace mpigauge::fabric {
namespace {

// Messages under way at the one host for each of its ranks; the memory for them is bounded.
constexpr int most_open = 64;

int open(const Shape& s) { return std::clamp(hosts_of(s).hosts - 1, 1, most_open); }
double of_others(const Shape& s) {
  const Hosts hosts = hosts_of(s);
  return (hosts.hosts - 1.0) * hosts.lanes * message(s);
}
double window(const Shape& s) { return open(s) * message(s); }

constexpr Card spot_card(Card card) {
  card.meet = Meet::each;
  card.columns = Columns::parallel;
  card.sizes = large;
  card.moved = of_others;
  card.excuse = [](const Shape& s) { return too_few(s, 2); };
  return fabric_card(card);
}

constexpr Card to_one_card = spot_card({
    .name = "Many_to_one",
    .about = "All other hosts send to one at once; another one each round.",
    .place = 50,
    .recv = window,
});
constexpr Card from_one_card = spot_card({
    .name = "One_to_many",
    .about = "One host sends to all others at once; another one each round.",
    .place = 60,
});

// The ranks of a lane: the one of the spot, and all others.
struct Spot {
  Hosts hosts;
  int host = 0, lane = 0, own = 0;
  [[nodiscard]] bool is_here() const { return own == host; }
  [[nodiscard]] int rank() const { return hosts.rank(host, lane); }
  /// The i-th of the others, from the one behind the spot on.
  [[nodiscard]] int other(int i) const { return hosts.rank((host + 1 + i) % hosts.hosts, lane); }
  [[nodiscard]] int others() const { return hosts.hosts - 1; }
};

Spot spot_of(const Run& run) {
  const Hosts hosts = hosts_of(run);
  return {hosts, static_cast<int>(run.task().round % static_cast<std::uint32_t>(hosts.hosts)),
          hosts.lane(run.rank()), hosts.host(run.rank())};
}

// Receives a message of each of the others, `most_open` of them under way, and calls `arrived` with
// the number of the other and the place of its message.
template <class Arrived>
void take_all(const Spot& spot, const Block& in, std::size_t bytes, Turn t, MPI_Comm comm,
              Arrived arrived) {
  std::array<MPI_Request, most_open> requests{};
  std::array<int, most_open> from{};
  const int slots = std::min(spot.others(), most_open);
  int next = 0;
  const auto post = [&](std::size_t slot) {
    from.at(slot) = next;
    irecv(in.part(slot * bytes, bytes)[t], spot.other(next++), comm, &requests.at(slot));
  };
  for (int slot = 0; slot < slots; ++slot) post(static_cast<std::size_t>(slot));
  for (int done = 0; done < spot.others(); ++done) {
    int index = 0;
    call(MPI_Waitany(slots, requests.data(), &index, MPI_STATUS_IGNORE));
    const auto slot = static_cast<std::size_t>(index);
    arrived(from.at(slot), slot * bytes);
    if (next < spot.others()) post(slot);
  }
}

void many_to_one(Run& run) {
  const Spot spot = spot_of(run);
  const Block out = run.send_block(), in = run.recv_block();
  const MPI_Comm comm = run.comm();
  const std::size_t bytes = run.bytes();
  if (!spot.is_here()) {
    run.measure([=](Turn t) { send(out[t], spot.rank(), comm); });
    return run.expect(0);
  }
  if (!run.checking()) {
    run.measure([=](Turn t) { take_all(spot, in, bytes, t, comm, [](int, std::size_t) {}); });
    return run.expect(0);
  }
  std::size_t wrong = 0;
  const auto check = [&](int other, std::size_t at) {
    wrong += run.wrong(in.bytes(at, bytes), spot.other(other), 0);
  };
  run.measure([&](Turn t) { take_all(spot, in, bytes, t, comm, check); });
  run.expect(wrong);
}

void one_to_many(Run& run) {
  const Spot spot = spot_of(run);
  const Block out = run.send_block(), in = run.recv_block();
  const MPI_Comm comm = run.comm();
  if (spot.is_here()) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(spot.others()));
    run.measure([&](Turn t) {
      for (int i = 0; i < spot.others(); ++i) {
        isend(out[t], spot.other(i), comm, &requests[static_cast<std::size_t>(i)]);
      }
      wait_all(spot.others(), requests.data());
    });
    return run.expect(0);
  }
  run.measure([=](Turn t) { recv(in[t], spot.rank(), comm); });
  run.expect(run.wrong(in.bytes(), spot.rank(), 0));
}

const Add to_one{to_one_card, many_to_one};
const Add from_one{from_one_card, one_to_many};

}  // namespace
}  // namespace mpigauge::fabric
