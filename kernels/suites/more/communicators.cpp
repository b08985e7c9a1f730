// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What it costs to make a communicator and to free it again. Libraries have only so many at once,
// so a call does both.
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card making_card(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "MORE",
      .name = name,
      .about = about,
      .place = place,
      .unit = Unit::none,
      .meet = Meet::each,
      .columns = Columns::barrier,
      .send = nothing,
      .recv = nothing,
      .seldom = true,
  };
}

// Whether a communicator has so many ranks, this one at that place, and whether it works.
bool works(MPI_Comm comm, int ranks, int rank) {
  int sum = 0;
  call(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  return size_of(comm) == ranks && rank_in(comm) == rank && sum == ranks * (ranks - 1) / 2;
}

template <class Make>
void make_and_free(Run& run, int ranks, int rank, Make make) {
  run.measure([=](Turn) {
    MPI_Comm made = make();
    call(MPI_Comm_free(&made));
  });
  if (!run.checking()) return run.expect(0);
  MPI_Comm made = make();
  run.expect(works(made, ranks, rank) ? 0 : 1);
  call(MPI_Comm_free(&made));
}

void dup(Run& run) {
  make_and_free(run, run.ranks(), run.rank(), [comm = run.comm()] {
    MPI_Comm made = MPI_COMM_NULL;
    call(MPI_Comm_dup(comm, &made));
    return made;
  });
}

// Even ranks and odd ranks, each in reverse order.
void split(Run& run) {
  const int colour = run.rank() % 2;
  const int ranks = (run.ranks() + 1 - colour) / 2;
  make_and_free(run, ranks, ranks - 1 - run.rank() / 2,
                [comm = run.comm(), colour, key = -run.rank()] {
                  MPI_Comm made = MPI_COMM_NULL;
                  call(MPI_Comm_split(comm, colour, key, &made));
                  return made;
                });
}

void create_group(Run& run) {
  using Function = int (*)(MPI_Comm, MPI_Group, int, MPI_Comm*);
  MPI_Group group = MPI_GROUP_NULL;
  call(MPI_Comm_group(run.comm(), &group));
  make_and_free(run, run.ranks(), run.rank(),
                [create = find_as<Function>("MPI_Comm_create_group"), comm = run.comm(), group] {
                  MPI_Comm made = MPI_COMM_NULL;
                  call(create(comm, group, message_tag, &made));
                  return made;
                });
  call(MPI_Group_free(&group));
}

constexpr Card create_group_card = [] {
  Card card = making_card("Comm_create_group",
                          "Makes a communicator of a group and frees it, without others.", 40);
  card.needs = {"MPI_Comm_create_group"};
  return card;
}();

const Add dup_added{making_card("Comm_dup", "Duplicates a communicator and frees it.", 20), dup};
const Add split_added{
    making_card("Comm_split", "Splits a communicator in two, in another order, and frees it.", 30),
    split};
const Add create_group_added{create_group_card, create_group};

}  // namespace
}  // namespace mpigauge
