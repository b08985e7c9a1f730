// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/settings.hpp"
#include "imb/tables.hpp"
#include "tests/check.hpp"

using namespace mpigauge;
using namespace mpigauge::imb;

namespace {

const Program& mpi1() { return *find_program("IMB-MPI1"); }

EngineSettings with(const Words& words, const char* program = "IMB-MPI1") {
  return read_engine_settings(*find_program(program), words);
}

std::string refusal(const Words& words, const char* program = "IMB-MPI1") {
  const Program& of = *find_program(program);
  return check::thrown_by<UsageError>([&] { select(of, read_engine_settings(of, words)); });
}

std::vector<std::string> selected(const Words& words) {
  std::vector<std::string> names;
  for (const auto* b : select(mpi1(), with(words)).benchmarks) names.emplace_back(b->card.name);
  return names;
}

std::vector<std::size_t> sizes(const char* benchmark, const Words& words) {
  return sizes_for(mpi1(), find_benchmark("MPI1", benchmark)->card, with(words));
}

using Names = std::vector<std::string>;
using Sizes = std::vector<std::size_t>;

}  // namespace

TEST(a_program_is_found_by_the_end_of_its_path) {
  CHECK(find_program("/opt/bin/IMB-MPI1") == &mpi1());
  CHECK(find_program("imb-mpi1") == &mpi1());
  CHECK(find_program("IMB-MPI") == nullptr);
  for (const char* name : {"IMB-EXT", "IMB-IO", "IMB-NBC", "IMB-RMA", "IMB-MPI4"}) {
    CHECK(find_program(name) != nullptr);
  }
}

TEST(values_as_imb_writes_them) {
  const auto s = with({"-npmin",     "3",         "-multi",       "7",    "-map",        "3x2",
                       "-iter",      "10,4000,5", "-time",        "0.5",  "-mem",        "3gb",
                       "-msglog",    "3:28",      "-warm_up",     "Off",  "-sync",       "no",
                       "-off_cache", "-1,64",     "-iter_policy", "auto", "-root_shift", "1"});
  CHECK_EQ(s.options.npmin, 3);
  CHECK(s.options.multi == Multi::apart);
  CHECK(s.options.grid.rows == 3 && s.options.grid.columns == 2);
  CHECK(s.schedule.repetitions == 10 && s.schedule.seldom == 5);
  CHECK_EQ(s.schedule.volume_bytes, 4000.0 * 1048576);
  CHECK_EQ(s.schedule.memory_bytes, 3.0 * (1U << 30U));
  CHECK(s.least_log == 3 && s.most_log == 28);
  CHECK(!s.schedule.warm_up && s.options.sync == SyncMethod::none && s.options.root_shift);
  CHECK(s.options.cache == Cache::cold && s.options.cache_bytes == 8U << 20U);
  CHECK(s.schedule.policy == Policy::automatic);
  CHECK_EQ(s.schedule.table_seconds, 24 * 0.5);
}

TEST(what_holds_without_options) {
  const auto s = with({});
  CHECK(s.options.npmin == 2 && with({}, "IMB-IO").options.npmin == 1);
  CHECK_EQ(s.schedule.table_seconds, 21 * 10.0);
  CHECK_EQ(s.schedule.memory_bytes, 1.0 * (1U << 30U));
  CHECK(s.schedule.stops_at_limit && s.options.classic);
}

TEST(our_own_barrier_is_also_between_the_calls) {
  const auto s = with({"-imb_barrier", "on"});
  CHECK(s.schedule.own_barriers && s.options.sync == SyncMethod::dissemination);
  CHECK(with({"-imb_barrier", "on", "-sync", "off"}).options.sync == SyncMethod::none);
}

TEST(names_in_any_case_with_blanks_or_commas) {
  CHECK_EQ(selected({"pingpong,SENDRECV", "-iter", "3", "bcast"}),
           (Names{"PingPong", "Sendrecv", "Bcast"}));
  CHECK_EQ(selected({"Bcast", "Bcast"}), (Names{"Bcast", "Bcast"}));
  CHECK_EQ(selected({"-include", "Uniband,Biband", "Bcast"}),
           (Names{"Uniband", "Biband", "Bcast"}));
  CHECK_EQ(selected({"Bcast", "Reduce", "-exclude", "bcast"}), (Names{"Reduce"}));
  CHECK_EQ(selected({}).front(), "PingPong");
  CHECK_EQ(selected({}).back(), "Barrier");
  CHECK_EQ(selected({"-exclude", "PingPong"}).front(), "PingPing");
}

TEST(wrong_words_get_one_clear_sentence) {
  const std::vector<std::pair<Words, std::string>> table{
      {{"PingPogn"}, "no benchmark of IMB-MPI1 is called 'PingPogn' (did you mean PingPong?)"},
      {{"Zzz"}, "no benchmark of IMB-MPI1 is called 'Zzz'"},
      {{"-iterr", "3"}, "there is no option -iterr (did you mean -iter?)"},
      {{"-iter"}, "-iter needs a value: N[,MIB[,M]]"},
      {{"-iter", "10x"}, "-iter: '10x' is not a whole number"},
      {{"-iter", "0"}, "-iter: '0' is out of range: at least 1"},
      {{"-iter", "1,2,3,4"}, "-iter: '1,2,3,4' has more than three fields"},
      {{"-npmin", "0"}, "-npmin: '0' is out of range: at least 1"},
      {{"-msglog", "5:3"}, "-msglog: '5:3': the minimum exceeds the maximum"},
      {{"-msglog", "1:"}, "-msglog: '' is not a number"},
      {{"-msglog", "3,5"}, "-msglog: '3,5' is not a whole number"},
      {{"-msglen", "no/such/file"}, "-msglen: cannot read the file 'no/such/file'"},
      {{"-msgsize", "4,abc"}, "-msgsize: 'abc' is not a number"},
      {{"-msgsize", "-4"}, "-msgsize: '-4' is out of range: at least 0"},
      {{"-map", "3"}, "-map: '3' is not of the form PxQ"},
      {{"-sync", "maybe"}, "-sync: 'maybe' is neither on nor off"},
      {{"-mem", "much"}, "-mem: 'much' is not a number"},
      {{"-time", "5x"}, "-time: '5x' is not a number"},
      {{"-iter_policy", "of"}, "-iter_policy: 'of' is none of dynamic, multiple_np, auto, off"},
      {{"-off_cache", "1,0.5"}, "-off_cache: '0.5' is not a whole number"},
      {{"-window_size", "0"}, "-window_size: '0' is out of range: at least 1"},
      {{"-thread_level", "nompiinit"},
       "-thread_level: 'nompiinit' is none of single, funneled, serialized, multiple"},
      {{"-input", "no/such/file"}, "-input: cannot read the file 'no/such/file'"},
      {{"PingPong", "-exclude", "PingPong"}, "no benchmark is left to be run"},
  };
  for (const auto& [words, said] : table) CHECK_EQ(refusal(words), said);
}

TEST(sizes_beyond_imbs_want_their_memory_named) {
  CHECK(refusal({"-msglog", "31"}).starts_with("-msglog: 2^31 bytes need more memory"));
  CHECK_EQ(with({"-msglog", "33", "-mem", "40"}).most_log, 33);
}

TEST(lenient_is_content_with_what_imb_is_content_with) {
  const auto s = with({"-lenient", "-foo", "3", "PingPong", "-iter", "10x", "-iter_policy", "of"});
  CHECK(s.lenient && s.schedule.repetitions == 10 && s.schedule.policy == Policy::dynamic);
  const Selection selection = select(mpi1(), s);
  CHECK_EQ(selection.unknown, (Words{"-foo", "3"}));
  CHECK_EQ(selection.benchmarks.size(), 1U);
  CHECK(select(mpi1(), with({"-lenient", "Nonsense"})).benchmarks.size() > 10);
}

TEST(sizes_double_and_are_whole_elements) {
  CHECK_EQ(sizes("PingPong", {"-msglog", "2"}), (Sizes{0, 1, 2, 4}));
  CHECK_EQ(sizes("PingPong", {"-msglog", "3:4"}), (Sizes{0, 8, 16}));
  CHECK_EQ(sizes("PingPong", {"-msglog", "3:4", "-zero_size", "off"}), (Sizes{8, 16}));
  CHECK_EQ(sizes("Allreduce", {"-msglog", "3"}), (Sizes{0, 4, 8}));
  CHECK_EQ(sizes("Allreduce", {"-msglog", "1"}), (Sizes{0}));
  CHECK_EQ(sizes("Barrier", {"-msglog", "4"}), (Sizes{0}));
}

TEST(sizes_of_the_user_keep_order_and_length) {
  CHECK_EQ(sizes("Allreduce", {"-msgsize", "1024,7,0,8388608,7"}), (Sizes{1024, 8, 0, 8388608, 8}));
}

TEST(memory_of_buffers_is_named_by_the_words_of_imb) {
  const auto memory = [](const Words& words, const char* program) {
    const auto& all = with(words, program).options.memories;
    return all.empty() ? "" : all.front().name();
  };
  CHECK_EQ(memory({}, "IMB-MPI1-GPU"), "device");
  CHECK_EQ(memory({"-mem_alloc_type", "device"}, "IMB-MPI1-GPU"), "device");
  CHECK_EQ(memory({"-mem_alloc_type", "host"}, "IMB-MPI1-GPU"), "pinned");
  CHECK_EQ(memory({"-mem_alloc_type", "shared"}, "IMB-MPI1-GPU"), "managed");
  CHECK_EQ(memory({"-mem_alloc_type", "cpu"}, "IMB-MPI1-GPU"), "host");
  CHECK_EQ(memory({}, "IMB-RMA-GPU"), "device");
  CHECK_EQ(memory({}, "IMB-MPI1"), "");
  CHECK_EQ(refusal({"-mem_alloc_type", "managed"}, "IMB-MPI1-GPU"),
           "-mem_alloc_type: 'managed' is none of device, host, shared, cpu");
  CHECK(refusal({"-mem_alloc_type", "device"}, "IMB-RMA-GPU").starts_with("there is no option"));
  CHECK(refusal({"-mem_alloc_type", "device"}, "IMB-MPI1").starts_with("there is no option"));
}

TEST(ranks_of_gpu_programs_share_the_first_gpu) {
  CHECK(with({}, "IMB-MPI1-GPU").options.all_on_first_gpu);
  CHECK(with({}, "IMB-RMA-GPU").options.all_on_first_gpu);
  CHECK(!with({}).options.all_on_first_gpu);
}

TEST(every_option_is_in_the_help) {
  for (const auto& program : {"IMB-MPI1", "IMB-MPI1-GPU", "IMB-EXT", "IMB-IO", "IMB-RMA"}) {
    const Program& of = *find_program(program);
    const std::string help = help_text(of, "");
    for (const auto& row : engine_options(of)) {
      CHECK(help.find("  " + std::string(row.name) + ' ') != std::string::npos);
    }
  }
  CHECK(help_text(mpi1(), "iter").starts_with("  -iter "));
  CHECK(help_text(mpi1(), "-iter").starts_with("  -iter "));
}

TEST(ranks_in_groups_and_in_a_matrix) {
  Place place{.ranks = 2, .groups = 2, .world_ranks = 5, .multi = Multi::apart};
  const Case row{.card = &find_benchmark("MPI1", "PingPong")->card};
  CHECK_EQ(heading(row, place, false),
           "\n#----------------------------------------------------------------\n"
           "# Benchmarking Multi-PingPong \n"
           "# ( 2 groups of 2 processes each running simultaneous ) \n"
           "# Group  0:     0    1\n# \n# Group  1:     2    3\n# \n"
           "# ( 1 additional process waiting in MPI_Barrier)\n"
           "#----------------------------------------------------------------\n"
           "        Group       #bytes #repetitions      t[usec]   Mbytes/sec\n");
  place = {.ranks = 4, .groups = 1, .world_ranks = 6, .grid = {2, 3}};
  CHECK_EQ(heading(row, place, false),
           "\n#---------------------------------------------------\n# Benchmarking PingPong \n"
           "# #processes = 4; rank order (rowwise): \n#     0    2    4\n# \n#     1\n# \n"
           "# ( 2 additional processes waiting in MPI_Barrier)\n"
           "#---------------------------------------------------\n"
           "       #bytes #repetitions      t[usec]   Mbytes/sec\n");
}

TEST(fields_are_13_wide_and_never_glued) {
  CHECK_EQ(Line().count(4).value(1.234).rate(17.6).text(),
           "            4         1.23           18\n");
  CHECK_EQ(Line().count(1).value(12345678901234.0).text(), "            1 12345678901234.00\n");
}
