// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Collectives as a user could write them with messages from rank to rank: the plain algorithms of
// textbooks (R. Thakur, R. Rabenseifner, W. Gropp, 2005). A library's own should be no slower.
#include <cstring>
#include <vector>

#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

/// Where a rank is, how long a message is, and memory for one more.
struct Here {
  int rank = 0, ranks = 0;
  std::size_t bytes = 0;
  void* room = nullptr;
};

void* part(void* from, int which, std::size_t bytes) {
  return static_cast<std::byte*>(from) + static_cast<std::size_t>(which) * bytes;
}
void send(const Args& a, const void* data, int to) {
  call(MPI_Send(const_cast<void*>(data), a.count, a.type, to, message_tag, a.comm));
}
void receive(const Args& a, void* data, int from) {
  call(MPI_Recv(data, a.count, a.type, from, message_tag, a.comm, MPI_STATUS_IGNORE));
}
void exchange(const Args& a, const void* out, int to, void* in, int from) {
  call(MPI_Sendrecv(const_cast<void*>(out), a.count, a.type, to, message_tag, in, a.count, a.type,
                    from, message_tag, a.comm, MPI_STATUS_IGNORE));
}

/// A tree in which the root and each rank that has the message hand it on, twice as many each time.
void bcast(const Args& a, const Here& here) {
  const int from_root = (here.rank - a.root + here.ranks) % here.ranks;
  const auto rank_at = [&](int place) { return (place + a.root) % here.ranks; };
  void* const data = here.rank == a.root ? a.send : a.recv;
  int step = 1;
  while (step < here.ranks && (from_root & step) == 0) step *= 2;
  if (from_root != 0) receive(a, data, rank_at(from_root - step));
  for (step /= 2; step > 0; step /= 2) {
    if (from_root + step < here.ranks) send(a, data, rank_at(from_root + step));
  }
}

/// The same tree from its leaves to the root, which adds up what comes.
void reduce(const Args& a, const Here& here) {
  const int from_root = (here.rank - a.root + here.ranks) % here.ranks;
  const auto rank_at = [&](int place) { return (place + a.root) % here.ranks; };
  std::memcpy(a.recv, a.send, here.bytes);
  for (int step = 1; step < here.ranks; step *= 2) {
    if ((from_root & step) != 0) return send(a, a.recv, rank_at(from_root - step));
    if (from_root + step < here.ranks) {
      receive(a, here.room, rank_at(from_root + step));
      call(MPI_Reduce_local(here.room, a.recv, a.count, a.type, a.op));
    }
  }
}

/// Each rank exchanges its sum with one that is twice as far away each time; ranks beyond a power
/// of two hand theirs to a neighbour first, and get the result from it.
void allreduce(const Args& a, const Here& here) {
  int power = 1;
  while (power * 2 <= here.ranks) power *= 2;
  const int beyond = here.ranks - power;
  const bool is_paired = here.rank < 2 * beyond;
  std::memcpy(a.recv, a.send, here.bytes);
  if (is_paired && here.rank % 2 == 0) {
    send(a, a.recv, here.rank + 1);
    return receive(a, a.recv, here.rank + 1);
  }
  if (is_paired) {
    receive(a, here.room, here.rank - 1);
    call(MPI_Reduce_local(here.room, a.recv, a.count, a.type, a.op));
  }
  const int place = is_paired ? here.rank / 2 : here.rank - beyond;
  for (int step = 1; step < power; step *= 2) {
    const int other = place ^ step;
    const int rank = other < beyond ? 2 * other + 1 : other + beyond;
    exchange(a, a.recv, rank, here.room, rank);
    call(MPI_Reduce_local(here.room, a.recv, a.count, a.type, a.op));
  }
  if (is_paired) send(a, a.recv, here.rank - 1);
}

/// Messages go round a ring, each rank handing on what it got last.
void allgather(const Args& a, const Here& here) {
  const int next = (here.rank + 1) % here.ranks, before = (here.rank + here.ranks - 1) % here.ranks;
  std::memcpy(part(a.recv, here.rank, here.bytes), a.send, here.bytes);
  for (int step = 0; step + 1 < here.ranks; ++step) {
    const int out = (here.rank - step + here.ranks) % here.ranks;
    const int in = (out - 1 + here.ranks) % here.ranks;
    exchange(a, part(a.recv, out, here.bytes), next, part(a.recv, in, here.bytes), before);
  }
}

/// In each step a rank sends to one and receives from another, at the same distance.
void alltoall(const Args& a, const Here& here) {
  std::memcpy(part(a.recv, here.rank, here.bytes), part(a.send, here.rank, here.bytes), here.bytes);
  for (int step = 1; step < here.ranks; ++step) {
    const int to = (here.rank + step) % here.ranks;
    const int from = (here.rank - step + here.ranks) % here.ranks;
    exchange(a, part(a.send, to, here.bytes), to, part(a.recv, from, here.bytes), from);
  }
}

void gather(const Args& a, const Here& here) {
  if (here.rank != a.root) return send(a, a.send, a.root);
  std::memcpy(part(a.recv, here.rank, here.bytes), a.send, here.bytes);
  for (int from = 0; from < here.ranks; ++from) {
    if (from != a.root) receive(a, part(a.recv, from, here.bytes), from);
  }
}

void scatter(const Args& a, const Here& here) {
  if (here.rank != a.root) return receive(a, a.recv, a.root);
  for (int to = 0; to < here.ranks; ++to) {
    if (to != a.root) send(a, part(a.send, to, here.bytes), to);
  }
  std::memcpy(a.recv, part(a.send, here.rank, here.bytes), here.bytes);
}

/// A benchmark of one of these. `Check` counts wrong elements in the receive buffer.
template <class Check>
class AddByHand {
 public:
  AddByHand(const Card& card, void (*by_hand)(const Args&, const Here&), Check check)
      : card_(blocking_card(card, true)),
        check_(check),
        added_{card_, [this, by_hand](Run& run) {
                 const Prepared prepared(run, card_, {});
                 std::vector<std::byte> room(run.bytes());
                 const Here here{run.rank(), run.ranks(), run.bytes(), room.data()};
                 run.measure([arranged = prepared.arranged(), here, by_hand](Turn t) {
                   by_hand(arranged[t], here);
                 });
                 run.expect(run.checking() ? check_(run, prepared.in()) : 0);
               }} {}
  ~AddByHand() = default;
  AddByHand(const AddByHand&) = delete;
  AddByHand& operator=(const AddByHand&) = delete;

 private:
  Card card_;
  Check check_;
  Add added_;
};

const auto of_root = [](auto wrong) {
  return [wrong](const Run& run, const Block& in) {
    return run.rank() == run.root() ? wrong(run, in) : std::size_t{0};
  };
};
const auto sum = [](const Run& run, const Block& in) { return run.wrong_reduction(in.bytes(), 0); };
const auto one_of_each = [](const Run& run, const Block& in) {
  return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
};
/// The part for this rank of what the root, or each rank, sends.
const auto own_part = [](const Run& run) {
  return static_cast<std::size_t>(run.rank()) * run.bytes();
};

const AddByHand bcast_added{
    Card{
        .suite = "MORE",
        .name = "Bcast_by_hand",
        .about = "MPI_Bcast written with messages: a binomial tree.",
        .place = 200,
        .root_sends = true,
        .options = {SuiteOption::root},
    },
    bcast, [](const Run& run, const Block& in) -> std::size_t {
      return run.rank() == run.root() ? 0 : run.wrong(in.bytes(), run.root(), 0);
    }};

const AddByHand reduce_added{Card{
                                 .suite = "MORE",
                                 .name = "Reduce_by_hand",
                                 .about = "MPI_Reduce written with messages: a binomial tree.",
                                 .place = 210,
                                 .unit = Unit::reduction,
                                 .options = {SuiteOption::root},
                             },
                             reduce, of_root(sum)};

const AddByHand allreduce_added{
    Card{
        .suite = "MORE",
        .name = "Allreduce_by_hand",
        .about = "MPI_Allreduce written with messages: recursive doubling.",
        .place = 220,
        .unit = Unit::reduction,
    },
    allreduce, sum};

const AddByHand allgather_added{Card{
                                    .suite = "MORE",
                                    .name = "Allgather_by_hand",
                                    .about = "MPI_Allgather written with messages: a ring.",
                                    .place = 230,
                                    .recv = message_per_rank,
                                },
                                allgather, one_of_each};

const AddByHand alltoall_added{
    Card{
        .suite = "MORE",
        .name = "Alltoall_by_hand",
        .about = "MPI_Alltoall written with messages: pairs at one distance after the other.",
        .place = 240,
        .send = message_per_rank,
        .recv = message_per_rank,
    },
    alltoall, [](const Run& run, const Block& in) {
      return wrong_from_all(run, in, [&run](int) { return own_part(run); });
    }};

const AddByHand gather_added{
    Card{
        .suite = "MORE",
        .name = "Gather_by_hand",
        .about = "MPI_Gather written with messages: the root receives from one after the other.",
        .place = 250,
        .recv = message_per_rank,
        .options = {SuiteOption::root},
    },
    gather, of_root(one_of_each)};

const AddByHand scatter_added{
    Card{
        .suite = "MORE",
        .name = "Scatter_by_hand",
        .about = "MPI_Scatter written with messages: the root sends to one after the other.",
        .place = 260,
        .send = message_per_rank,
        .options = {SuiteOption::root},
    },
    scatter, [](const Run& run, const Block& in) {
      return run.wrong(in.bytes(), run.root(), own_part(run));
    }};

}  // namespace
}  // namespace mpigauge
