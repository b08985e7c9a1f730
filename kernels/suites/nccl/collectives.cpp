// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The collectives of NCCL with the buffers, sizes and checks of MPI's of the same names, so that
// their rows stand beside each other.
#include "suites/nccl/connected.hpp"

namespace mpigauge::on_nccl {
namespace {

constexpr Card reduction(Card card) {
  card.unit = Unit::reduction;
  return card;
}
constexpr Card rooted(Card card) {
  card.options.add(SuiteOption::root);
  return card;
}
constexpr Card with_buffers(Card card, Amount send, Amount recv) {
  card.send = send;
  card.recv = recv;
  return card;
}
constexpr Card as_ring(Card card) {
  card.columns = Columns::parallel;
  card.moved = twice_message;
  card.messages = [](const Shape&) { return 2.0; };
  return card;
}
constexpr Card root_sends(Card card) {
  card.root_sends = true;
  return card;
}

const Add all_reduce{
    reduction(nccl_card("AllReduce", "Reduces over all ranks; every rank gets the result.", 10)),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        c.library->all_reduce(c.send(t), c.recv(t), c.count, c.op, c.connection, c.stream);
      });
      run.expect(run.wrong_reduction(call.in.bytes(), 0));
    }};

const Add broadcast{
    rooted(
        root_sends(nccl_card("Broadcast", "The root sends the same message to every rank.", 20))),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        // The root's data must never be overwritten by another root's.
        void* const to = c.rank == t.root ? const_cast<void*>(c.send(t)) : c.recv(t);
        c.library->broadcast(c.send(t), to, c.count, t.root, c.connection, c.stream);
      });
      run.expect(run.rank() == run.root() ? 0 : run.wrong(call.in.bytes(), run.root(), 0));
    }};

const Add reduce{
    rooted(reduction(nccl_card("Reduce", "Reduces over all ranks; the root gets the result.", 30))),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        c.library->reduce(c.send(t), c.recv(t), c.count, c.op, t.root, c.connection, c.stream);
      });
      run.expect(run.rank() == run.root() ? run.wrong_reduction(call.in.bytes(), 0) : 0);
    }};

const Add all_gather{
    with_buffers(nccl_card("AllGather", "Every rank gets one message of every rank.", 40), message,
                 message_per_rank),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        c.library->all_gather(c.send(t), c.recv(t), c.count, c.connection, c.stream);
      });
      run.expect(wrong_from_all(run, call.in, [](int) { return std::size_t{0}; }));
    }};

const Add reduce_scatter{
    with_buffers(
        reduction(nccl_card("ReduceScatter",
                            "Reduces over all ranks; every rank gets a part of the result.", 50)),
        message_per_rank, message),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        c.library->reduce_scatter(c.send(t), c.recv(t), c.count, c.op, c.connection, c.stream);
      });
      const std::size_t mine = static_cast<std::size_t>(run.rank()) * run.elements();
      run.expect(run.wrong_reduction(call.in.bytes(), mine));
    }};

const Add all_to_all{
    with_buffers(nccl_card("AlltoAll", "Every rank sends every rank a message of its own.", 60),
                 message_per_rank, message_per_rank),
    [](Run& run) {
      const Call call = measure(run, [](const Call& c, Turn t) {
        c.library->all_to_all(c.send(t), c.recv(t), c.count, c.ranks, c.connection, c.stream);
      });
      const std::size_t mine = static_cast<std::size_t>(run.rank()) * run.bytes();
      run.expect(wrong_from_all(run, call.in, [&](int) { return mine; }));
    }};

const Add send_and_receive{
    as_ring(nccl_card(
        "SendRecv", "Ranks form a ring: each sends to the right and receives from the left.", 70)),
    [](Run& run) {
      const int right = (run.rank() + 1) % run.ranks();
      const int left = (run.rank() + run.ranks() - 1) % run.ranks();
      const Call call = measure(run, [=](const Call& c, Turn t) {
        c.library->send_and_receive(c.send(t), c.recv(t), c.count, right, left, c.connection,
                                    c.stream);
      });
      run.expect(run.wrong(call.in.bytes(), left, 0));
    }};

}  // namespace
}  // namespace mpigauge::on_nccl
