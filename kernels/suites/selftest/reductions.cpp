// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "core/benchmark.hpp"
#include "core/faults.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "SELFTEST",
    .name = "Reductions",
    .about = "Every data type with every operation: counts what the library reduces wrong.",
    .meet = Meet::each,
    .columns = Columns::collective,
    .untyped = true,
    .by_default = false,
};

using Bytes = std::vector<std::byte>;

Bytes filled(const DataType& type, const Op& op, int rank, std::size_t count) {
  Bytes values(count * type.bytes);
  type.fill(op.name, rank, 0, values.data(), count);
  return values;
}

std::size_t wrong_allreduce(const Run& run, const DataType& type, const Op& op, int count) {
  Bytes in = filled(type, op, run.rank(), static_cast<std::size_t>(count));
  Bytes out(in.size(), poison);
  call(MPI_Allreduce(in.data(), out.data(), count, type.mpi(), op.mpi(), run.comm()));
  return wrong_elements(type, reduced_period(type, op.name, run.ranks()), 0, out);
}

std::size_t wrong_reduce_local(const DataType& type, const Op& op, int count) {
  Bytes in = filled(type, op, 0, static_cast<std::size_t>(count));
  Bytes out = filled(type, op, 1, static_cast<std::size_t>(count));
  call(MPI_Reduce_local(in.data(), out.data(), count, type.mpi(), op.mpi()));
  return wrong_elements(type, reduced_period(type, op.name, 2), 0, out);
}

std::size_t wrong_of_all(const Run& run) {
  std::size_t wrong = 0;
  for (const auto& type : data_types()) {
    if (type.mpi() == MPI_DATATYPE_NULL) continue;  // an extension that not every library has
    const int count = static_cast<int>(run.bytes() / type.bytes);
    for (const auto name : type.ops) {
      if (!known_fault({.benchmark = card.name, .datatype = type.name, .op = name}).empty())
        continue;
      wrong += wrong_allreduce(run, type, *find_op(name), count);
      wrong += wrong_reduce_local(type, *find_op(name), count);
    }
  }
  return wrong;
}

void reductions(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  run.measure([&](Turn t) {
    call(MPI_Allreduce(out[t].data, in[t].data, out[t].small_count(), MPI_BYTE, MPI_BOR,
                       run.comm()));
  });
  run.expect(run.checking() ? wrong_of_all(run) : 0);
}

const Add added{card, reductions};

}  // namespace
}  // namespace mpigauge
