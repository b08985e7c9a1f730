// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "objects.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace mpigauge::profile {

namespace {

// --- groups -------------------------------------------------------------------------------------

// Memory for the ranks of a group, used again and again. Holds the lock.
struct Ranks {
  int* data = nullptr;
  std::size_t room = 0;

  int* at_least(std::size_t count) {
    if (count > room) {
      room = std::max(count, 2 * room);
      data = own<int>(room);
      if (data == nullptr) room = 0;
    }
    return data;
  }
};
Ranks own_ranks, world_ranks;

Word world_group = 0, world_session = 0;
bool has_world = false;

struct MemberList {
  std::uint64_t hash;
  layout::Members* stored;
  MemberList* next;
};
MemberList* member_lists = nullptr;
std::uint32_t member_count = 0;

std::uint64_t hash_of(const int* ranks, int count) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(count) + 1);
  for (int n = 0; n < count; ++n) hash = mixed(hash ^ static_cast<std::uint32_t>(ranks[n] + 2));
  return hash;
}

// The ranks of a group in MPI_COMM_WORLD; null where they are not to be had.
const int* members_of(Word group, int& count) {
  if (!has_world || mpi.Group_size(group, &count) != 0) return nullptr;
  const auto size = static_cast<std::size_t>(count);
  int* const inside = own_ranks.at_least(size);
  int* const outside = world_ranks.at_least(size);
  if (inside == nullptr || outside == nullptr) return nullptr;
  for (int n = 0; n < count; ++n) inside[n] = n;
  if (mpi.Group_translate_ranks(group, count, inside, world_group, outside) != 0) return nullptr;
  for (int n = 0; n < count; ++n) {
    if (outside[n] == abi.undefined) outside[n] = -1;
  }
  return outside;
}

std::uint32_t store_members(const int* ranks, int count, std::uint64_t hash) {
  for (const MemberList* at = member_lists; at != nullptr; at = at->next) {
    if (at->hash == hash && at->stored->count == static_cast<std::uint32_t>(count)) {
      return at->stored->members;
    }
  }
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
  auto* const stored = process.storage.make<layout::Members>(bytes);
  auto* const noted = own<MemberList>();
  if (stored == nullptr || noted == nullptr) return 0;
  stored->members = ++member_count;
  stored->count = static_cast<std::uint32_t>(count);
  std::memcpy(stored + 1, ranks, bytes);
  Storage::publish(stored->block, layout::Kind::members);
  *noted = {hash, stored, member_lists};
  member_lists = noted;
  return stored->members;
}

// What is known of the ranks of a group: the hash of their numbers in the world, and where they are
// stored.
struct Group {
  std::uint64_t hash = 0;
  std::uint32_t members = 0;
};

Group group_of(Word comm, int (*get)(Word, Word*), bool keep) {
  Word group = 0;
  if (!has_world || get(comm, &group) != 0) return {};
  Group found;
  int count = 0;
  if (const int* const ranks = members_of(group, count)) {
    found.hash = hash_of(ranks, count);
    if (keep) found.members = store_members(ranks, count, found.hash);
  }
  mpi.Group_free(&group);
  return found;
}

// --- communicators
// --------------------------------------------------------------------------------

WordMap comms;     // by handle
WordMap families;  // the first of each
std::uint32_t comm_count = 0;

struct Seen {
  int rank = 0, size = 0, remote_size = 0;
  Group group;
  std::uint64_t base = 0;
};

Seen look_at(Word handle, std::uint32_t parent, std::uint64_t family_of_parent, Call maker) {
  Seen seen;
  mpi.Comm_rank(handle, &seen.rank);
  mpi.Comm_size(handle, &seen.size);
  int between = 0;
  mpi.Comm_test_inter(handle, &between);
  std::uint64_t both = 0;
  if (between != 0) {
    mpi.Comm_remote_size(handle, &seen.remote_size);
    const Group own_group = group_of(handle, mpi.Comm_group, false);
    seen.group = group_of(handle, mpi.Comm_remote_group, true);
    both = own_group.hash + seen.group.hash;  // the same on both sides
  } else {
    seen.group = group_of(handle, mpi.Comm_group, true);
    both = seen.group.hash;
  }
  const std::uint64_t from = parent == 0 ? 0 : family_of_parent;
  seen.base = mixed(mixed(both ^ mixed(from + 1)) + maker) | 1U;
  return seen;
}

void read_name(Comm const& comm) {
  std::array<char, 512> name{};  // no MPI has longer ones
  int length = 0;
  if (mpi.Comm_get_name == nullptr || mpi.Comm_get_name(comm.handle, name.data(), &length) != 0)
    return;
  name.back() = '\0';
  std::array<char, sizeof comm.stored->name>& stored = comm.stored->name;
  const std::size_t most = stored.size() - 1;
  const std::size_t kept = std::min(std::strlen(name.data()), most);
  std::memcpy(stored.data(), name.data(), kept);
  stored[kept] = '\0';
}

// One of the family whose communicator is gone, or a new one behind them.
Comm* place_in_family(const Seen& seen, Word handle) {
  auto* const first = reinterpret_cast<Comm*>(families.find(seen.base));
  Comm* last = nullptr;
  std::uint64_t ordinal = 0;
  for (Comm* at = first; at != nullptr; at = at->next, ++ordinal) {
    last = at;
    if (at->handle == 0) {
      at->handle = handle;
      return at;
    }
  }
  auto* const comm = own<Comm>();
  auto* const stored = process.storage.make<layout::Comm>();
  if (comm == nullptr || stored == nullptr) return nullptr;
  stored->comm = ++comm_count;
  stored->family = mixed(seen.base + ordinal);
  *comm = {.number = stored->comm,
           .rank = seen.rank,
           .ranks = 0,
           .neighbours = -1,
           .handle = handle,
           .stored = stored,
           .base = seen.base,
           .next = nullptr,
           .kinds = nullptr,
           .receives_unclear = false};
  if (last == nullptr) {
    families.put(seen.base, reinterpret_cast<Word>(comm));
  } else {
    last->next = comm;
  }
  return comm;
}

Comm* add_comm(Word handle, const Comm* parent, Call maker) {
  const Seen seen = look_at(handle, parent == nullptr ? 0 : parent->number,
                            parent == nullptr ? 0 : parent->stored->family, maker);
  Comm* const comm = place_in_family(seen, handle);
  if (comm == nullptr) return nullptr;
  comm->rank = seen.rank;
  comm->ranks = seen.remote_size > 0 ? seen.remote_size : seen.size;
  comm->neighbours = -1;
  layout::Comm& stored = *comm->stored;
  stored.rank = seen.rank;
  stored.size = seen.size;
  stored.remote_size = seen.remote_size;
  stored.members = seen.group.members;
  stored.handle = handle;
  stored.parent = parent == nullptr ? 0 : parent->number;
  stored.maker = maker;
  ++stored.births;
  read_name(*comm);
  Storage::publish(stored.block, layout::Kind::comm);
  comms.put(handle, reinterpret_cast<Word>(comm));
  return comm;
}

bool works() { return process.keeps && !process.is_child; }

// --- windows and files
// ------------------------------------------------------------------------------

WordMap windows, files, requests, types;

Comm* comm_behind(const WordMap& map, Word handle) {
  return reinterpret_cast<Comm*>(map.find(handle));
}

void made_on(WordMap& map, Word handle, Word comm) {
  if (!works()) return;
  Comm const* const on = comm_of(comm);
  const Locked locked;
  map.put(handle, reinterpret_cast<Word>(on));
}

// What is gone must not be found again: the handle may come back as another's.
void goes(WordMap& map, Word handle) {
  if (!works() || map.find(handle) == 0) return;
  const Locked locked;
  map.put(handle, 0);
}

// --- datatypes
// --------------------------------------------------------------------------------------

std::uint16_t type_count = 0;
constexpr std::uint64_t derived_type = 1, user_operation = operation_names.size() + 1;

std::uint64_t number_of_operation(Word operation) {
  if (operation == 0) return 0;
  for (std::size_t n = 0; n < abi.operations.size(); ++n) {
    if (abi.operations[n] == operation) return n + 1;
  }
  return user_operation;
}

template <std::size_t size>
void copy(std::array<char, size>& to, const char* from) {
  const std::size_t length = std::min(std::strlen(from), size - 1);
  std::memcpy(to.data(), from, length);
  to[length] = '\0';
}

std::uint16_t store_type(Word type, bool derived, std::uint64_t operation) {
  auto* const stored = process.storage.make<layout::Type>();
  if (stored == nullptr) return 0;
  stored->type = ++type_count;
  if (derived) {
    copy(stored->name, "derived");
  } else {
    std::array<char, 512> name{};
    int length = 0;
    mpi.Type_get_name(type, name.data(), &length);
    copy(stored->name, name.data());
    stored->size = static_cast<std::uint32_t>(size_of_type(type));
  }
  if (operation == user_operation) copy(stored->operation, "user-defined");
  if (operation > 0 && operation < user_operation) {
    copy(stored->operation, operation_names[operation - 1]);
  }
  Storage::publish(stored->block, layout::Kind::type);
  return type_count;
}

// --- persistent requests
// ----------------------------------------------------------------------------

struct Persistent {
  Started what;
  Persistent* next_idle;
};
Persistent* idle_requests = nullptr;

Persistent* idle_or_new() {
  Persistent* const made = idle_requests;
  if (made == nullptr) return own<Persistent>();
  idle_requests = made->next_idle;
  return made;
}

}  // namespace

Comm* comm_of(Word handle) {
  if (Comm* const known = comm_behind(comms, handle)) return known;
  if (handle == 0 || handle == abi.comm_null) return nullptr;
  const Locked locked;
  if (Comm* const known = comm_behind(comms, handle)) return known;
  return add_comm(handle, nullptr, call_nothing);
}

Comm* comm_of_window(Word handle) { return comm_behind(windows, handle); }
Comm* comm_of_file(Word handle) { return comm_behind(files, handle); }

int neighbours_of(Comm& comm) {
  if (comm.neighbours >= 0) return comm.neighbours;
  int topology = abi.undefined, in = 0, out = 0, weighted = 0;
  mpi.Topo_test(comm.handle, &topology);
  if (topology == abi.cart && mpi.Cartdim_get(comm.handle, &out) == 0) {
    out *= 2;
  } else if (topology == abi.graph) {
    mpi.Graph_neighbors_count(comm.handle, comm.rank, &out);
  } else if (topology == abi.dist_graph && mpi.Dist_graph_neighbors_count != nullptr) {
    mpi.Dist_graph_neighbors_count(comm.handle, &in, &out, &weighted);
  }
  return comm.neighbours = out;
}

void comm_made(Word handle, Word parent, Call maker) {
  if (!works() || handle == 0 || handle == abi.comm_null) return;
  const Comm* const from = parent == 0 ? nullptr : comm_of(parent);
  const Locked locked;
  if (comm_behind(comms, handle) == nullptr) add_comm(handle, from, maker);
}

void window_made(Word handle, Word comm) { made_on(windows, handle, comm); }
void file_made(Word handle, Word comm) { made_on(files, handle, comm); }

void comm_goes(Word handle) {
  if (!works()) return;
  const Locked locked;
  Comm* const comm = comm_behind(comms, handle);
  if (comm == nullptr) return;
  read_name(*comm);
  comm->handle = 0;
  comm->stored->handle = 0;
  comms.put(handle, 0);
  process.handles.fetch_add(1, std::memory_order_relaxed);
}

void window_goes(Word handle) { goes(windows, handle); }
void file_goes(Word handle) { goes(files, handle); }

void comm_named(Word handle) {
  if (!works()) return;
  const Locked locked;
  if (const Comm* const comm = comm_behind(comms, handle)) read_name(*comm);
}

void world_made() {
  if (!works()) return;
  const Locked locked;
  has_world = mpi.Comm_group(abi.comm_world, &world_group) == 0;
  comm_of(abi.comm_world);
  comm_of(abi.comm_self);
}

bool session_world_made(Word session, int& rank, int& ranks) {
  if (!works() || has_world || mpi.Group_from_session_pset == nullptr) return false;
  const Locked locked;
  Word group = 0;
  if (mpi.Group_from_session_pset(session, "mpi://WORLD", &group) != 0) return false;
  if (mpi.Group_rank(group, &rank) != 0 || mpi.Group_size(group, &ranks) != 0) return false;
  world_group = group;
  world_session = session;
  return has_world = true;
}

bool session_world_goes(Word session) {
  if (!works() || world_session == 0 || world_session != session) return false;
  const Locked locked;
  mpi.Group_free(&world_group);
  has_world = false;
  world_session = 0;
  return true;
}

std::uint16_t type_number(Word type, Word operation) {
  const bool derived = !is_predefined(type);
  const std::uint64_t what = number_of_operation(operation);
  const std::uint64_t key = mixed((derived ? derived_type : type) + (what << 56U)) | 1U;
  if (const std::uint64_t known = types.find(key)) return static_cast<std::uint16_t>(known);
  const Locked locked;
  if (const std::uint64_t known = types.find(key)) return static_cast<std::uint16_t>(known);
  const std::uint16_t number = store_type(type, derived, what);
  if (number != 0) types.put(key, number);
  return number;
}

void request_made(Word handle, const Started& what) {
  if (!works()) return;
  const Locked locked;
  Persistent* const made = idle_or_new();
  if (made == nullptr) return;
  made->what = what;
  requests.put(handle, reinterpret_cast<Word>(made));
}

void request_goes(Word handle) {
  auto* const known = reinterpret_cast<Persistent*>(requests.find(handle));
  if (!works() || known == nullptr) return;
  const Locked locked;
  requests.put(handle, 0);
  known->next_idle = idle_requests;
  idle_requests = known;
}

const Started* started_by(Word handle) {
  const auto* const known = reinterpret_cast<const Persistent*>(requests.find(handle));
  return known == nullptr ? nullptr : &known->what;
}

}  // namespace mpigauge::profile
