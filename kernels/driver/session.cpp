// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/session.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "driver/cases.hpp"
#include "gpu/driver.hpp"
#include "record/columns.hpp"
#include "record/records.hpp"

namespace mpigauge {

namespace {

constexpr int line_tag = 1003;
// Ranks whose texts may be under way: one at a time, each would be waited for in turn; all of them,
// memory would grow with the number of ranks.
constexpr int asked_ahead = 64;
// The rest is for the library, for the launcher, and for what else the host is doing.
constexpr double share_of_memory = 0.8;

void send_text(const std::string& text, MPI_Comm comm) {
  call(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, line_tag, comm));
}

double bytes_per_s(const Beside& what) {
  const bool has_sent = what.bytes > 0 && what.seconds > 0;
  return has_sent ? what.bytes / what.seconds : std::numeric_limits<double>::quiet_NaN();
}

std::string receive_text(int from, MPI_Comm comm) {
  MPI_Status status;
  int length = 0;
  call(MPI_Probe(from, line_tag, comm, &status));
  call(MPI_Get_count(&status, MPI_CHAR, &length));
  std::string text(static_cast<std::size_t>(length), '\0');
  call(MPI_Recv(text.data(), length, MPI_CHAR, from, line_tag, comm, MPI_STATUS_IGNORE));
  return text;
}

}  // namespace

double Session::seconds_left() const {
  if (options.seconds <= 0) return 0;
  return std::max(options.seconds - (platform::now_s() - start_s), 1e-3);
}

bool Session::is_out_of_time() const {
  return options.seconds > 0 && platform::now_s() - start_s >= options.seconds;
}

bool Session::stop_wanted() const {
  return !options.stop_file.empty() && platform::file_exists(options.stop_file);
}

Rules Session::rules(double seconds, int together) const {
  return {.hz = clock.hz,
          .clock_cost_ticks = clock.cost_s * clock.hz,
          .clock_step_ticks = clock.step_s * clock.hz,
          .precision = options.precision,
          .seconds = seconds,
          .cell_seconds = options.cell_seconds,
          .use_all = options.use_all && seconds > 0,
          .seed = options.seed,
          .detours = detours,
          .cores = together};
}

// Kinds of memory, of each of which there are buffers at the same time.
double Session::arenas() const {
  std::set<Memory> kinds;
  for (const Memories& each : options.memories) kinds.insert(each.of_rank(rank));
  return std::max(1.0, static_cast<double>(kinds.size()));
}

std::size_t Session::memory_per_rank(MPI_Comm comm) const {
  const auto free = static_cast<double>(platform::available_memory());
  auto mine = static_cast<unsigned long long>(share_of_memory * free / local_ranks / arenas());
  if (const auto* driver = gpu::driver(); driver != nullptr) {
    const auto on_gpu = static_cast<double>(driver->free_bytes());
    mine = std::min(mine, static_cast<unsigned long long>(share_of_memory * on_gpu / ranks_on_gpu));
  }
  if (options.memory_limit > 0) mine = options.memory_limit;
  unsigned long long least = 0;
  call(MPI_Allreduce(&mine, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm));
  return least;
}

void for_each_text(MPI_Comm comm, const std::string& text,
                   const std::function<void(int, const std::string&)>& take) {
  const int all = size_of(comm);
  const auto ask = [&](int rank) {
    const int asked = 1;
    call(MPI_Send(&asked, 1, MPI_INT, rank, line_tag, comm));
  };
  if (rank_in(comm) != 0) {
    int asked = 0;
    call(MPI_Recv(&asked, 1, MPI_INT, 0, line_tag, comm, MPI_STATUS_IGNORE));
    return send_text(text, comm);
  }
  take(0, text);
  for (int ahead = 1; ahead < std::min(all, asked_ahead); ++ahead) ask(ahead);
  for (int from = 1; from < all; ++from) {
    if (const int next = from + asked_ahead - 1; next < all) ask(next);
    take(from, receive_text(from, comm));
  }
}

void Session::write_all(MPI_Comm comm, const std::string& text) const {
  for_each_text(comm, text, [this](int, const std::string& of_rank) {
    if (!of_rank.empty()) writer->write(of_rank);
  });
}

void Session::hand_over(int from, const std::string& text) const {
  if (rank == from) return send_text(text, MPI_COMM_WORLD);
  if (rank != 0) return;
  const std::string lines = receive_text(from, MPI_COMM_WORLD);
  if (!lines.empty()) writer->write(lines);
}

void Session::write_skip(const Object& key, std::string_view reason) const {
  if (writer == nullptr) return;
  writer->write(object_of(
      records::Skip{.launch = options.launch, .key = key, .reason = std::string(reason)}));
}

std::vector<std::string_view> flags_of(const Session& session, const Measured& measured) {
  auto flags = measured.summary.flags;
  if (session.oversubscribed) flags.emplace_back("oversubscribed");
  if ((measured.remarks & Remark::cached) != 0) flags.emplace_back("cached");
  if ((measured.remarks & Remark::buffered) != 0) flags.emplace_back("buffered");
  if (measured.beside.stopped) flags.emplace_back("aggressors");
  return flags;
}

Object cell_record_of(const Session& session, const Groups& groups, const Job& job,
                      const Measured& measured) {
  const Summary& s = measured.summary;
  const Options& o = session.options;
  const Card& card = *job.row.card;
  const BusyWith busy = card.library != nullptr ? card.library->busy(job.row.shape) : BusyWith();
  const auto flags = flags_of(session, measured);
  Object line = record("cell");
  line.add(column::launch, o.launch)
      .merge(key_of(job, o, o.multi == Multi::apart ? groups.own_group() : groups.all_groups()))
      .add(column::calls, s.calls)
      .add(column::samples, s.samples)
      .add(column::chunks, s.chunks)
      .add(column::rounds, measured.rounds)
      .add(column::epochs, measured.epochs)
      .add(column::stop, measured.stop)
      .add(column::tainted_ratio, s.tainted_ratio)
      .add(column::flags, flags)
      .add(column::wrong_count, measured.wrong)
      .add(column::variant, card.choice != nullptr ? card.choice(job.row.shape) : std::string())
      .add(column::busy_cores, busy.cores)
      .add(column::busy_threads, busy.threads)
      .add(column::beside_bytes_per_s, bytes_per_s(measured.beside))
      .add(column::check, card.unit == Unit::none ? "none" : "exact");
  column::add_times(line, s);
  line.merge(facts_of(job));
  return line;
}

bool broadcast_bool(MPI_Comm comm, bool on_rank_0) {
  unsigned char yes = on_rank_0 ? 1 : 0;
  call(MPI_Bcast(&yes, 1, MPI_BYTE, 0, comm));
  return yes != 0;
}

}  // namespace mpigauge
