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

using Bytes = std::vector<std::byte>;

class Sleep : public Load {
 public:
  void once() override { std::this_thread::sleep_for(nap); }
};

// Loads between several ranks, from and to memory of their own.
class Traffic : public Load {
 public:
  explicit Traffic(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)) {}

 protected:
  [[nodiscard]] std::size_t others() const { return static_cast<std::size_t>(ranks_ - 1); }
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
  void once() override {
    call(MPI_Alltoall(out_.data(), each_, MPI_BYTE, in_.data(), each_, MPI_BYTE, comm_));
  }
  [[nodiscard]] double bytes() const override {
    return static_cast<double>(each_) * ranks_ * (ranks_ - 1.0);
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
  void once() override {
    if (rank_ != 0) {
      call(MPI_Send(data_.data(), incast_bytes, MPI_BYTE, 0, message_tag, comm_));
      return;
    }
    for (int from = 1; from < ranks_; from += open_) take(from, std::min(open_, ranks_ - from));
  }
  [[nodiscard]] double bytes() const override { return (ranks_ - 1.0) * incast_bytes; }

 private:
  void take(int first, int count) {
    std::array<MPI_Request, most_open> requests{};
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      call(MPI_Irecv(data_.data() + at * incast_bytes, incast_bytes, MPI_BYTE, first + i,
                     message_tag, comm_, &requests.at(at)));
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
  void once() override {
    distance_ = distance_ % (ranks_ - 1) + 1;
    call(MPI_Put(out_.data(), mebibyte, MPI_BYTE, (rank_ + distance_) % ranks_, 0, mebibyte,
                 MPI_BYTE, window_));
    call(MPI_Win_fence(0, window_));
  }
  [[nodiscard]] double bytes() const override { return static_cast<double>(ranks_) * mebibyte; }

 private:
  Bytes out_, window_memory_;
  MPI_Win window_ = MPI_WIN_NULL;
  int distance_ = 0;
};

class Bcast : public Traffic {
 public:
  explicit Bcast(MPI_Comm comm) : Traffic(comm), data_(mebibyte) {}
  void once() override {
    call(MPI_Bcast(data_.data(), mebibyte, MPI_BYTE, root_, comm_));
    root_ = (root_ + 1) % ranks_;
  }
  [[nodiscard]] double bytes() const override { return (ranks_ - 1.0) * mebibyte; }

 private:
  Bytes data_;
  int root_ = 0;
};

class Allreduce : public Traffic {
 public:
  explicit Allreduce(MPI_Comm comm) : Traffic(comm), out_(count), in_(count) {}
  void once() override {
    call(MPI_Allreduce(out_.data(), in_.data(), count, MPI_DOUBLE, MPI_SUM, comm_));
  }
  // At least, whatever the algorithm: each rank has to send and get nearly twice the vector.
  [[nodiscard]] double bytes() const override {
    return 2.0 * (ranks_ - 1.0) * count * sizeof(double);
  }

 private:
  static constexpr int count = mebibyte / 2;  // 4 MiB
  std::vector<double> out_, in_;
};

}  // namespace

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
