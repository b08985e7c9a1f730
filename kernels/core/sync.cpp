// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/sync.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mpigauge {

namespace {

constexpr int sync_tag = 1001;
constexpr int wake_tag = 1002;

struct Place {
  int rank = 0;
  int ranks = 1;
};

Place place_in(MPI_Comm comm) { return {rank_in(comm), size_of(comm)}; }

struct Reading {
  double offset = 0.0;  // parent's clock minus own
  double at = 0.0;      // own time of the reading
  double error = 0.0;   // half the round trip
};

constexpr int pings = 30;

void answer_pings(int child, MPI_Comm comm) {
  for (int i = 0; i < pings; ++i) {
    std::uint64_t now = 0;
    call(MPI_Recv(nullptr, 0, MPI_BYTE, child, sync_tag, comm, MPI_STATUS_IGNORE));
    now = platform::ticks();
    call(MPI_Send(&now, sizeof now, MPI_BYTE, child, sync_tag, comm));
  }
}

Reading ask_parent(int parent, MPI_Comm comm) {
  Reading best;
  best.error = std::numeric_limits<double>::infinity();
  for (int i = 0; i < pings; ++i) {
    std::uint64_t theirs = 0;
    const auto before = platform::ticks();
    call(MPI_Send(nullptr, 0, MPI_BYTE, parent, sync_tag, comm));
    call(MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, parent, sync_tag, comm, MPI_STATUS_IGNORE));
    const auto after = platform::ticks();
    const double half = static_cast<double>(after - before) / 2;
    if (half < best.error) {
      const double middle = static_cast<double>(before) + half;
      best = {static_cast<double>(theirs) - middle, middle, half};
    }
  }
  return best;
}

// Offset to rank 0 through the parents of a binomial tree; each parent knows its own first.
Reading read_offset(MPI_Comm comm) {
  const Place here = place_in(comm);
  Reading total;
  int step = 1;
  while (step < here.ranks) step *= 2;
  bool known = here.rank == 0;
  for (step /= 2; step >= 1; step /= 2) {
    if (known && here.rank % (2 * step) == 0 && here.rank + step < here.ranks) {
      const int child = here.rank + step;
      answer_pings(child, comm);
      const double handed[2] = {total.offset, total.error};
      call(MPI_Send(handed, 2, MPI_DOUBLE, child, sync_tag, comm));
    } else if (!known && here.rank % (2 * step) == step) {
      const int parent = here.rank - step;
      total = ask_parent(parent, comm);
      double handed[2];
      call(MPI_Recv(handed, 2, MPI_DOUBLE, parent, sync_tag, comm, MPI_STATUS_IGNORE));
      total.offset += handed[0];
      total.error += handed[1];
      known = true;
    }
  }
  if (here.rank == 0) total.at = static_cast<double>(platform::ticks());
  return total;
}

}  // namespace

std::string_view word(SyncMethod method) {
  switch (method) {
    case SyncMethod::barrier: return "barrier";
    case SyncMethod::dissemination: return "dissemination";
    case SyncMethod::clock: return "clock";
    case SyncMethod::none: break;
  }
  return "none";
}

void dissemination_barrier(MPI_Comm comm) {
  const Place here = place_in(comm);
  for (int step = 1; step < here.ranks; step *= 2) {
    const int to = (here.rank + step) % here.ranks;
    const int from = (here.rank - step + here.ranks) % here.ranks;
    call(MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, sync_tag, nullptr, 0, MPI_BYTE, from, sync_tag,
                      comm, MPI_STATUS_IGNORE));
  }
}

CommonClock::CommonClock(MPI_Comm comm, double hz) {
  const Reading first = read_offset(comm);
  call(MPI_Barrier(comm));
  platform::sleep_s(0.02);
  const Reading second = read_offset(comm);
  since_ = second.at;
  offset_ = second.offset;
  error_ = second.error;
  const double apart = second.at - first.at;
  const double change = second.offset - first.offset;
  // A change within the error of the readings is no drift: one counter, or too little time.
  if (apart > 0.01 * hz && std::fabs(change) > first.error + second.error) {
    drift_ = change / apart;
  }
  call(MPI_Barrier(comm));
}

platform::Ticks CommonClock::reference_time(platform::Ticks own) const {
  const auto t = static_cast<double>(own);
  // Offsets are small against the ticks: add them as integers, so that no bits are lost.
  return own + static_cast<platform::Ticks>(std::llround(offset_ + drift_ * (t - since_)));
}

platform::Ticks CommonClock::own_time(platform::Ticks reference) const {
  const auto guess = static_cast<double>(reference) - offset_;
  const double shift = offset_ + drift_ * (guess - since_);
  return reference - static_cast<platform::Ticks>(std::llround(shift));
}

Starter::Starter(SyncMethod method, MPI_Comm comm, double hz)
    : method_(method), comm_(comm), hz_(hz) {
  if (method_ == SyncMethod::clock) renew();
}

void Starter::renew() {
  if (method_ != SyncMethod::clock) return;
  clock_ = CommonClock(comm_, hz_);
  // Time that an announcement needs to reach everyone: the slowest of a few broadcasts, doubled.
  double slowest = 0.0;
  for (int i = 0; i < 10; ++i) {
    call(MPI_Barrier(comm_));
    const auto before = platform::ticks();
    std::uint64_t moment = before;
    call(MPI_Bcast(&moment, sizeof moment, MPI_BYTE, 0, comm_));
    if (i > 1) slowest = std::max(slowest, static_cast<double>(platform::ticks() - before));
  }
  const double mine[2] = {slowest, clock_.error()};
  double all[2] = {0.0, 0.0};
  call(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, comm_));
  slack_ticks_ = std::min(2 * all[0] + 2e-6 * hz_, 1e-3 * hz_);
  error_ticks_ = all[1];
}

bool Starter::start() {
  switch (method_) {
    case SyncMethod::barrier: call(MPI_Barrier(comm_)); return true;
    case SyncMethod::dissemination: dissemination_barrier(comm_); return true;
    case SyncMethod::clock: return start_by_clock();
    case SyncMethod::none: break;
  }
  return true;
}

bool Starter::start_by_clock() {
  call(MPI_Barrier(comm_));
  std::uint64_t moment = platform::ticks() + static_cast<std::uint64_t>(slack_ticks_);
  call(MPI_Bcast(&moment, sizeof moment, MPI_BYTE, 0, comm_));
  const auto mine = clock_.own_time(moment);
  if (platform::ticks() > mine) return false;
  while (platform::ticks() < mine) {
  }
  return true;
}

std::uint8_t sleep_until_told(MPI_Comm comm, std::uint8_t from_root, int root) {
  Place here = place_in(comm);
  here.rank = (here.rank - root + here.ranks) % here.ranks;  // as if the root were the first
  const auto rank_of = [&](int place) { return (place + root) % here.ranks; };
  std::uint8_t told = from_root;
  int step = 1;
  if (here.rank != 0) {
    while (here.rank % (2 * step) == 0) step *= 2;
    MPI_Request request = MPI_REQUEST_NULL;
    call(MPI_Irecv(&told, 1, MPI_BYTE, rank_of(here.rank - step), wake_tag, comm, &request));
    double nap = 50e-6;
    for (int arrived = 0;;) {
      call(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
      if (arrived != 0) break;
      platform::sleep_s(nap);
      nap = std::min(nap * 1.5, 2e-3);
    }
  } else {
    while (step < here.ranks) step *= 2;
  }
  for (step /= 2; step >= 1; step /= 2) {
    if (here.rank + step < here.ranks) {
      call(MPI_Send(&told, 1, MPI_BYTE, rank_of(here.rank + step), wake_tag, comm));
    }
  }
  return told;
}

}  // namespace mpigauge
