// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Barrier",
        .about = "Nobody goes on before everybody has come; barriers follow each other.",
        .place = 190,
        .unit = Unit::none,
        .send = nothing,
        .recv = nothing,
    },
    linked<MPI_Barrier>,
    [](const Args& a) { return std::tuple(a.comm); },
    [](const Run&, const Block&) -> std::size_t { return 0; },
    OtherForms{.place = 130, .on_threads = {"BarrierMT", 70}},
};

}  // namespace
}  // namespace mpigauge
