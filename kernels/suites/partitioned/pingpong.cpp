// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <array>
#include <vector>

#include "core/benchmark.hpp"
#include "suites/partitioned/calls.hpp"

namespace mpigauge {
namespace {

// Open MPI 5.0 makes a communicator of all ranks of the job when a rank first uses partitioned
// messages, and waits there for those that never do; so each rank sends itself one.
void open_everywhere() {
  const auto& mpi = partitioned_calls();
  unsigned char out = 1, in = 0;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  call(mpi.recv_init(&in, 1, 1, MPI_BYTE, 0, message_tag, MPI_COMM_SELF, MPI_INFO_NULL,
                     requests.data()));
  call(mpi.send_init(&out, 1, 1, MPI_BYTE, 0, message_tag, MPI_COMM_SELF, MPI_INFO_NULL,
                     &requests[1]));
  call(MPI_Startall(2, requests.data()));
  call(mpi.ready(0, requests[1]));
  wait_all(2, requests.data());
  for (MPI_Request& request : requests) call(MPI_Request_free(&request));
}

constexpr Card card{
    .suite = "MPI4",
    .name = "PingPong_partitioned",
    .about = "PingPong of messages in --partitions equal parts, each said to be ready on its own.",
    .place = 500,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .options = {SuiteOption::partitions},
    .by_default = false,
    .prepare = open_everywhere,
    .needs = {"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived"},
};

struct Channel {
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request recv = MPI_REQUEST_NULL;
};

/// Requests to and from the other rank, one pair for each turn.
class Channels {
 public:
  Channels(Run& run, const Block& out, const Block& in)
      : parts_(parts_of(static_cast<MPI_Count>(run.count()), run.options().partitions)) {
    // A request keeps its buffer, so each copy of cold buffers has one, up to so many.
    constexpr std::size_t most_turns = 4096;
    const auto& mpi = partitioned_calls();
    const MPI_Count each = static_cast<MPI_Count>(run.count()) / parts_;
    const int peer = run.address(run.peer());
    for (const Turn t : run.turns(most_turns)) {
      Channel& made = all_.emplace_back();
      call(mpi.send_init(out[t].data, parts_, each, run.type(), peer, message_tag, run.comm(),
                         MPI_INFO_NULL, &made.send));
      call(mpi.recv_init(in[t].data, parts_, each, run.type(), peer, message_tag, run.comm(),
                         MPI_INFO_NULL, &made.recv));
    }
  }
  ~Channels() {
    for (Channel& channel : all_) {
      MPI_Request_free(&channel.send);
      MPI_Request_free(&channel.recv);
    }
  }
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] Channel* begin() { return all_.data(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  int parts_;
  std::vector<Channel> all_;
};

/// One side of the ping-pong, small enough for a timed loop to have its own copy.
class Side {
 public:
  explicit Side(Channels& channels)
      : channels_(channels.begin()), count_(channels.size()), parts_(channels.parts()) {}

  void send() {
    MPI_Request& request = channels_[at_].send;
    call(MPI_Start(&request));
    for (int part = 0; part < parts_; ++part) call(partitioned_calls().ready(part, request));
    wait(&request);
  }

  template <bool by_parts>
  void recv() {
    MPI_Request& request = channels_[at_].recv;
    call(MPI_Start(&request));
    for (int part = 0; by_parts && part < parts_; ++part) {
      for (int here = 0; here == 0;) call(partitioned_calls().arrived(request, part, &here));
    }
    wait(&request);
  }

  void next() {
    if (++at_ == count_) at_ = 0;
  }

 private:
  Channel* channels_;
  std::size_t count_;
  int parts_;
  std::size_t at_ = 0;
};

template <bool by_parts>
void pingpong(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  Channels channels(run, out, in);
  const Side here(channels);
  if (run.rank() == 0) {
    run.measure([side = here](Turn) mutable {
      side.send();
      side.template recv<by_parts>();
      side.next();
    });
  } else {
    run.measure([side = here](Turn) mutable {
      side.template recv<by_parts>();
      side.send();
      side.next();
    });
  }
  run.expect(run.wrong(in.bytes(), run.peer(), 0));
}

const Add whole{by_address(card), pingpong<false>};
const Add parts{
    by_address(variant_of(card, "PingPong_parrived",
                          "PingPong_partitioned whose receiver looks for each part before it "
                          "waits for the whole.",
                          card.place + 1)),
    pingpong<true>};

}  // namespace
}  // namespace mpigauge
