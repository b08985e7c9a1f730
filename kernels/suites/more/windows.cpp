// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/window.hpp"

namespace mpigauge {
namespace {

constexpr Card create_card{
    .suite = "MORE",
    .name = "Win_create",
    .about = "Makes a window over memory that is there, and frees it.",
    .place = 60,
    .meet = Meet::each,
    .columns = Columns::collective,
    .seldom = true,
    .keeps_data = "it sends no data",
    .untyped = true,
};

constexpr Card allocate_card = [] {
  Card card = create_card;
  card.name = "Win_allocate";
  card.about = "Makes a window with new memory, and frees both.";
  card.place = 70;
  card.needs = {"MPI_Win_allocate"};
  return card;
}();

struct Made {
  MPI_Win window = MPI_WIN_NULL;
  std::byte* base = nullptr;
};

// Reads what the right neighbour shows.
void read_from_right(const Run& run, const Made& made, const Block& in) {
  const int right = (run.rank() + 1) % run.ranks();
  fill_bytes(run.rank(), 0, {made.base, run.bytes()});
  call(MPI_Win_fence(MPI_MODE_NOPRECEDE, made.window));
  transfer<Way::get>(in[Turn{}], right, 0, made.window);
  call(MPI_Win_fence(MPI_MODE_NOSUCCEED, made.window));
}

template <class Make>
void make_and_free(Run& run, Make make) {
  const Block in = run.recv_block();
  run.measure([=](Turn t) {
    Made made = make(t);
    call(MPI_Win_free(&made.window));
  });
  if (!run.checking()) return run.expect(0);
  Made made = make(Turn{});
  read_from_right(run, made, in);
  call(MPI_Win_free(&made.window));
  run.expect(run.wrong(in.bytes(), (run.rank() + 1) % run.ranks(), 0));
}

void create(Run& run) {
  const Block out = run.send_block();
  make_and_free(run, [out, bytes = static_cast<MPI_Aint>(run.bytes()), comm = run.comm()](Turn t) {
    Made made{.base = static_cast<std::byte*>(out[t].data)};
    call(MPI_Win_create(made.base, bytes, 1, MPI_INFO_NULL, comm, &made.window));
    return made;
  });
}

void allocate(Run& run) {
  const auto win_allocate = rma_calls().win_allocate;
  make_and_free(run, [=, bytes = static_cast<MPI_Aint>(run.bytes()), comm = run.comm()](Turn) {
    Made made;
    call(win_allocate(bytes, 1, MPI_INFO_NULL, comm, &made.base, &made.window));
    return made;
  });
}

const Add create_added{create_card, create};
const Add allocate_added{allocate_card, allocate};

}  // namespace
}  // namespace mpigauge
