// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/attempt.hpp"

#include "core/refused.hpp"

namespace mpigauge {

std::string attempt(const Job& job, Run& run, MPI_Comm active) {
  if (!job.row.card->may_refuse) {
    job.benchmark->function(run);
    return "";
  }
  std::string why;
  try {
    job.benchmark->function(run);
  } catch (const Refused& refused) {
    why = refused.what();
  }
  return first_text(why, active);
}

std::string attempt_of_others(const Job& job, MPI_Comm active) {
  return job.row.card->may_refuse ? first_text("", active) : "";
}

unsigned remarks_of_all(const Job& job, const Outcome& mine, MPI_Comm row_comm) {
  if (!is_on_files(*job.row.card)) return 0;
  unsigned all = 0;
  call(MPI_Reduce(&mine.remarks, &all, 1, MPI_UNSIGNED, MPI_BOR, 0, row_comm));
  return all;
}

}  // namespace mpigauge
