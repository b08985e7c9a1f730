// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/fabric/aggressors.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace mpigauge::fabric {

namespace {

constexpr int mebibyte = 1 << 20U;
constexpr int incast_bytes = 1 << 16U;
constexpr int most_open = 64;
constexpr auto nap = std::chrono::milliseconds(1);
// The first call of all connects ranks, and others may have a core during one.
constexpr unsigned calls_of_size = 3;
constexpr double shortest_s = 2.5e-3, of_full_network = 1.6;

using Bytes = std::vector<std::byte>;

class Sleep : public Load {
 public:
  void once(unsigned /*halvings*/) override { std::this_thread::sleep_for(nap); }
};

// Loads between several ranks, from and to memory of their own.
class Traffic : public Load {
 public:
  explicit Traffic(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)) {}

 protected:
  [[nodiscard]] std::size_t others() const { return static_cast<std::size_t>(ranks_ - 1); }
  static int halved(int number, unsigned halvings) { return std::max(number >> halvings, 1); }
  MPI_Comm comm_;
  int rank_, ranks_;
};

class Alltoall : public Traffic {
 public:
  explicit Alltoall(MPI_Comm comm)
      : Traffic(comm),
        each_(std::max(mebibyte / ranks_, 1)),
        out_(static_cast<std::size_t>(each_) * static_cast<std::size_t>(ranks_)),
        in_(out_.size()) {}
  void once(unsigned halvings) override {
    const int each = halved(each_, halvings);
    call(MPI_Alltoall(out_.data(), each, MPI_BYTE, in_.data(), each, MPI_BYTE, comm_));
  }
  [[nodiscard]] double bytes(unsigned halvings) const override {
    return static_cast<double>(halved(each_, halvings)) * ranks_ * (ranks_ - 1.0);
  }

 private:
  int each_;
  Bytes out_, in_;
};

// All send to rank 0, which has many receives open.
class Incast : public Traffic {
 public:
  explicit Incast(MPI_Comm comm)
      : Traffic(comm),
        open_(static_cast<int>(std::min<std::size_t>(others(), most_open))),
        data_(static_cast<std::size_t>(rank_ == 0 ? open_ : 1) * incast_bytes) {}
  void once(unsigned halvings) override {
    const int size = halved(incast_bytes, halvings);
    if (rank_ != 0) {
      call(MPI_Send(data_.data(), size, MPI_BYTE, 0, message_tag, comm_));
      return;
    }
    for (int from = 1; from < ranks_; from += open_) {
      take(from, std::min(open_, ranks_ - from), size);
    }
  }
  [[nodiscard]] double bytes(unsigned halvings) const override {
    return (ranks_ - 1.0) * halved(incast_bytes, halvings);
  }

 private:
  void take(int first, int count, int size) {
    std::array<MPI_Request, most_open> requests{};
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      call(MPI_Irecv(data_.data() + at * incast_bytes, size, MPI_BYTE, first + i, message_tag,
                     comm_, &requests.at(at)));
    }
    wait_all(count, requests.data());
  }
  int open_;
  Bytes data_;
};

// Each puts into the memory of the next but some, another one each time.
class Put : public Traffic {
 public:
  explicit Put(MPI_Comm comm) : Traffic(comm), out_(mebibyte), window_memory_(mebibyte) {
    call(MPI_Win_create(window_memory_.data(), mebibyte, 1, MPI_INFO_NULL, comm_, &window_));
    call(MPI_Win_fence(0, window_));
  }
  ~Put() override { MPI_Win_free(&window_); }
  Put(const Put&) = delete;
  Put& operator=(const Put&) = delete;
  void once(unsigned halvings) override {
    const int size = halved(mebibyte, halvings);
    distance_ = distance_ % (ranks_ - 1) + 1;
    call(MPI_Put(out_.data(), size, MPI_BYTE, (rank_ + distance_) % ranks_, 0, size, MPI_BYTE,
                 window_));
    call(MPI_Win_fence(0, window_));
  }
  [[nodiscard]] double bytes(unsigned halvings) const override {
    return static_cast<double>(ranks_) * halved(mebibyte, halvings);
  }

 private:
  Bytes out_, window_memory_;
  MPI_Win window_ = MPI_WIN_NULL;
  int distance_ = 0;
};

class Bcast : public Traffic {
 public:
  explicit Bcast(MPI_Comm comm) : Traffic(comm), data_(mebibyte) {}
  void once(unsigned halvings) override {
    call(MPI_Bcast(data_.data(), halved(mebibyte, halvings), MPI_BYTE, root_, comm_));
    root_ = (root_ + 1) % ranks_;
  }
  [[nodiscard]] double bytes(unsigned halvings) const override {
    return (ranks_ - 1.0) * halved(mebibyte, halvings);
  }

 private:
  Bytes data_;
  int root_ = 0;
};

class Allreduce : public Traffic {
 public:
  explicit Allreduce(MPI_Comm comm) : Traffic(comm), out_(count), in_(count) {}
  void once(unsigned halvings) override {
    const int part = halved(count, halvings);
    call(MPI_Allreduce(out_.data(), in_.data(), part, MPI_DOUBLE, MPI_SUM, comm_));
  }
  // At least, whatever the algorithm: each rank has to send and get nearly twice the vector.
  [[nodiscard]] double bytes(unsigned halvings) const override {
    return 2.0 * (ranks_ - 1.0) * halved(count, halvings) * sizeof(double);
  }

 private:
  static constexpr int count = mebibyte / 2;  // 4 MiB
  std::vector<double> out_, in_;
};

}  // namespace

void LoadSize::take(double seconds) {
  if (settled_) return;
  shortest_s_ = std::min(shortest_s_, seconds);
  if (++calls_ < calls_of_size) return;
  // Twice as much takes nearly twice as long: more bytes would be no more load.
  const bool is_full = of_half_s_ > 0 && shortest_s_ > of_full_network * of_half_s_;
  settled_ = halvings_ == 0 || (is_full && shortest_s_ >= shortest_s);
  if (settled_) return;
  of_half_s_ = shortest_s_;
  shortest_s_ = std::numeric_limits<double>::infinity();
  calls_ = 0;
  --halvings_;
}

std::unique_ptr<Load> load_of(Aggression aggression, MPI_Comm comm) {
  switch (aggression) {
    case Aggression::alltoall: return std::make_unique<Alltoall>(comm);
    case Aggression::incast: return std::make_unique<Incast>(comm);
    case Aggression::put: return std::make_unique<Put>(comm);
    case Aggression::bcast: return std::make_unique<Bcast>(comm);
    case Aggression::allreduce: return std::make_unique<Allreduce>(comm);
    case Aggression::none:
    case Aggression::sleep: break;
  }
  return std::make_unique<Sleep>();
}

}  // namespace mpigauge::fabric
