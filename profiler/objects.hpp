// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What handles stand for. Communicators, datatypes, windows, files and persistent requests get
// numbers when they are first seen, or when they are made; a handle that was freed may come back as
// something else, so those calls that free are heeded.
#pragma once

#include "library.hpp"
#include "process.hpp"

namespace mpigauge::profile {

struct Instances;

/// A communicator as calls need it.
struct Comm {
  std::uint32_t number;
  int rank;
  int ranks;       // that it sends to: the remote group's, for intercommunicators
  int neighbours;  // that it sends to in neighbourhood collectives; -1: not yet asked
  Word handle;
  layout::Comm* stored;
  std::uint64_t base;     // what it has in common with others of its family
  Comm* next;             // of the family
  Instances* kinds;       // of collectives, see instances.hpp
  bool receives_unclear;  // somebody asked for a message of whomever, see messages.hpp
};

/// The communicator behind a handle. Null where there is no room.
Comm* comm_of(Word handle);
/// The communicator of a window or a file.
Comm* comm_of_window(Word handle);
Comm* comm_of_file(Word handle);
int neighbours_of(Comm& comm);

/// After a call that made one: known from here on, and as whose child.
void comm_made(Word handle, Word parent, Call maker);
void window_made(Word handle, Word comm);
void file_made(Word handle, Word comm);
/// Before a call that frees it.
void comm_goes(Word handle);
void window_goes(Word handle);
void file_goes(Word handle);
/// It got a name.
void comm_named(Word handle);
/// The world and the own process, once MPI has begun.
void world_made();
/// The same for a program that begins with sessions: `group` is the world of one, and the answer
/// the own rank and the number of ranks.
bool session_world_made(Word session, int& rank, int& ranks);
/// Before a session ends. Whether it was the one of the world.
bool session_world_goes(Word session);

/// The number of a datatype and an operation (0: none), as it is stored.
std::uint16_t type_number(Word type, Word operation);

/// What a persistent request moves each time it is started.
struct Started {
  Comm* comm;
  std::int32_t peer;
  layout::Way way;
  std::uint16_t type;
  std::uint64_t bytes;
  std::int32_t tag;  // below 0: any, or none
};
void request_made(Word handle, const Started& what);
void request_goes(Word handle);
const Started* started_by(Word handle);

}  // namespace mpigauge::profile
