// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB-MPI1, -EXT, -IO, -NBC, -RMA and -MPI4, and -GPU of two of them: options, header, then for
// each benchmark, number of processes and mode a table.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "core/computation.hpp"
#include "core/types.hpp"
#include "driver/directories.hpp"
#include "driver/launch.hpp"
#include "driver/missing.hpp"
#include "driver/singletons.hpp"
#include "imb/ours.hpp"
#include "imb/settings.hpp"
#include "imb/tables.hpp"
#include "platform/platform.hpp"

namespace mpigauge::imb {

namespace {

std::string mpi_name_of(std::string_view type) {
  if (type == "float16") return "MPIX_C_FLOAT16";
  if (type == "bfloat16") return "MPIX_C_BF16";
  std::string name = "MPI_";
  for (const char c : type) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string lengths_text(const Program& program, const EngineSettings& s) {
  const bool io = dialect_of(program).io;
  if (s.sizes) return std::string("# ") + (io ? "IO" : "Message") + " lengths were user defined\n";
  const std::string of = io ? " io portion in bytes:   " : " message length in bytes:   ";
  const std::size_t least = s.zero_size ? 0 : std::size_t{1} << static_cast<unsigned>(s.least_log);
  const std::size_t most = std::size_t{1} << static_cast<unsigned>(s.most_log);
  return "# Minimum" + of + std::to_string(least) + "\n# Maximum" + of + std::to_string(most) +
         '\n';
}

// What is done about the page cache; one of the lines that IMB leaves empty.
std::string_view cache_text(IoCache cache) {
  switch (cache) {
    case IoCache::drop:
      return "# Page cache: files are dropped from it before they are read, which others wrote\n";
    case IoCache::direct: return "# Page cache: the MPI library is asked to go around it\n";
    case IoCache::keep: break;
  }
  return "# Page cache: in use, so that reads are from memory (-io_cache keep)\n";
}

std::string types_text(const Program& program, const EngineSettings& s) {
  const Dialect dialect = dialect_of(program);
  if (dialect.io) {
    return "#\n" + std::string(cache_text(s.options.suite.io_cache)) + "#\n";
  }
  const std::string blank = dialect.blank_rules ? "# \n# \n" : "#\n#\n";
  return "#\n# MPI_Datatype                   :   " + mpi_name_of(s.data_type) +
         " \n# MPI_Datatype for reductions    :   " + mpi_name_of(s.reduction_type) +
         (dialect.blank_after_type ? " \n" : "\n") +
         "# MPI_Op                         :   MPI_SUM  \n" + blank;
}

// What the list adds to a benchmark whose table does not speak for itself.
std::string_view comment_on(const Card& card) {
  if (card.suite != "RMA") return "";
  if (card.name == "Compare_and_swap") return "#     Works on MPI_INT\n";
  if (card.columns != Columns::passive) return "";
  return "#     Times MPI_Put to a target that does not take part, twice:\n"
         "#     1) t_pure, while the target waits in MPI_Barrier\n"
         "#     2) t_ovrl, while the target computes before it enters MPI_Barrier\n";
}

std::string header(const Program& program, const EngineSettings& s, const Words& words,
                   const Selection& selection) {
  std::string text = banner(program.title) + system_lines();
  text += "\n\n# Calling sequence was: \n\n# " + std::string(program.name);
  for (const auto& word : words) text += ' ' + word;
  text += dialect_of(program).blank_after_words ? " \n\n" : "\n\n";
  text += lengths_text(program, s) + types_text(program, s) + "\n# List of Benchmarks to run:\n\n";
  for (const Benchmark* b : selection.benchmarks) {
    text += "# " + std::string(b->card.name) + '\n';
    text += comment_on(b->card);
  }
  for (const auto& name : selection.unknown) text += "Invalid benchmark name " + name + '\n';
  for (const auto& remark : s.remarks) text += remark + '\n';
  return text;
}

// How fast the computation is that I/O is overlapped with.
std::string computation_text(const Selection& selection) {
  const bool overlaps =
      std::any_of(selection.benchmarks.begin(), selection.benchmarks.end(),
                  [](const Benchmark* b) { return is_on_files(b->card) && has_parts(b->card); });
  if (!overlaps) return "";
  constexpr double operations_in_step = 2;
  const double steps = ticks_per_second() / pace().ticks_per_step();
  char speed[64];
  std::snprintf(speed, sizeof speed, "%7.2f", steps * operations_in_step / 1e6);
  return "\n\n# For nonblocking benchmarks:\n\n# The computation beside them alone has a\n"
         "# performance of " +
         std::string(speed) + " MFlops\n";
}

// What came of it that the page cache was to be kept out.
std::string remarks_text(unsigned remarks) {
  std::string text;
  if ((remarks & Remark::cached) != 0) {
    text += "\n# Page cache: it still held a part of the files that were read\n";
  }
  if ((remarks & Remark::buffered) != 0) {
    text += "\n# Page cache: the MPI library did not go around it\n";
  }
  return text;
}

class Engine {
 public:
  Engine(const Program& program, EngineSettings& settings, Session& session)
      : program_(program), s_(settings), session_(session) {}
  void run(const Benchmark& benchmark);

 private:
  using Table = std::vector<Job>;
  enum class Went : std::uint8_t { on, ended };
  std::vector<Table> tables_of(const Benchmark& benchmark, int ranks);
  bool shows(Completion completion) const;
  Went tables(const std::vector<Table>& tables, int ranks);
  Went table(const Groups& groups, const Place& place, const Table& rows);

  const Program& program_;
  EngineSettings& s_;
  Session& session_;
};

// Reads that complete at the end only are shown whatever mode is asked for.
bool Engine::shows(Completion completion) const {
  if (completion == Completion::none || s_.aggregate == Aggregate::both) return true;
  return (s_.aggregate == Aggregate::only_end) == (completion == Completion::end);
}

std::vector<Engine::Table> Engine::tables_of(const Benchmark& benchmark, int ranks) {
  const Card& card = benchmark.card;
  Options& options = session_.options;
  options.datatype = card.unit == Unit::reduction ? s_.reduction_type : s_.data_type;
  const bool both_modes = completions_of(card.modes).size() > 1;
  std::vector<Table> tables;
  for (const std::size_t bytes : sizes_for(program_, card, s_)) {
    options.sizes = std::vector<std::size_t>{bytes};
    for (const Job& job : jobs_of(benchmark, ranks, options)) {
      if (both_modes && !shows(job.row.completion)) continue;
      const auto same = [&](const Table& table) {
        const Case& row = table.front().row;
        return row.completion == job.row.completion && row.directory == job.row.directory;
      };
      const auto found = std::find_if(tables.begin(), tables.end(), same);
      if (found == tables.end()) tables.push_back({job});
      else found->push_back(job);
    }
  }
  return tables;
}

void Engine::run(const Benchmark& benchmark) {
  prepare_world(benchmark.card);
  for (const int ranks : ranks_of(benchmark.card, session_.options, session_.ranks)) {
    const auto made = tables_of(benchmark, ranks);
    if (made.empty()) return;
    const auto why = refusal_of(made.front().front().row, INFINITY);
    if (why && (why->limit == Limit::ranks || why->limit == Limit::call)) {
      if (session_.rank == 0) say(invalid(benchmark.card, ranks, *why));
      continue;
    }
    if (tables(made, ranks) == Went::ended) return;
  }
}

Engine::Went Engine::tables(const std::vector<Table>& tables, int ranks) {
  auto went = Went::on;
  const Options& o = session_.options;
  {
    const Groups groups(ranks, session_.ranks, session_.rank, o.multi, o.grid);
    const Place place{ranks, groups.groups(), session_.ranks, o.multi, o.grid};
    for (const Table& rows : tables) {
      if (groups.member() && went == Went::on) went = table(groups, place, rows);
    }
  }
  // Those outside the groups wait here, asleep.
  return static_cast<Went>(sleep_until_told(MPI_COMM_WORLD, static_cast<std::uint8_t>(went)));
}

Engine::Went Engine::table(const Groups& groups, const Place& place, const Table& rows) {
  const bool several = session_.options.suite.directories.size() > 1;
  const bool on_files = is_on_files(*rows.front().row.card);
  if (session_.rank == 0) say(heading(rows.front().row, place, several && on_files));
  TextSink text(session_, place);
  RecordSink records(session_, groups);
  BothSinks both(text, records);
  if (!session_.options.classic) {
    const auto memory = static_cast<double>(session_.memory_per_rank(groups.active()));
    sample(session_, groups, rows, std::min(memory, s_.schedule.memory_bytes), {text, both});
    return Went::on;
  }
  return run_table(session_, groups, rows, s_.schedule, both) ? Went::on : Went::ended;
}

void check_world(const EngineSettings& s, const Session& session) {
  const Grid grid = s.options.grid;
  if (grid.rows > 1 && grid.columns > 1 && std::int64_t{grid.rows} * grid.columns > session.ranks) {
    throw UsageError("-map: " + std::to_string(grid.rows) + 'x' + std::to_string(grid.columns) +
                     " has more places than the job has processes, " +
                     std::to_string(session.ranks));
  }
}

int run_engine_strictly(const Program& program, const Words& words) {
  EngineSettings settings = read_engine_settings(program, words);
  const Selection selection = select(program, settings);
  const Binding unbound{platform::allowed_cpus(), {}};
  return run_launch(program.name, settings.options, unbound, [&](Session& session) {
    refuse_if_none_can_run(selection.benchmarks);
    check_world(settings, session);
    if (dialect_of(program).io) check_directories(session, "-dir");
    if (session.rank == 0) {
      say(header(program, settings, words, selection) + computation_text(selection));
    }
    Engine engine(program, settings, session);
    for (const Benchmark* benchmark : selection.benchmarks) engine.run(*benchmark);
    if (session.rank == 0) say(remarks_text(session.remarks) + footer());
  });
}

// Where IMB runs nothing, and ends as if all were well.
bool ends_quietly(std::string_view error) {
  const auto options = {"-npmin:", "-msglog:", "-msglen:", "-map:", "-off_cache:"};
  return std::any_of(options.begin(), options.end(),
                     [&](const char* option) { return error.starts_with(option); });
}

int run_engine(const Program& program, const Words& words) {
  const bool speaks = speaks_for_all();
  if (const auto option = wanted_help(words)) {
    const std::string text = help_text(program, *option);
    if (speaks) say(text);
    return 0;
  }
  if (has_word(words, "-list")) {
    if (speaks) say(list_text(program));
    return 0;
  }
  try {
    return run_engine_strictly(program, words);
  } catch (const UsageError& error) {
    if (!has_word(words, "-lenient") || !ends_quietly(error.what())) throw;
    if (speaks) say(std::string(error.what()) + '\n');
    return 0;
  }
}

const AddProgram mpi1{{"IMB-MPI1", "MPI1", "MPI-1 part", run_engine}};
const AddProgram ext{{"IMB-EXT", "EXT", "MPI-2 part", run_engine}};
const AddProgram io{{"IMB-IO", "IO", "MPI-IO part", run_engine}};
const AddProgram nbc{{"IMB-NBC", "NBC", "MPI-NBC part", run_engine}};
const AddProgram rma{{"IMB-RMA", "RMA", "MPI-RMA part", run_engine}};
const AddProgram mpi4{{"IMB-MPI4", "MPI4", "MPI-4 part", run_engine}};
const AddProgram mpi1_gpu{{"IMB-MPI1-GPU", "MPI1", "MPI-1 part (GPU)", run_engine, true}};
const AddProgram rma_gpu{
    {"IMB-RMA-GPU", "RMA", "RMA part (GPU), Technical preview", run_engine, true}};

}  // namespace

}  // namespace mpigauge::imb
