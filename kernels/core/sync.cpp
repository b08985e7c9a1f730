// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/sync.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "core/statistics.hpp"

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

// Windows by the clock. One that is 16 times as wide as the time in which the ranks leave a barrier
// is missed by one in 16.
constexpr double widths_of_leaving = 16;
constexpr double narrowest_window_s = 4e-6, widest_window_s = 200e-6;
constexpr platform::Ticks most_widening = 4;
constexpr double readings_before_opening = 10, readings_late = 4;
constexpr std::size_t barriers_to_try = 20, windows_to_try = 100;
// Windows open up to so many steps of the clock after a multiple of their width, each elsewhere: at
// one place in a step, all readings of a call would be cut to the same side.
constexpr double steps_of_opening = 2;

// Where in `range` the window of this number opens: evenly spread, and known to all ranks.
platform::Ticks spread_over(platform::Ticks number, platform::Ticks range) {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
  return ((number * golden) >> 32U) * range >> 32U;
}

void most_of_all(std::vector<std::int64_t>& values, MPI_Comm comm) {
  const auto mine = values;
  call(MPI_Allreduce(mine.data(), values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                     MPI_MAX, comm));
}

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
    case SyncMethod::automatic: return "auto";
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

void meet_partner(int partner, MPI_Comm comm) {
  call(MPI_Sendrecv(nullptr, 0, MPI_BYTE, partner, sync_tag, nullptr, 0, MPI_BYTE, partner,
                    sync_tag, comm, MPI_STATUS_IGNORE));
}

bool share_a_clock(MPI_Comm comm, const platform::ClockFacts& clock) {
  const std::string boot = platform::boot_id();
  const std::size_t hash = std::hash<std::string>{}(boot + platform::host_name() + clock.name);
  const auto source = static_cast<std::int64_t>(hash >> 1U);
  const Reading reading = read_offset(comm);
  const bool fits = std::fabs(reading.offset) <= reading.error;
  std::vector<std::int64_t> all{source, -source, boot.empty() || !fits ? 1 : 0};
  most_of_all(all, comm);
  return all[0] == -all[1] && all[2] == 0;
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
  // A change within the error of the readings is not a drift: one counter, or too little time.
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

Starter::Starter(SyncMethod method, MPI_Comm comm, const platform::ClockFacts& clock,
                 bool one_clock)
    : method_(method),
      comm_(comm),
      hz_(clock.hz),
      reading_ticks_(clock.cost_s * clock.hz),
      step_ticks_(clock.step_s * clock.hz),
      one_clock_(one_clock) {
  if (method_ == SyncMethod::clock) renew();
}

void Starter::renew() {
  if (!one_clock_) clock_ = CommonClock(comm_, hz_);
  const double mine = one_clock_ ? reading_ticks_ / 2 + step_ticks_ : clock_.error();
  call(MPI_Allreduce(&mine, &error_ticks_, 1, MPI_DOUBLE, MPI_MAX, comm_));
  const double readings = std::max(reading_ticks_, step_ticks_);
  double all = 0.0;
  call(MPI_Allreduce(&readings, &all, 1, MPI_DOUBLE, MPI_MAX, comm_));
  head_start_ = static_cast<platform::Ticks>(std::ceil(readings_before_opening * all));
  tolerance_ = static_cast<platform::Ticks>(std::ceil(readings_late * all));
  call(MPI_Allreduce(&step_ticks_, &all, 1, MPI_DOUBLE, MPI_MAX, comm_));
  opening_ = static_cast<platform::Ticks>(std::ceil(steps_of_opening * all));
  choose_width();
  empty_ = 0;
  empty_ = time_empty_windows();
}

// So wide that ranks seldom leave the barrier on both sides of a boundary between windows.
void Starter::choose_width() {
  std::vector<std::int64_t> latest(barriers_to_try), earliest(barriers_to_try);
  for (std::size_t i = 0; i < barriers_to_try; ++i) {
    call(MPI_Barrier(comm_));
    latest[i] = static_cast<std::int64_t>(clock_.reference_time(platform::ticks()));
    earliest[i] = -latest[i];
  }
  most_of_all(latest, comm_);
  most_of_all(earliest, comm_);
  std::vector<double> apart(barriers_to_try);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    apart[i] = static_cast<double>(latest[i] + earliest[i]);
  }
  // The median: where others have the cores, single barriers take as long as they please.
  const double wanted = widths_of_leaving * median(std::move(apart));
  width_ = static_cast<platform::Ticks>(
      std::clamp(wanted, narrowest_window_s * hz_, widest_window_s * hz_));
  // Ranks know the rate of the clock slightly differently, and the width has to be the same.
  call(MPI_Bcast(&width_, sizeof width_, MPI_BYTE, 0, comm_));
  least_width_ = width_;
}

// The slowest rank's time for nothing: its reading of the clock, and how late it noticed the
// opening.
platform::Ticks Starter::time_empty_windows() {
  std::vector<std::int64_t> took(windows_to_try);
  std::vector<platform::Ticks> opened(windows_to_try);
  std::vector<std::uint8_t> late(windows_to_try);
  for (std::size_t i = 0; i < windows_to_try; ++i) {
    const Start start = start_by_clock();
    took[i] = static_cast<std::int64_t>(platform::ticks() - start.from);
    opened[i] = start.opened;
    late[i] = start.late ? 1 : 0;
  }
  agree(opened, late);  // whatever the last calls were started by
  most_of_all(took, comm_);
  // Where all were missed, each rank's time in its own window says nearly the same.
  const bool none = std::find(late.begin(), late.end(), 0) == late.end();
  std::vector<double> counted;
  for (std::size_t i = 0; i < took.size(); ++i) {
    if (none || late[i] == 0) counted.push_back(static_cast<double>(took[i]));
  }
  return static_cast<platform::Ticks>(median(std::move(counted)));
}

void Starter::widen() { width_ = std::min(2 * width_, most_widening * least_width_); }

void Starter::narrow() { width_ = std::max(width_ / 2, least_width_); }

Start Starter::start(platform::Ticks after) {
  switch (method_) {
    case SyncMethod::automatic:
    case SyncMethod::barrier: call(MPI_Barrier(comm_)); break;
    case SyncMethod::dissemination: dissemination_barrier(comm_); break;
    case SyncMethod::clock: return start_by_clock(after);
    case SyncMethod::none: break;
  }
  return {};
}

Start Starter::start_by_clock(platform::Ticks after) {
  call(MPI_Barrier(comm_));
  const auto here = clock_.reference_time(platform::ticks()) + head_start_;
  const auto number = here / width_ + 1;
  const auto opened = number * width_ + spread_over(number, opening_);
  const auto mine = clock_.own_time(opened + after);
  auto now = platform::ticks();
  while (now < mine) now = platform::ticks();
  if (now > mine + tolerance_) return {.opened = opened, .from = now, .late = true};
  return {.opened = opened, .from = mine + empty_, .late = false};
}

void Starter::settle(std::vector<platform::Ticks>& opened, std::vector<std::uint8_t>& late) const {
  if (method_ == SyncMethod::clock) agree(opened, late);
}

void Starter::agree(std::vector<platform::Ticks>& opened, std::vector<std::uint8_t>& late) const {
  const std::size_t n = opened.size();
  std::vector<std::int64_t> all(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = static_cast<std::int64_t>(opened[i]);
    all[n + i] = -all[i];
    all[2 * n + i] = late[i];
  }
  most_of_all(all, comm_);
  for (std::size_t i = 0; i < n; ++i) {
    late[i] = all[i] != -all[n + i] || all[2 * n + i] != 0 ? 1 : 0;
    opened[i] = static_cast<platform::Ticks>(all[i]);
  }
}

double longest_nap_s(double waited_s) {
  constexpr double of_short_waits = 2e-3, of_all = 50e-3, share = 1.0 / 256;
  return std::clamp(share * waited_s, of_short_waits, of_all);
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
    const double began_s = platform::now_s();
    double nap = 50e-6;
    for (int arrived = 0;;) {
      call(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
      if (arrived != 0) break;
      platform::sleep_s(nap);
      nap = std::min(nap * 1.5, longest_nap_s(platform::now_s() - began_s));
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
