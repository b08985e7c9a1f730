// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/mix.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

std::string refusal(const std::string& text) {
  return check::thrown_by<std::invalid_argument>([&] { Mix::read(text); });
}

}  // namespace

TEST(a_mix_without_words_is_empty) {
  const Mix none;
  CHECK(none.empty() && none.order().empty());
  CHECK_EQ(option_text(none), "");
  CHECK_EQ(none.excuse(2), "nothing is there to replay; --profile names it");
}

TEST(a_mix_of_a_collective_and_messages) {
  const Mix mix = Mix::read("heat=3;0+1+2/2+0_1;5+7.5+0;bcast:100:1:0:3/posted:8:0:0:2:4:0-1+1-2;");
  CHECK_EQ(mix.name(), "heat");
  CHECK_EQ(mix.ranks(), 3);
  CHECK(mix.groups() == std::vector<MixedGroup>({{{0, 1, 2}}, {{2, 0}, {1}}}));
  CHECK(std::abs(mix.gaps_s().at(1) - 7.5e-6) < 1e-12);
  const auto& steps = mix.steps();
  CHECK_EQ(steps.size(), 2U);
  CHECK(steps[0].call == MixedCall::bcast && !steps[0].has_messages());
  CHECK(steps[0].bytes == 100 && steps[0].group == 1 && steps[0].times == 3);
  CHECK(steps[1].call == MixedCall::posted && steps[1].has_messages());
  CHECK(steps[1].window == 4 && steps[1].messages.size() == 2 && steps[1].messages[1].to == 2);
}

TEST(steps_are_spread_evenly_over_an_iteration) {
  const Mix mix = Mix::read("x=1;0;0;barrier:0:0:0:1/bcast:8:0:0:4;");
  CHECK(mix.order() == std::vector<std::size_t>({1, 1, 0, 1, 1}));
}

TEST(buffers_hold_the_largest_step) {
  const Mix gathered = Mix::read("x=3;0+1+2;0+0+0;allgather:100:0:0:1/bcast:200:0:0:1;");
  CHECK_EQ(gathered.most_sent(), 256U);  // whole cache lines
  CHECK_EQ(gathered.most_received(), 300U);
  const Mix spread = Mix::read("x=3;0+1+2;0+0+0;scatter:100:0:0:1;");
  CHECK_EQ(spread.most_sent(), 320U);
  const Mix sent = Mix::read("x=3;0+1+2;0+0+0;nonblocking:10:0:0:1:5:0-2+1-2+2-0;");
  CHECK_EQ(sent.most_received(), 100U);  // two to one rank, five of each
}

TEST(buffers_have_a_part_for_each_rank_where_the_call_has) {
  const auto received = [](std::string_view call) {
    return Mix::read("x=3;0+1+2;0+0+0;" + std::string(call) + ":64:0:0:1;").most_received() / 64;
  };
  const auto sent = [](std::string_view call) {
    return Mix::read("x=3;0+1+2;0+0+0;" + std::string(call) + ":64:0:0:1;").most_sent() / 64;
  };
  for (const std::string_view call : {"bcast", "reduce", "allreduce", "reduce_scatter", "scan"}) {
    CHECK_EQ(sent(call), 1U);
    CHECK_EQ(received(call), 1U);
  }
  for (const std::string_view call : {"gather", "gatherv", "allgather", "allgatherv"}) {
    CHECK_EQ(sent(call), 1U);
    CHECK_EQ(received(call), 3U);
  }
  for (const std::string_view call : {"scatter", "scatterv"}) {
    CHECK_EQ(sent(call), 3U);
    CHECK_EQ(received(call), 1U);
  }
  for (const std::string_view call : {"alltoall", "alltoallv"}) {
    CHECK_EQ(sent(call), 3U);
    CHECK_EQ(received(call), 3U);
  }
}

TEST(lateness_belongs_to_its_step) {
  const Mix mix = Mix::read("x=2;0+1;0+0;barrier:0:0:0:1/bcast:8:0:0:1;1:0+5_3+0");
  CHECK(mix.steps()[0].lateness.empty());
  CHECK_EQ(mix.steps()[1].lateness.size(), 2U);
  CHECK_EQ(mix.steps()[1].lateness[1][0], 3e-6);
}

TEST(as_many_ranks_as_the_program_had) {
  const Mix mix = Mix::read("heat=2;0+1;0+0;barrier:0:0:0:1;");
  CHECK_EQ(mix.excuse(2), "");
  CHECK_EQ(mix.excuse(3), "the profile heat is of 2 ranks");
}

TEST(what_is_no_mix_is_refused_with_the_reason) {
  CHECK_EQ(refusal("2;0+1"), "'2;0+1' has no name before its mix");
  CHECK_EQ(refusal("x=2;0+1"), "'x' is not of five parts with ; between");
  CHECK_EQ(refusal("x=0;0;0;barrier:0:0:0:1;"), "'x' has no ranks");
  CHECK_EQ(refusal("x=2;0+0;0+0;barrier:0:0:0:1;"), "'0+0' has a rank twice");
  CHECK_EQ(refusal("x=2;0+2;0+0;barrier:0:0:0:1;"), "'2' is not a number from 0 to 1");
  CHECK_EQ(refusal("x=2;0+1;0;barrier:0:0:0:1;"), "'0' has no time for each of 2 ranks");
  CHECK_EQ(refusal("x=2;0+1;0+0;sing:0:0:0:1;"), "'sing' is not a call that can be replayed");
  CHECK_EQ(refusal("x=2;0+1;0+0;barrier:0:0:0;"), "'barrier:0:0:0' is not a step of a mix");
  CHECK_EQ(refusal("x=2;0+1;0+0;barrier:0:1:0:1;"), "'1' is none of 1");
  CHECK_EQ(refusal("x=2;0_1;0+0;bcast:0:0:1:1;"), "'bcast:0:0:1:1' has a root of no rank");
  CHECK_EQ(refusal("x=2;0+1;0+0;bcast:0:0:2:1;"), "'2' is not a number from 0 to 1");
  CHECK_EQ(refusal("x=2;0+1;0+0;send:0:0:0:1:1:0;"), "'0' does not say from which rank to which");
  CHECK_EQ(refusal("x=3;0+1+2;0+0+0;send:0:0:0:1:1:0-1+0-2;"),
           "'send:0:0:0:1:1:0-1+0-2' has several messages of one rank");
  CHECK_EQ(refusal("x=2;0+1;0+0;barrier:0:0:0:1;1:0+5"), "'1' is none of 1");
  CHECK_EQ(refusal("x=2;0+1;0+0;barrier:0:0:0:1;0:5"), "'5' has no time for each of 2 ranks");
}
