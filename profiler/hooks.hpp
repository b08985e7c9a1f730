// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What has to be done around some calls besides counting them: to know what handles stand for, and
// when MPI begins and ends.
#pragma once

#include "facts.hpp"
#include "words.hpp"

namespace mpigauge::profile {

constexpr bool is_receive_of_matched(const Facts& facts) {
  return facts.message != nowhere && facts.group == Group::receive;
}

/// Whether there is something to do before the call.
constexpr bool has_before(Call call) {
  const Facts& facts = facts_of[call];
  return call == call_Finalize || call == call_Session_finalize || call == call_Cancel ||
         facts.frees || is_receive_of_matched(facts);
}
void before(Call call, const Word* arguments);

/// Whether there is something to do after it, where it gave no error.
constexpr bool has_after(Call call) {
  const Facts& facts = facts_of[call];
  const bool makes =
      facts.new_comm != nowhere || facts.new_window != nowhere || facts.new_file != nowhere;
  return makes || call == call_Init || call == call_Init_thread || call == call_Finalize ||
         call == call_Session_init || call == call_Session_finalize || call == call_Comm_set_name;
}
void after(Call call, const Word* arguments);

/// Does what MPI_Pcontrol asks for: 0 stops recording, 1 resumes it, 2 starts the profile anew.
void control(int level);

}  // namespace mpigauge::profile
