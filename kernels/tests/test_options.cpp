// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <map>
#include <sstream>

#include "driver/options.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

Options with(std::vector<std::string> words) {
  words.insert(words.begin(), {"--benchmarks", "PingPong"});
  return read_options(words);
}

std::string refusal(const std::vector<std::string>& words) {
  return check::thrown_by<UsageError>([&] { read_options(words); });
}

std::string refusal_of(const std::string& name, const std::string& value) {
  return check::thrown_by<UsageError>([&] { with({name, value}); });
}

using Judge = bool (*)(const Options&);
struct Good {
  std::string value;
  Judge judge;
};

// One good value per option; the last test below sees that none is forgotten.
const std::map<std::string, Good>& good_values() {
  using O = const Options&;
  static const std::map<std::string, Good> table{
      {"benchmarks", {"bcast,PINGPONG", [](O o) { return o.benchmarks.size() == 2; }}},
      {"ranks", {"2,4", [](O o) { return o.ranks == std::vector{2, 4}; }}},
      {"npmin", {"3", [](O o) { return o.npmin == 3; }}},
      {"pairs", {"ring", [](O o) { return o.pairs && o.multi == Multi::apart; }}},
      {"arms",
       {"~|A=1 B=x~A=1;B=x|again~",
        [](O o) {
          const auto& arms = o.arms;
          return arms.size() == 3 && arms[0].name.empty() && arms[0].settings.empty() &&
                 arms[1].name == "A=1 B=x" && arms[1].settings.size() == 2 &&
                 arms[1].settings[1].first == "B" && arms[1].settings[1].second == "x" &&
                 arms[2].name == "again" && arms[2].settings.empty();
        }}},
      {"multi", {"1", [](O o) { return o.multi == Multi::apart; }}},
      {"map", {"3x2", [](O o) { return o.grid.rows == 3 && o.grid.columns == 2; }}},
      {"sizes",
       {"0,8,4294967304",
        [](O o) { return o.sizes == std::vector<std::size_t>{0, 8, 4294967304}; }}},
      {"mode", {"classic", [](O o) { return o.classic; }}},
      {"precision", {"0.02", [](O o) { return o.precision == 0.02; }}},
      {"seconds", {"1.5", [](O o) { return o.seconds == 1.5; }}},
      {"cell-seconds", {"2.5", [](O o) { return o.cell_seconds == 2.5; }}},
      {"use-all", {"1", [](O o) { return o.use_all; }}},
      {"seed", {"18446744073709551615", [](O o) { return o.seed == ~std::uint64_t{0}; }}},
      {"detours",
       {"0.1:0.0002:1.2e-05*12,0.000152*1",
        [](O o) { return o.detours && o.detours->lost_ratio() == 0.002; }}},
      {"launch", {"7", [](O o) { return o.launch == 7; }}},
      {"datatype", {"double", [](O o) { return o.datatype == "double"; }}},
      {"op", {"max", [](O o) { return o.op == "max"; }}},
      {"root-shift", {"1", [](O o) { return o.root_shift; }}},
      {"inflight", {"64", [](O o) { return o.inflight == 64; }}},
      {"repetitions", {"20", [](O o) { return o.repetitions == 20; }}},
      {"layout", {"resize", [](O o) { return o.suite.contiguity == Contiguity::resize; }}},
      {"test-every", {"0.5", [](O o) { return o.suite.test_every_us == 0.5; }}},
      {"arrival",
       {"together,late:1:50,profile:x=0+5/1+0",
        [](O o) {
          return o.combinations.size() == 3 && o.combinations.at(0).arrival.is_together() &&
                 o.combinations.at(1).arrival.name() == "late:1:50us" &&
                 o.combinations.at(2).arrival.name() == "profile:x";
        }}},
      {"profile",
       {"x=2;0+1;0+0;barrier:0:0:0:1;", [](O o) { return o.suite.profile.name() == "x"; }}},
      {"root", {"3", [](O o) { return o.suite.root == 3; }}},
      {"partitions", {"8", [](O o) { return o.suite.partitions == 8; }}},
      {"dir",
       {"/a,/b", [](O o) { return o.suite.directories == std::vector<std::string>{"/a", "/b"}; }}},
      {"io-cache", {"drop", [](O o) { return o.suite.io_cache == IoCache::drop; }}},
      {"threads", {"4,2", [](O o) { return o.suite.threads == 4 && o.combinations.size() == 2; }}},
      {"thread-order",
       {"compact,0:2+3", [](O o) { return o.combinations.at(1).thread_order == "0:2+3"; }}},
      {"memory-on",
       {"local,0+1",
        [](O o) { return o.combinations.size() == 2 && o.combinations.at(1).memory_on == "0+1"; }}},
      {"blas",
       {"mine=/lib/libmine.so", [](O o) { return o.suite.blas == "mine=/lib/libmine.so"; }}},
      {"compiler",
       {"ours,g++=/l.so",
        [](O o) {
          return o.combinations.at(0).compiler.empty() &&
                 o.combinations.at(1).compiler == "g++=/l.so";
        }}},
      {"thread-level",
       {"multiple", [](O o) { return o.suite.thread_level == ThreadLevel::multiple; }}},
      {"thread-memory",
       {"continuous", [](O o) { return o.suite.thread_memory == ThreadMemory::continuous; }}},
      {"group-ranks", {"4", [](O o) { return o.suite.group_ranks == 4; }}},
      {"host-ranks", {"2", [](O o) { return o.suite.host_ranks == 2; }}},
      {"host-order", {"1,0", [](O o) { return o.suite.host_order == std::vector{1, 0}; }}},
      {"aggressors", {"25", [](O o) { return o.suite.aggressors == 25; }}},
      {"stride", {"3", [](O o) { return o.suite.stride == 3; }}},
      {"touch-send", {"0", [](O o) { return !o.suite.touch_send; }}},
      {"touch-recv", {"0", [](O o) { return !o.suite.touch_recv; }}},
      {"topo", {"2x3", [](O o) { return o.suite.topo == std::vector{2, 3}; }}},
      {"cache", {"cold", [](O o) { return o.cache == Cache::cold; }}},
      {"cache-bytes", {"1048576", [](O o) { return o.cache_bytes == 1U << 20U; }}},
      {"by-clock", {"MPI1:Bcast/4/65536", [](O o) { return o.by_clock->size() == 1; }}},
      {"sync", {"clock", [](O o) { return o.sync == SyncMethod::clock; }}},
      {"data", {"fresh", [](O o) { return o.data == Data::fresh; }}},
      {"insist", {"Bcast", [](O o) { return o.insist == std::vector<std::string>{"Bcast"}; }}},
      {"bind",
       {"0+4,1-2", [](O o) { return o.bind == std::vector<platform::CpuSet>{{0, 4}, {1, 2}}; }}},
      {"memory-limit", {"1000000000000", [](O o) { return o.memory_limit == 1000000000000; }}},
      {"memory",
       {"device,device:host",
        [](O o) {
          return o.memories.size() == 2 && o.memories.at(0).name() == "device" &&
                 o.memories.at(1).name() == "device>host";
        }}},
      {"gpus", {"0000:19:00.0,0000:3b:00.0", [](O o) { return o.gpus.at(1) == "0000:3b:00.0"; }}},
      {"leave-out",
       {"Allreduce~device~not aware|Bcast~managed~too",
        [](O o) {
          return o.left_out.size() == 2 && o.left_out.at(0).memories.name() == "device" &&
                 o.left_out.at(1).benchmark == "Bcast" && o.left_out.at(1).reason == "too";
        }}},
      {"nccl", {"/opt/libnccl.so.2", [](O o) { return o.nccl == "/opt/libnccl.so.2"; }}},
      {"cuda", {"/opt/libcuda.so.1", [](O o) { return o.cuda == "/opt/libcuda.so.1"; }}},
      {"stop-file", {"/tmp/a b", [](O o) { return o.stop_file == "/tmp/a b"; }}},
      {"records", {"/tmp/r", [](O o) { return o.records == "/tmp/r"; }}},
  };
  return table;
}

}  // namespace

TEST(defaults) {
  const Options o = with({});
  CHECK(o.ranks.empty() && o.npmin == 2 && o.multi == Multi::off && !o.sizes.has_value());
  CHECK(!o.classic && o.precision == 0.05 && o.seconds == 0 && !o.use_all);
  CHECK(o.cache == Cache::hot && o.sync == SyncMethod::barrier && o.bind.empty() &&
        o.inflight == 256);
  CHECK_EQ(o.records, "-");
}

TEST(every_option_is_understood) {
  for (const auto& [name, good] : good_values()) {
    const Options options = with({"--" + name, good.value});
    CHECK(good.judge(options));
  }
}

TEST(help_and_this_test_know_every_option) {
  std::istringstream help(options_help());
  std::size_t listed = 0;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    ++listed;
    CHECK(good_values().count(line.substr(4, line.find(' ', 4) - 4)) == 1);
  }
  CHECK_EQ(listed, good_values().size());
}

TEST(the_last_of_two_values_wins) { CHECK_EQ(with({"--npmin", "3", "--npmin", "4"}).npmin, 4); }

TEST(no_cores_means_no_binding) { CHECK(with({"--bind", ""}).bind.empty()); }

TEST(what_is_measured_in_turn_is_measured_with_each_other) {
  const Options o = with({"--threads", "1,2", "--thread-order", "compact,scatter"});
  std::string all;
  for (const auto& way : o.combinations)
    all += std::to_string(way.threads) + way.thread_order + ' ';
  CHECK_EQ(all, "1compact 2compact 1scatter 2scatter ");
  CHECK_EQ(with({}).combinations.size(), 1U);
}

TEST(static_data_unless_others_are_asked_for) {
  CHECK(with({}).data == Data::unchanged);
  CHECK(with({"--data", "both"}).data == Data::both);
}

TEST(the_classic_schedule_has_static_data) {
  CHECK(with({"--mode", "classic", "--data", "static"}).classic);
  bool refused = false;
  try {
    with({"--mode", "classic", "--data", "both"});
  } catch (const UsageError&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(bad_values_get_one_clear_sentence) {
  const std::vector<std::array<std::string, 3>> table{
      {"--benchmarks", "PingPogn", "no benchmark is called 'PingPogn'"},
      {"--ranks", "2,x", "'x' is not a number"},
      {"--detours", "0.1:0", "'0.1:0' is not SECONDS:LOST:LENGTHS"},
      {"--detours", "0.1:0:1e-6", "'1e-6' is not LENGTH*TIMES"},
      {"--detours", "0.1:x:", "'x' is not a number from 0 to 1000000"},
      {"--arms", "A=1", "'A=1' is not of the form NAME~SETTINGS"},
      {"--arms", "a~A", "'A' is not of the form NAME=VALUE"},
      {"--arms", "a~A=1|", "'' is not of the form NAME~SETTINGS"},
      {"--pairs", "0-1-2", "'0-1-2' is not a pair of ranks, as 0-1 is one"},
      {"--ranks", "0", "'0' is out of range"},
      {"--ranks", "-2", "'-2' is out of range"},
      {"--npmin", "99999999999", "'99999999999' is not a number"},
      {"--multi", "2", "'2' is none of 0, 1"},
      {"--map", "3", "'3' is not of the form PxQ"},
      {"--map", "3x", "'' is not a number"},
      {"--map", "0x2", "'0' is out of range"},
      {"--sizes", "-1", "'-1' is not a number"},
      {"--sizes", "1k", "'1k' is not a number"},
      {"--sizes", "1,,2", "'' is not a number"},
      {"--sizes", "1,", "'' is not a number"},
      {"--sizes", "", "'' is not a number"},
      {"--sizes", "999999999999999999", "'999999999999999999' is out of range"},
      {"--mode", "clasic", "'clasic' is none of adaptive, classic"},
      {"--precision", "0", "'0' is out of range"},
      {"--precision", "nan", "'nan' is out of range"},
      {"--precision", "5%", "'5%' is not a number"},
      {"--seconds", "-1", "'-1' is out of range"},
      {"--seconds", "inf", "'inf' is out of range"},
      {"--seconds", "nan", "'nan' is out of range"},
      {"--seed", "-1", "'-1' is not a number"},
      {"--launch", "1.5", "'1.5' is not a number"},
      {"--datatype", "quad", "no data type is called 'quad'"},
      {"--op", "avg", "no operation is called 'avg'"},
      {"--root-shift", "yes", "'yes' is not a number"},
      {"--root", "-1", "'-1' is out of range"},
      {"--inflight", "0", "'0' is out of range"},
      {"--threads", "0", "'0' is out of range"},
      {"--thread-level", "many", "'many' is none of single, funneled, serialized, multiple"},
      {"--thread-memory", "own", "'own' is none of parallel, serial, continuous"},
      {"--stride", "-1", "'-1' is out of range"},
      {"--touch-send", "yes", "'yes' is not a number"},
      {"--touch-recv", "2", "'2' is out of range"},
      {"--topo", "2x", "'' is not a number"},
      {"--topo", "0x2", "'0' is out of range"},
      {"--cache", "warm", "'warm' is none of hot, cold, both"},
      {"--cache-bytes", "0", "'0' is out of range"},
      {"--sync", "none", "'none' is none of auto, barrier, dissemination, clock"},
      {"--data", "new", "'new' is none of static, fresh, both"},
      {"--insist", "Bcats", "no benchmark is called 'Bcats'"},
      {"--bind", "0,x", "'x' is not a list of cores"},
      {"--bind", "0,,1", "'' is not a list of cores"},
      {"--memory-limit", "1G", "'1G' is not a number"},
      {"--memory", "gpu", "'gpu' is not host, pinned, device or managed"},
      {"--memory", "device:", "'' is not host, pinned, device or managed"},
      {"--memory", "device:host:pinned", "'host:pinned' is not host, pinned, device or managed"},
  };
  for (const auto& [name, value, said] : table) {
    std::string expected = name;
    expected.append(": ").append(said);
    CHECK_EQ(refusal_of(name, value), expected);
  }
}

TEST(words_that_are_no_option) {
  CHECK_EQ(refusal({"--benchmark", "Bcast"}), "there is no option --benchmark");
  CHECK_EQ(refusal({"Bcast"}), "there is no option Bcast");
  CHECK_EQ(refusal({"--benchmarks"}), "--benchmarks needs a value");
  CHECK_EQ(refusal({}), "--benchmarks is missing");
  CHECK_EQ(refusal({"--benchmarks", ""}), "--benchmarks is missing");
}

TEST(an_operation_that_a_type_has_not) {
  const auto refused = [](const std::string& type, const std::string& op) {
    return refusal({"--benchmarks", "PingPong,Allreduce", "--datatype", type, "--op", op});
  };
  CHECK_EQ(refused("float", "band"), "data type float has no operation band");
  CHECK_EQ(refused("2int", "sum"), "data type 2int has no operation sum");
  CHECK_EQ(refused("2int", "maxloc"), "");
  // Transfers reduce nothing.
  CHECK_EQ(refusal({"--benchmarks", "PingPong", "--datatype", "float", "--op", "band"}), "");
}

TEST(a_root_stays_or_moves) {
  CHECK_EQ(with({"--root-shift", "1", "--root", "0"}).suite.root, 0);
  CHECK_EQ(refusal({"--benchmarks", "Bcast", "--root-shift", "1", "--root", "2"}),
           "--root: with --root-shift every rank is the root in turn");
}

TEST(threads_need_the_highest_level) {
  const auto level = [](const std::vector<std::string>& words) {
    return wanted_thread_level(read_options(words));
  };
  CHECK(level({"--benchmarks", "PingPong", "--threads", "2"}) == ThreadLevel::single);
  CHECK(level({"--benchmarks", "PingPongMT", "--threads", "1"}) == ThreadLevel::single);
  CHECK(level({"--benchmarks", "PingPongMT", "--threads", "2"}) == ThreadLevel::multiple);
  CHECK(level({"--benchmarks", "PingPong", "--thread-level", "funneled"}) == ThreadLevel::funneled);
  CHECK_EQ(refusal({"--benchmarks", "BcastMT", "--threads", "2", "--thread-level", "serialized"}),
           "--threads 2 needs --thread-level multiple");
  // These threads call no MPI.
  CHECK(level({"--benchmarks", "NODE:Copy", "--threads", "2"}) == ThreadLevel::funneled);
  CHECK_EQ(refusal({"--benchmarks", "NODE:Copy", "--threads", "2", "--thread-level", "single"}),
           "--threads 2 needs --thread-level funneled");
}
