// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <numeric>
#include <vector>

#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MORE",
    .name = "Sessions",
    .about = "Begins a session, makes a communicator of its processes, frees it, and ends it.",
    .place = 50,
    .unit = Unit::none,
    .meet = Meet::each,
    .columns = Columns::barrier,
    .send = nothing,
    .recv = nothing,
    .seldom = true,
    .needs = {"MPI_Session_init", "MPI_Session_create_errhandler", "MPI_Group_from_session_pset",
              "MPI_Comm_create_from_group"},
};

// Own handlers as elsewhere, not MPI_ERRORS_RETURN: one of each kind.
// NOLINTBEGIN(modernize-avoid-variadic-functions)
void leave_to_caller(MPI_Session*, int*, ...) {}
void leave_comm_to_caller(MPI_Comm*, int*, ...) {}
// NOLINTEND(modernize-avoid-variadic-functions)

struct SessionCalls {
  int (*create_errhandler)(void (*)(MPI_Session*, int*, ...), MPI_Errhandler*);
  int (*init)(MPI_Info, MPI_Errhandler, MPI_Session*);
  int (*finalize)(MPI_Session*);
  int (*group_from_pset)(MPI_Session, const char*, MPI_Group*);
  int (*comm_from_group)(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
};

const SessionCalls& session_calls() {
  static const SessionCalls found{
      .create_errhandler =
          find_as<decltype(SessionCalls::create_errhandler)>("MPI_Session_create_errhandler"),
      .init = find_as<decltype(SessionCalls::init)>("MPI_Session_init"),
      .finalize = find_as<decltype(SessionCalls::finalize)>("MPI_Session_finalize"),
      .group_from_pset =
          find_as<decltype(SessionCalls::group_from_pset)>("MPI_Group_from_session_pset"),
      .comm_from_group =
          find_as<decltype(SessionCalls::comm_from_group)>("MPI_Comm_create_from_group"),
  };
  return found;
}

struct Handlers {
  MPI_Errhandler session = MPI_ERRHANDLER_NULL;
  MPI_Errhandler comm = MPI_ERRHANDLER_NULL;
};

const Handlers& handlers() {
  static const Handlers made = [] {
    Handlers h;
    call(session_calls().create_errhandler(leave_to_caller, &h.session));
    call(MPI_Comm_create_errhandler(leave_comm_to_caller, &h.comm));
    return h;
  }();
  return made;
}

// Ranks of a communicator as the processes of the world count them; a session's set of all
// processes has the same order.
std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group own = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  call(MPI_Comm_group(comm, &own));
  call(MPI_Comm_group(MPI_COMM_WORLD, &world));
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm))), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  call(MPI_Group_translate_ranks(own, static_cast<int>(ranks.size()), ranks.data(), world,
                                 there.data()));
  call(MPI_Group_free(&own));
  call(MPI_Group_free(&world));
  return there;
}

// A session and the communicator that was made in it.
struct Life {
  // Not MPI_SESSION_NULL: that is an object of the library, which an older Open MPI has not.
  MPI_Session session{};
  MPI_Comm comm = MPI_COMM_NULL;

  explicit Life(const std::vector<int>& members) {
    const SessionCalls& calls = session_calls();
    MPI_Group all = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    call(calls.init(MPI_INFO_NULL, handlers().session, &session));
    call(calls.group_from_pset(session, "mpi://WORLD", &all));
    call(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &group));
    call(calls.comm_from_group(group, "mpigauge", MPI_INFO_NULL, handlers().comm, &comm));
    call(MPI_Group_free(&group));
    call(MPI_Group_free(&all));
  }
  void end() {
    call(MPI_Comm_free(&comm));
    call(session_calls().finalize(&session));
  }
};

void sessions(Run& run) {
  const std::vector<int> members = world_ranks(run.comm());
  handlers();
  run.measure([&](Turn) { Life(members).end(); });
  if (!run.checking()) return run.expect(0);
  Life life(members);
  int sum = 0;
  const int one = 1;
  call(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, life.comm));
  run.expect(sum == run.ranks() && rank_in(life.comm) == run.rank() ? 0 : 1);
  life.end();
}

const Add added{card, sessions};

}  // namespace
}  // namespace mpigauge
