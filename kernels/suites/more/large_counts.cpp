// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls with counts of 64 bits at every size: beside the plain calls they show what that costs.
#include <tuple>

#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

constexpr Card large_card(Card card) {
  card.suite = "MORE";
  card.large_counts = true;
  card.by_default = false;
  return card;
}

constexpr Card pingpong_card = large_card({
    .name = "PingPong_c",
    .about = "PingPong with large-count calls.",
    .place = 200,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .needs = {"MPI_Send_c", "MPI_Recv_c"},
});

void pingpong(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.address(run.peer());
  const MPI_Comm comm = run.comm();
  const auto send_there = [=, send_c = large_calls().send](Turn t) {
    const Message m = out[t];
    call(send_c(m.data, m.count, m.type, peer, message_tag, comm));
  };
  const auto receive = [=, recv_c = large_calls().recv](Turn t) {
    const Message m = in[t];
    call(recv_c(m.data, m.count, m.type, peer, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
  };
  if (run.rank() == 0) {
    run.measure([=](Turn t) {
      send_there(t);
      receive(t);
    });
  } else {
    run.measure([=](Turn t) {
      receive(t);
      send_there(t);
    });
  }
  run.expect(run.wrong(in.bytes(), run.peer(), 0));
}

const Add pingpong_added{by_address(pingpong_card), pingpong};

// The type of a call from the tuple of its arguments.
template <class Tuple>
struct CallOf;
template <class... A>
struct CallOf<std::tuple<A...>> {
  using Pointer = int (*)(A...);
};

struct AddLarge {
  template <class Arguments, class Check>
  AddLarge(const Card& given, Arguments arguments, Check check) {
    Card card = large_card(given);
    card.meet = Meet::each;
    card.needs = {keep("MPI_" + std::string(card.name))};
    const Add added{card, [=](Run& run) {
                      using Function = CallOf<decltype(arguments(Args{}))>::Pointer;
                      const Prepared prepared(run, card, {});
                      run.measure([arranged = prepared.arranged(), arguments,
                                   function = find_as<Function>(card.needs[0])](Turn t) {
                        call(std::apply(function, arguments(arranged[t])));
                      });
                      run.expect(run.checking() ? check(run, prepared.in()) : 0);
                    }};
  }
};

using In = const void*;

const AddLarge bcast{{.name = "Bcast_c",
                      .about = "Bcast with a large-count call.",
                      .place = 210,
                      .root_sends = true,
                      .options = {SuiteOption::root}},
                     [](const Args& a) {
                       void* data = a.rank == a.root ? a.send : a.recv;
                       return std::tuple(data, a.large_count, a.type, a.root, a.comm);
                     },
                     [](const Run& run, const Block& in) -> std::size_t {
                       const int root = run.root();
                       return run.rank() == root ? 0 : run.wrong(in.bytes(), root, 0);
                     }};

const AddLarge allreduce{{.name = "Allreduce_c",
                          .about = "Allreduce with a large-count call.",
                          .place = 220,
                          .unit = Unit::reduction},
                         [](const Args& a) {
                           return std::tuple(In{a.send}, a.recv, a.large_count, a.type, a.op,
                                             a.comm);
                         },
                         [](const Run& run, const Block& in) -> std::size_t {
                           return run.wrong_reduction(in.bytes(), 0);
                         }};

const AddLarge reduce{{.name = "Reduce_c",
                       .about = "Reduce with a large-count call.",
                       .place = 230,
                       .unit = Unit::reduction,
                       .options = {SuiteOption::root}},
                      [](const Args& a) {
                        return std::tuple(In{a.send}, a.recv, a.large_count, a.type, a.op, a.root,
                                          a.comm);
                      },
                      [](const Run& run, const Block& in) -> std::size_t {
                        const bool here = run.rank() == run.root();
                        return here ? run.wrong_reduction(in.bytes(), 0) : 0;
                      }};

const AddLarge allgather{{.name = "Allgather_c",
                          .about = "Allgather with a large-count call.",
                          .place = 240,
                          .recv = message_per_rank},
                         [](const Args& a) {
                           return std::tuple(In{a.send}, a.large_count, a.type, a.recv,
                                             a.large_count, a.type, a.comm);
                         },
                         [](const Run& run, const Block& in) {
                           return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
                         }};

const AddLarge alltoall{
    {.name = "Alltoall_c",
     .about = "Alltoall with a large-count call.",
     .place = 250,
     .send = message_per_rank,
     .recv = message_per_rank},
    [](const Args& a) {
      return std::tuple(In{a.send}, a.large_count, a.type, a.recv, a.large_count, a.type, a.comm);
    },
    [](const Run& run, const Block& in) {
      const std::size_t first = static_cast<std::size_t>(run.rank()) * run.bytes();
      return wrong_from_all(run, in, [first](int) { return first; });
    }};

}  // namespace
}  // namespace mpigauge
