// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Start, processes, and what is not a usual call: the clock, addresses, profiling.
#include <cstdarg>

#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

// --- start --------------------------------------------------------------------------------------

MPIGAUGE_EXPORT int PMPI_Init(int* argc, char*** argv) {
  const int code = translated<call_Init, IntPointer, Pointer>(argc, argv);
  if (code == 0) look_at_target();
  return code;
}
MPIGAUGE_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using Level = InOf<Group::thread_level>;
  using LevelOut = OutOf<Group::thread_level>;
  const int code = translated<call_Init_thread, IntPointer, Pointer, Level, LevelOut>(
      argc, argv, required, provided);
  if (code == 0) look_at_target();
  return code;
}
MPIGAUGE_EXPORT int PMPI_Session_init(ProgramHandle<Kind::info> info,
                                      ProgramHandle<Kind::errhandler> errhandler,
                                      ProgramHandle<Kind::session>* session) {
  return translated<call_Session_init, In<Kind::info>, In<Kind::errhandler>, Out<Kind::session>>(
      info, errhandler, session);
}
MPIGAUGE_EXPORT int PMPI_Info_create_env(int argc, char** argv, ProgramHandle<Kind::info>* info) {
  return translated<call_Info_create_env, Int, Pointer, Out<Kind::info>>(argc, argv, info);
}
MPIGAUGE_EXPORT int PMPI_Pcontrol(const int level, ...) {
  const Function function = function_of<call_Pcontrol>();
  if (function == nullptr) return missing(call_Pcontrol);
  return error_to_program(reinterpret_cast<int (*)(int, ...)>(function)(level));
}
MPIGAUGE_ALSO(Init)
MPIGAUGE_ALSO(Init_thread)
MPIGAUGE_ALSO(Session_init)
MPIGAUGE_ALSO(Info_create_env)
MPIGAUGE_ALSO(Pcontrol)

// --- clock and addresses ------------------------------------------------------------------------

MPIGAUGE_EXPORT double PMPI_Wtime() {
  return reinterpret_cast<double (*)()>(function_of<call_Wtime>())();
}
MPIGAUGE_EXPORT double PMPI_Wtick() {
  return reinterpret_cast<double (*)()>(function_of<call_Wtick>())();
}
MPIGAUGE_EXPORT Wide PMPI_Aint_add(Wide base, Wide more) { return base + more; }
MPIGAUGE_EXPORT Wide PMPI_Aint_diff(Wide one, Wide other) { return one - other; }
MPIGAUGE_ALSO(Wtime)
MPIGAUGE_ALSO(Wtick)
MPIGAUGE_ALSO(Aint_add)
MPIGAUGE_ALSO(Aint_diff)

// --- processes ----------------------------------------------------------------------------------

namespace {

using Comm = ProgramHandle<Kind::comm>;
using Info = ProgramHandle<Kind::info>;

void errors_to_program(int* errors, int count) {
  if (errors == nullptr) return;
  for (int n = 0; n < count; ++n) errors[n] = error_to_program(errors[n]);
}

int remote_size(TargetHandle<Kind::comm> comm) {
  int count = 0;
  return ask<call_Comm_remote_size>(comm, &count) == 0 ? count : 0;
}

bool is_root(Comm comm, int root) {
  int rank = -1;
  ask<call_Comm_rank>(to_target<Kind::comm>(comm), &rank);
  return rank == root;
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Comm_spawn(const char* command, char** argv, int most, Info info, int root,
                                    Comm comm, Comm* made, int* errors) {
  if (function_of<call_Comm_spawn>() == nullptr) return missing(call_Comm_spawn);
  auto inter = null_for_target<Kind::comm>();
  const int code = ask<call_Comm_spawn>(command, argv, most, to_target<Kind::info>(info), root,
                                        to_target<Kind::comm>(comm), &inter, errors);
  if (code == 0) *made = to_program<Kind::comm>(inter);
  errors_to_program(errors, code == 0 ? remote_size(inter) : 0);
  return error_to_program(code);
}

MPIGAUGE_EXPORT int PMPI_Comm_spawn_multiple(int count, char** commands, char*** argv,
                                             const int* most, const Info* infos, int root,
                                             Comm comm, Comm* made, int* errors) {
  if (function_of<call_Comm_spawn_multiple>() == nullptr) {
    return missing(call_Comm_spawn_multiple);
  }
  const bool root_here = is_root(comm, root);
  Room<TargetHandle<Kind::info>> translated_infos(root_here ? count : 0);
  for (std::size_t n = 0; n < translated_infos.size(); ++n) {
    translated_infos[n] = to_target<Kind::info>(infos[n]);
  }
  auto inter = null_for_target<Kind::comm>();
  const int code =
      ask<call_Comm_spawn_multiple>(count, commands, argv, most, translated_infos.data(), root,
                                    to_target<Kind::comm>(comm), &inter, errors);
  if (code == 0) *made = to_program<Kind::comm>(inter);
  errors_to_program(errors, code == 0 ? remote_size(inter) : 0);
  return error_to_program(code);
}
MPIGAUGE_ALSO(Comm_spawn)
MPIGAUGE_ALSO(Comm_spawn_multiple)

// --- communicators that are made later ----------------------------------------------------------

namespace {

// The target may write the communicator when the request is done.
struct Later {
  TargetHandle<Kind::comm> handle, told;
  Comm* place;
};

void tell(void* memory) {
  const auto& later = *static_cast<const Later*>(memory);
  if (later.handle != later.told) *later.place = to_program<Kind::comm>(later.handle);
}

template <Call call, class... Words>
int duplicate(Comm comm, Comm* made, ProgramHandle<Kind::request>* request, Words... words) {
  if (function_of<call>() == nullptr) return missing(call);
  auto* const later = static_cast<Later*>(std::malloc(sizeof(Later)));
  *later = {null_for_target<Kind::comm>(), null_for_target<Kind::comm>(), made};
  auto started = null_for_target<Kind::request>();
  const int code = ask<call>(to_target<Kind::comm>(comm), words..., &later->handle, &started);
  if (code != 0) {
    std::free(later);
    return error_to_program(code);
  }
  later->told = later->handle;
  *made = to_program<Kind::comm>(later->handle);
  keep_with(word_of(started), tell, later);
  if (started == null_for_target<Kind::request>()) finished(word_of(started));
  *request = to_program<Kind::request>(started);
  return 0;
}

}  // namespace

MPIGAUGE_EXPORT int PMPI_Comm_idup(Comm comm, Comm* made, ProgramHandle<Kind::request>* request) {
  return duplicate<call_Comm_idup>(comm, made, request);
}
MPIGAUGE_EXPORT int PMPI_Comm_idup_with_info(Comm comm, Info info, Comm* made,
                                             ProgramHandle<Kind::request>* request) {
  return duplicate<call_Comm_idup_with_info>(comm, made, request, to_target<Kind::info>(info));
}
MPIGAUGE_ALSO(Comm_idup)
MPIGAUGE_ALSO(Comm_idup_with_info)
