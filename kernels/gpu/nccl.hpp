// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// NCCL, opened at run time: collectives of NVIDIA GPUs, which MPI only brings together. Its
// functions and types are declared here as far as they are used; their ABI has been stable since
// NCCL 2.7.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "gpu/driver.hpp"

namespace mpigauge::gpu {

/// A communicator of NCCL.
using Connection = void*;

/// Data types and operations by the library's numbers.
enum class NcclType : int {};
enum class NcclOp : int {};
/// Names as the options of the kernels have them; null: the library has none of that name.
const NcclType* find_nccl_type(std::string_view name);
const NcclOp* find_nccl_op(std::string_view name);

/// Elements of one type.
struct NcclCount {
  std::size_t count = 0;
  NcclType type{};
  std::size_t bytes = 0;  ///< of all of them
};

class Nccl {
 public:
  /// By which one rank invites the others; travels as bytes.
  using Id = std::array<char, 128>;

  /// Throws Error: it cannot be opened, is no NCCL, or is too old.
  explicit Nccl(const std::string& file);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Its version: 2.28.3.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Whether AlltoAll is a call of its own, rather than a group of sends and receives.
  [[nodiscard]] bool has_all_to_all() const;

  // These throw Error with the library's own words.
  [[nodiscard]] Id make_id() const;
  /// Joins ranks on their current GPUs; all of them together.
  [[nodiscard]] Connection connect(const Id& id, int ranks, int rank) const;
  void disconnect(Connection connection) const noexcept;
  /// Reports what went wrong behind the calls.
  void check_background(Connection connection) const;

  // Each of these only enqueues its work on the stream.
  void all_reduce(const void* send, void* recv, const NcclCount& n, NcclOp op, Connection to,
                  Stream on) const;
  void reduce(const void* send, void* recv, const NcclCount& n, NcclOp op, int root, Connection to,
              Stream on) const;
  void broadcast(const void* send, void* recv, const NcclCount& n, int root, Connection to,
                 Stream on) const;
  void all_gather(const void* send, void* recv, const NcclCount& n, Connection to, Stream on) const;
  void reduce_scatter(const void* send, void* recv, const NcclCount& n, NcclOp op, Connection to,
                      Stream on) const;
  void all_to_all(const void* send, void* recv, const NcclCount& n, int ranks, Connection to,
                  Stream on) const;
  /// Sends to the right and receives from the left, at once.
  void send_and_receive(const void* send, void* recv, const NcclCount& n, int right, int left,
                        Connection to, Stream on) const;

 private:
  struct Calls;
  void check(int result, const char* call) const;

  std::unique_ptr<Calls> calls_;
  std::string version_;
};

/// 2.28.3 of 22803, 2.7.8 of 2708.
std::string nccl_version_of(int code);

/// The word before the file in the options of a kernel that only opens NCCL and prints its version.
inline constexpr const char* try_nccl_word = "--try-nccl";
/// Prints `version=` or `problem=`, and returns the exit status: 0 or 2.
int try_nccl(const std::string& file);

/// Names the library that nccl() opens.
void name_nccl(const std::string& file);
/// The library of this process, opened at the first call. Throws Error.
const Nccl& nccl();

}  // namespace mpigauge::gpu
