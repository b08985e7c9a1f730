// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "hooks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "frames.hpp"
#include "library.hpp"
#include "messages.hpp"
#include "objects.hpp"
#include "process.hpp"
#include "record.hpp"
#include "regions.hpp"
#include "thread.hpp"

namespace mpigauge::profile {

namespace {

bool works() { return process.keeps && !process.is_child; }

void note_library() {
  std::array<char, 8193> text{};
  int length = 0;
  if (mpi.Get_library_version == nullptr) return;
  if (mpi.Get_library_version(text.data(), &length) != 0) return;
  store_text(layout::About::library, text.data(), std::strlen(text.data()));
}

int level_of_threads() {
  int level = 0;
  if (mpi.Query_thread == nullptr || mpi.Query_thread(&level) != 0) return -1;
  const auto* const found = std::find(abi.thread_levels.begin(), abi.thread_levels.end(), level);
  return found == abi.thread_levels.end() ? -1
                                          : static_cast<int>(found - abi.thread_levels.begin());
}

// What launchers tell all ranks of a world, and no other. Ranks are not asked for it: one of them
// may not be profiled, and would not answer.
std::uint64_t number_of_job() {
  constexpr std::array names = {"PMIX_NAMESPACE", "I_MPI_HYDRA_UUID", "PALS_APID", "FLUX_JOB_ID",
                                "SLURM_STEP_ID"};
  for (const char* const name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    std::uint64_t number = 1;
    for (const char* at = text; *at != '\0'; ++at) {
      number = mixed(number ^ static_cast<unsigned char>(*at));
    }
    return number | 1U;
  }
  return 0;
}

bool was_spawned() {
  Word parent = abi.comm_null;
  if (mpi.Comm_get_parent == nullptr) return false;
  return mpi.Comm_get_parent(&parent) == 0 && handle(parent) != abi.comm_null;
}

// MPI_Init has ended, on all ranks of the world. Ranks that others spawned inherit the variables of
// a launcher that started those.
void begun() {
  layout::Head& head = process.storage.head();
  world_made();
  mpi.Comm_rank(abi.comm_world, &head.rank);
  mpi.Comm_size(abi.comm_world, &head.ranks);
  if (was_spawned()) head.launched = static_cast<std::uint64_t>(head.ranks);
  head.thread_level = level_of_threads();
  head.job = number_of_job();
  const Locked locked;
  note_library();
  note_usage();
  head.init_ticks = ticks();
}

// The first session has begun, on this rank at least.
void session_begun(Word session) {
  layout::Head& head = process.storage.head();
  if (!session_world_made(session, head.rank, head.ranks)) return;
  head.job = number_of_job();
  const Locked locked;
  note_library();
  note_usage();
  head.init_ticks = ticks();
}

// MPI_Finalize is about to begin, and has ended.
void ending() {
  settle_regions();
  note_usage();
  process.storage.head().finalize_ticks = ticks();
}
void ended() {
  note_usage();
  process.storage.head().ended |= layout::finalized;
}

// Handles that a call frees may come back as others', so they are forgotten before.
void forget_freed(const Facts& facts, const Word* arguments) {
  if (facts.comm != nowhere) comm_goes(handle_at(arguments[facts.comm]));
  if (facts.window != nowhere) window_goes(handle_at(arguments[facts.window]));
  if (facts.file != nowhere) file_goes(value_at<Word>(arguments[facts.file]));
  if (facts.request != nowhere) {
    request_goes(handle_at(arguments[facts.request]));
    request_dropped(handle_at(arguments[facts.request]));
  }
}

void keep_made(Call call, const Word* arguments) {
  const Facts& facts = facts_of[call];
  const bool later = call == call_Comm_idup || call == call_Comm_idup_with_info;
  const Word comm = facts.comm == nowhere ? 0 : handle(arguments[facts.comm]);
  if (facts.new_comm != nowhere && !later) {
    comm_made(handle_at(arguments[facts.new_comm]), comm, call);
  }
  if (facts.new_window != nowhere) window_made(handle_at(arguments[facts.new_window]), comm);
  if (facts.new_file != nowhere) file_made(value_at<Word>(arguments[facts.new_file]), comm);
}

}  // namespace

void before(Call call, const Word* arguments) {
  const Facts& facts = facts_of[call];
  if (!works()) return;
  if (facts.frees) forget_freed(facts, arguments);
  if (is_receive_of_matched(facts) && self != nullptr) {
    recall_matched(*self, handle_at(arguments[facts.message]));
  }
  if (call == call_Cancel) stop_following();
  if (call == call_Finalize) ending();
  if (call == call_Session_finalize && session_world_goes(handle_at(arguments[0]))) ending();
}

void after(Call call, const Word* arguments) {
  if (!works()) return;
  keep_made(call, arguments);
  switch (call) {
    case call_Init:
    case call_Init_thread: begun(); break;
    case call_Finalize: ended(); break;
    case call_Session_init: session_begun(handle_at(arguments[2])); break;
    case call_Session_finalize:
      if (process.storage.head().finalize_ticks != 0) ended();
      break;
    case call_Comm_set_name: comm_named(handle(arguments[0])); break;
    default: break;
  }
}

void control(int level) {
  switch (level) {
    case 0: set_recording(false); break;
    case 1: set_recording(true); break;
    case 2: start_anew(); break;
    default: break;
  }
}

namespace {

// A process that ends in order; the others leave what they have written.
[[gnu::destructor]] void end_of_process() {
  if (!works()) return;
  settle_regions();
  note_usage();
  process.storage.head().ended |= layout::exited;
}

}  // namespace

}  // namespace mpigauge::profile

namespace profile = mpigauge::profile;
using profile::Word;

// The further arguments are nobody's; as many are handed on as fit into registers.
extern "C" [[gnu::visibility("default")]] int MPI_Pcontrol(Word level, Word a, Word b, Word c,
                                                           Word d, Word e) {
  const profile::Caller caller = MPIGAUGE_CALLER;
  if (profile::process.state.load() == 0) profile::start(caller.pc);
  profile::control(profile::as_int(level));
  const profile::Function function = profile::find_function("MPI_Pcontrol");
  if (function == nullptr) return 0;
  return reinterpret_cast<int (*)(Word, Word, Word, Word, Word, Word)>(function)(level, a, b, c, d,
                                                                                 e);
}

extern "C" [[gnu::visibility("default")]] void mpigauge_begin(const char* name) {
  profile::begin_region(name);
}

extern "C" [[gnu::visibility("default")]] void mpigauge_end() { profile::end_region(); }
