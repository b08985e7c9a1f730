// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "gpu/nccl.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace mpigauge::gpu {

namespace {

constexpr int success = 0;
constexpr int oldest_version = 2708;  // the first with ncclSend and ncclRecv that are stable
constexpr NcclType bytes_type{1};

template <class Value, std::size_t rows>
using Names = std::array<std::pair<std::string_view, Value>, rows>;

constexpr Names<NcclType, 13> types{{{"byte", bytes_type},
                                     {"char", NcclType{0}},
                                     {"int8", NcclType{0}},
                                     {"uint8", NcclType{1}},
                                     {"int", NcclType{2}},
                                     {"int32", NcclType{2}},
                                     {"uint32", NcclType{3}},
                                     {"int64", NcclType{4}},
                                     {"uint64", NcclType{5}},
                                     {"float16", NcclType{6}},
                                     {"float", NcclType{7}},
                                     {"double", NcclType{8}},
                                     {"bfloat16", NcclType{9}}}};
constexpr Names<NcclOp, 4> ops{
    {{"sum", NcclOp{0}}, {"prod", NcclOp{1}}, {"max", NcclOp{2}}, {"min", NcclOp{3}}}};

template <class Table>
auto find_in(const Table& table, std::string_view name) -> decltype(&table.front().second) {
  const auto at = std::find_if(table.begin(), table.end(),
                               [&](const auto& row) { return !name.empty() && row.first == name; });
  return at == table.end() ? nullptr : &at->second;
}

}  // namespace

const NcclType* find_nccl_type(std::string_view name) { return find_in(types, name); }
const NcclOp* find_nccl_op(std::string_view name) { return find_in(ops, name); }

// Of the library's structs by value only the identity is one; it is 128 bytes in every version.
struct Nccl::Calls {
  void* library = nullptr;
  int (*version)(int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*make_id)(Id*) = nullptr;
  int (*connect)(Connection*, int, Id, int) = nullptr;
  int (*disconnect)(Connection) = nullptr;
  int (*background)(Connection, int*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Connection, Stream) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, Connection, Stream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Connection, Stream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Connection, Stream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Connection, Stream) = nullptr;
  int (*send)(const void*, std::size_t, int, int, Connection, Stream) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Connection, Stream) = nullptr;
  int (*begin_group)() = nullptr;
  int (*end_group)() = nullptr;
  // Newer: null where the library has it not.
  int (*all_to_all)(const void*, void*, std::size_t, int, Connection, Stream) = nullptr;
  const char* (*last_error)(Connection) = nullptr;

  template <class Function>
  void find(Function& function, const char* symbol) const {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
  }
  template <class Function>
  void need(Function& function, const char* symbol, const std::string& file) const {
    find(function, symbol);
    if (function == nullptr) throw Error(file + " is not NCCL: it has no " + symbol);
  }
};

Nccl::Nccl(const std::string& file) : calls_(std::make_unique<Calls>()) {
  Calls& c = *calls_;
  c.library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (c.library == nullptr) {
    const char* const why = dlerror();
    throw Error("cannot open NCCL: " + std::string(why != nullptr ? why : file));
  }
  c.need(c.version, "ncclGetVersion", file);
  int code = 0;
  c.need(c.error_text, "ncclGetErrorString", file);
  check(c.version(&code), "ncclGetVersion");
  version_ = nccl_version_of(code);
  if (code < oldest_version) {
    throw Error(file + " is NCCL " + version_ + ", and " + nccl_version_of(oldest_version) +
                " is the oldest that will do");
  }
  c.need(c.make_id, "ncclGetUniqueId", file);
  c.need(c.connect, "ncclCommInitRank", file);
  c.need(c.disconnect, "ncclCommDestroy", file);
  c.need(c.background, "ncclCommGetAsyncError", file);
  c.need(c.all_reduce, "ncclAllReduce", file);
  c.need(c.reduce, "ncclReduce", file);
  c.need(c.broadcast, "ncclBroadcast", file);
  c.need(c.all_gather, "ncclAllGather", file);
  c.need(c.reduce_scatter, "ncclReduceScatter", file);
  c.need(c.send, "ncclSend", file);
  c.need(c.receive, "ncclRecv", file);
  c.need(c.begin_group, "ncclGroupStart", file);
  c.need(c.end_group, "ncclGroupEnd", file);
  c.find(c.all_to_all, "ncclAlltoAll");
  c.find(c.last_error, "ncclGetLastError");
}

Nccl::~Nccl() = default;

bool Nccl::has_all_to_all() const { return calls_->all_to_all != nullptr; }

// Its last error says what happened, its text only of which kind that is.
void Nccl::check(int result, const char* call) const {
  if (result == success) [[likely]]
    return;
  const char* const last = calls_->last_error != nullptr ? calls_->last_error(nullptr) : nullptr;
  const bool is_told = last != nullptr && *last != '\0';
  throw Error("NCCL " + version_ + ": " + call + ": " +
              (is_told ? last : calls_->error_text(result)));
}

Nccl::Id Nccl::make_id() const {
  Id id{};
  check(calls_->make_id(&id), "ncclGetUniqueId");
  return id;
}

Connection Nccl::connect(const Id& id, int ranks, int rank) const {
  Connection connection = nullptr;
  check(calls_->connect(&connection, ranks, id, rank), "ncclCommInitRank");
  return connection;
}

void Nccl::disconnect(Connection connection) const noexcept { calls_->disconnect(connection); }

void Nccl::check_background(Connection connection) const {
  int result = success;
  check(calls_->background(connection, &result), "ncclCommGetAsyncError");
  check(result, "after a call");
}

void Nccl::all_reduce(const void* send, void* recv, const NcclCount& n, NcclOp op, Connection to,
                      Stream on) const {
  check(calls_->all_reduce(send, recv, n.count, static_cast<int>(n.type), static_cast<int>(op), to,
                           on),
        "ncclAllReduce");
}

void Nccl::reduce(const void* send, void* recv, const NcclCount& n, NcclOp op, int root,
                  Connection to, Stream on) const {
  check(calls_->reduce(send, recv, n.count, static_cast<int>(n.type), static_cast<int>(op), root,
                       to, on),
        "ncclReduce");
}

void Nccl::broadcast(const void* send, void* recv, const NcclCount& n, int root, Connection to,
                     Stream on) const {
  check(calls_->broadcast(send, recv, n.count, static_cast<int>(n.type), root, to, on),
        "ncclBroadcast");
}

void Nccl::all_gather(const void* send, void* recv, const NcclCount& n, Connection to,
                      Stream on) const {
  check(calls_->all_gather(send, recv, n.count, static_cast<int>(n.type), to, on), "ncclAllGather");
}

void Nccl::reduce_scatter(const void* send, void* recv, const NcclCount& n, NcclOp op,
                          Connection to, Stream on) const {
  check(calls_->reduce_scatter(send, recv, n.count, static_cast<int>(n.type), static_cast<int>(op),
                               to, on),
        "ncclReduceScatter");
}

void Nccl::all_to_all(const void* send, void* recv, const NcclCount& n, int ranks, Connection to,
                      Stream on) const {
  const int type = static_cast<int>(n.type);
  if (calls_->all_to_all != nullptr) {
    return check(calls_->all_to_all(send, recv, n.count, type, to, on), "ncclAlltoAll");
  }
  const auto* from = static_cast<const std::byte*>(send);
  auto* into = static_cast<std::byte*>(recv);
  check(calls_->begin_group(), "ncclGroupStart");
  for (int peer = 0; peer < ranks; ++peer) {
    check(calls_->send(from, n.count, type, peer, to, on), "ncclSend");
    check(calls_->receive(into, n.count, type, peer, to, on), "ncclRecv");
    from += n.bytes;
    into += n.bytes;
  }
  check(calls_->end_group(), "ncclGroupEnd");
}

void Nccl::send_and_receive(const void* send, void* recv, const NcclCount& n, int right, int left,
                            Connection to, Stream on) const {
  const int type = static_cast<int>(n.type);
  check(calls_->begin_group(), "ncclGroupStart");
  check(calls_->send(send, n.count, type, right, to, on), "ncclSend");
  check(calls_->receive(recv, n.count, type, left, to, on), "ncclRecv");
  check(calls_->end_group(), "ncclGroupEnd");
}

std::string nccl_version_of(int code) {
  // From 2.9 on the minor version has two digits.
  const int major = code >= 10000 ? 10000 : 1000;
  return std::to_string(code / major) + '.' + std::to_string(code % major / 100) + '.' +
         std::to_string(code % 100);
}

int try_nccl(const std::string& file) {
  try {
    std::printf("version=%s\n", Nccl(file).version().c_str());
  } catch (const Error& error) {
    std::printf("problem=%s\n", error.what());
    return 2;
  }
  return 0;
}

namespace {
std::string& named_file() {
  static std::string file = "libnccl.so.2";
  return file;
}
}  // namespace

void name_nccl(const std::string& file) { named_file() = file; }

const Nccl& nccl() {
  static const Nccl library(named_file());
  return library;
}

}  // namespace mpigauge::gpu
