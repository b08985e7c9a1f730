// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/nccl/connected.hpp"

#include <functional>
#include <memory>

#include "core/refused.hpp"

namespace mpigauge::on_nccl {

namespace {

// A connection of the ranks of a communicator, with a stream for their work.
class Connected {
 public:
  Connected(const gpu::Nccl& library, gpu::Connection connection)
      : library_(library), connection_(connection), stream_(gpu::driver()->make_stream()) {}
  ~Connected() {
    gpu::driver()->free_stream(stream_);
    library_.disconnect(connection_);
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;
  [[nodiscard]] gpu::Connection connection() const { return connection_; }
  [[nodiscard]] gpu::Stream stream() const { return stream_; }

 private:
  const gpu::Nccl& library_;
  gpu::Connection connection_;
  gpu::Stream stream_;
};

// The outcome of connecting, kept with the communicator, since a refusal takes as long each time.
struct Attempt {
  std::unique_ptr<Connected> connected;
  std::string refusal;  // the same on all ranks; empty: they are connected
};

int disconnect(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) {
  const std::unique_ptr<Attempt> ended(static_cast<Attempt*>(value));
  return MPI_SUCCESS;
}

// A duplicate of a communicator connects by itself. MPI_COMM_NULL_COPY_FN, which does the same, is
// a symbol of its own in some libraries.
int copy_nothing(MPI_Comm /*from*/, int /*key*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                 int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

int key_of_attempt() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    call(MPI_Comm_create_keyval(copy_nothing, disconnect, &made, nullptr));
    return made;
  }();
  return key;
}

// Runs a step on every rank, and returns why it failed on the first that did, so that no rank waits
// for another in the next; empty: it succeeded on all.
std::string failure_of(const Run& run, const std::function<void()>& step) {
  std::string why;
  try {
    step();
  } catch (const gpu::Error& error) {
    why = error.what();
  }
  return first_text(why, run.comm());
}

std::unique_ptr<Attempt> connect(const Run& run) {
  auto attempt = std::make_unique<Attempt>();
  gpu::Nccl::Id id{};
  attempt->refusal = failure_of(run, [&] {
    const gpu::Nccl& library = gpu::nccl();
    if (run.rank() == 0) id = library.make_id();
  });
  if (!attempt->refusal.empty()) return attempt;
  call(MPI_Bcast(id.data(), static_cast<int>(id.size()), MPI_CHAR, 0, run.comm()));
  attempt->refusal = failure_of(run, [&] {
    const gpu::Nccl& library = gpu::nccl();
    attempt->connected =
        std::make_unique<Connected>(library, library.connect(id, run.ranks(), run.rank()));
  });
  return attempt;
}

// Throws Refused on all ranks alike.
const Connected& connected_of(const Run& run) {
  void* value = nullptr;
  int is_set = 0;
  call(MPI_Comm_get_attr(run.comm(), key_of_attempt(), &value, &is_set));
  if (is_set == 0) {
    value = connect(run).release();
    call(MPI_Comm_set_attr(run.comm(), key_of_attempt(), value));
  }
  const auto& attempt = *static_cast<const Attempt*>(value);
  if (!attempt.refusal.empty()) throw Refused(attempt.refusal);
  return *attempt.connected;
}

}  // namespace

Call prepare(Run& run) {
  const Connected& connected = connected_of(run);
  const Block out = run.send_block(), in = run.recv_block();
  const auto name = out.type().name;
  const auto* const type = gpu::find_nccl_type(name);
  if (type == nullptr) throw Refused("NCCL has no data type " + std::string(name));
  const bool reduces = run.reduces();
  const auto* const op = reduces ? gpu::find_nccl_op(run.op_name()) : nullptr;
  if (reduces && op == nullptr) {
    throw Refused("NCCL has no operation " + std::string(run.op_name()));
  }
  return {.library = &gpu::nccl(),
          .connection = connected.connection(),
          .stream = connected.stream(),
          .count = {.count = run.elements(), .type = *type, .bytes = run.bytes()},
          .op = op != nullptr ? *op : gpu::NcclOp{},
          .rank = run.rank(),
          .ranks = run.ranks(),
          .out = out,
          .in = in};
}

// Rows are of cells that ran, so the library is open.
std::string words_of_library(const Shape& /*any*/) { return "NCCL " + gpu::nccl().version(); }

}  // namespace mpigauge::on_nccl
