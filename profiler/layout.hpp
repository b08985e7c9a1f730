// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The file of a process: a head, then pieces (their places are in the head), each a row
// of blocks. A block begins with its kind and its size; a size of zero ends the piece, and a kind
// of zero is a block that nobody may read yet. Blocks and what is in them only grow, so the file
// can be read at any time, also when the process was killed. Numbers are as the processor has them.
// Times are ticks of the clock in the head. tools/generate_layout.py makes the Python types of
// this.
#pragma once

#include <array>
#include <cstdint>

namespace mpigauge::profile::layout {

constexpr std::array<char, 8> magic = {'m', 'p', 'i', 'g', 'p', 'r', 'o', 'f'};
constexpr std::uint32_t version = 6;
/// What files are mapped by: the largest page that processors have.
constexpr std::size_t page = 65536;
constexpr std::size_t most_pieces = 128;
/// Blocks begin at multiples of this.
constexpr std::size_t grain = 64;

/// A moment in the clocks of the process.
struct Moment {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t utc_ns;
};

struct Usage {
  std::uint64_t user_us, system_us;
  std::uint64_t peak_kib;
  std::uint64_t minor_faults, major_faults;
  std::uint64_t voluntary_switches, involuntary_switches;
};

/// Why something was not kept.
enum class Loss : std::uint32_t { none, limit, disk };

enum Ended : std::uint32_t { running = 0, finalized = 1, exited = 2 };

struct Piece {
  std::uint64_t offset, bytes;
};

struct Head {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t abi;  // 1 MPICH, 2 Open MPI, 3 standard
  std::uint64_t pid;
  std::uint64_t job;  // by what its launcher told: the same in all ranks of a world; 0: not told
  std::int32_t rank;  // in MPI_COMM_WORLD; -1: it did not come through MPI_Init
  std::int32_t ranks;
  std::int32_t thread_level;     // 0 single … 3 multiple; -1 unknown
  std::uint32_t ended;           // bits of Ended
  std::uint32_t frames;          // depth of stacks that was asked for
  std::uint32_t loss;            // the first Loss
  std::uint64_t lost_calls;      // calls that no site could be made for
  std::uint64_t lost_cells;      // messages whose cell could not be made
  std::uint64_t cut;             // calls that never came back: left by an exception or a jump
  std::uint64_t nested;          // calls made inside others, which are part of those
  std::uint64_t resets;          // how often the profile was started anew
  std::uint64_t own_ticks;       // what a call costs more under the profiler
  std::uint64_t inner_ticks;     // the part of that which the clock sees, taken off each time
  Moment start;                  // the first call of MPI
  Moment latest;                 // now and then, and at the end
  std::uint64_t init_ticks;      // the end of MPI_Init; 0: not yet
  std::uint64_t finalize_ticks;  // the start of MPI_Finalize; 0: not yet
  std::uint64_t on_ticks;        // how long the profile was on, up to the last time it was put off
  std::uint64_t on_since;        // on since then; 0: off
  Usage usage_start, usage;
  std::uint64_t pieces;
  std::array<Piece, most_pieces> piece;
  // Of the MPI, for the arguments of calls that go on, which are stored as they come.
  std::uint64_t handle_bits;
  std::int32_t any_source, null_process, any_tag, root;
  std::array<char, 256> host;
  std::array<char, 512> executable;  // cut where it is longer
  std::uint64_t launched;            // the number of ranks, from the launcher; 0: unknown
};
static_assert(sizeof(Head) <= page);

enum class Kind : std::uint32_t {
  unfinished,
  text,
  call,
  module,
  thread,
  site,
  cells,
  comm,
  members,
  region,
  type,
  cpus,
  instances,
  channel,
  kept,
  line,
};

struct Block {
  std::uint32_t kind;
  std::uint32_t bytes;  // of the whole block, a multiple of `grain`
};

/// A text about the process, by what it is about.
enum class About : std::uint32_t { words, library };
struct Text {
  Block block;
  std::uint32_t about;
  std::uint32_t length;
  // then the text; the words of the command line each end with a zero
};

/// Which arguments a call has that are stored when it is entered, and whom it waits for: bits.
enum Takes : std::uint32_t {
  takes_comm = 1,
  takes_to = 2,
  takes_from = 4,
  takes_root = 8,
  takes_to_tag = 16,
  takes_from_tag = 32,
  takes_requests = 64,
  takes_any_request = 128,
  waits_for_all = 256,
  waits_for_root = 512,
  waits_at_root = 1024,
};

/// A call of MPI that was seen.
struct CallName {
  Block block;
  std::uint32_t call;
  std::uint32_t takes;
  std::array<char, 48> name;
  std::array<char, 32> group;
};

/// A file that return addresses lie in.
struct Module {
  Block block;
  std::uint32_t module;
  std::uint32_t id_bytes;
  std::uint64_t base;               // what was added to the addresses in the file
  std::array<std::uint8_t, 32> id;  // build-id
  std::uint32_t path_length;
  // then the path
};

/// A request that a call waits for: what began it, with the arguments that this call takes.
struct Awaited {
  std::uint64_t comm;
  std::int32_t peer, tag;
  std::uint32_t call;  // 0xffffffff: not known
  std::uint32_t unused;
};

constexpr std::size_t most_awaited = 8;
/// The last call of a thread, written on entry: it is there however the process ends. It goes on
/// where no call has ended since. Of the arguments there are those that the call has.
struct Pending {
  std::uint64_t since;  // when it was entered
  std::uint32_t site;   // its number in the thread
  std::int32_t requests;
  std::uint64_t comm;                         // the handle
  std::int32_t peer, tag;                     // that it sends to, or the root
  std::int32_t source, source_tag;            // that it receives from
  std::array<Awaited, most_awaited> awaited;  // the first requests
};

constexpr std::size_t most_steps = 1000;
struct Thread {
  Block block;
  std::uint32_t thread;
  std::uint32_t resets;  // fewer than in the head: what it has is from before the last
  std::uint64_t latest;  // when its last call ended
  Pending pending;
  std::uint64_t start;
  std::uint64_t step_ticks;
  std::array<std::uint64_t, most_steps> step;    // time in MPI, step by step
  std::array<std::uint64_t, most_steps> sent;    // bytes of the own send buffers
  std::array<std::uint32_t, most_steps> memory;  // KiB of the process in a step; 0: not sampled
};

/// A line of Python that was executed when a call was made.
struct Line {
  Block block;
  std::uint32_t line;  // its number among such blocks, from 1
  std::uint32_t in_file;
  std::uint32_t function_length, path_length;
  // then the function and the path
};

constexpr std::uint32_t no_module = 0xffffffff, python_line = 0xfffffffe;
/// A return address; the call itself is before it. Or a line of Python, the last of its stack.
struct Frame {
  std::uint64_t offset;  // in the file; without a file the address; of Python the line's number
  std::uint32_t module;
  std::uint32_t unused;
};

/// Bins of times: below 16 ticks one for each, then 8 for each power of two.
constexpr std::size_t bins = 312;
/// A call of MPI at one place: from one stack, in one region, by one thread.
struct Site {
  Block block;
  std::uint32_t site;  // its number in the thread
  std::uint32_t thread;
  std::uint16_t call;
  std::uint16_t region;
  std::uint32_t frames;
  std::uint64_t ticks;  // all times together
  std::uint64_t least, most;
  std::uint64_t failures;  // calls that gave an error
  std::array<std::uint64_t, bins> times;
  // then the frames, the innermost first
};

enum class Way : std::uint8_t { none, sent, received, requests };
/// Ranks that are none.
constexpr std::int32_t any_source = -1, null_process = -2, no_rank = -3;

/// What calls of a site had in common, and how often.
struct Cell {
  std::uint32_t site;
  std::uint32_t comm;  // 0: none
  std::int32_t peer;   // rank in the communicator; the root, for collectives
  std::uint8_t way;
  std::uint8_t bin;           // 0: no bytes; n: from 2^(n-1) to below 2^n
  std::uint16_t type;         // 0: none
  std::uint64_t count;        // of messages; of calls, where they have none
  std::uint64_t amount;       // bytes, or requests
  std::uint64_t least, most;  // of one
  std::uint32_t sends;  // how often this rank sends that: 0 for what it gets, the ranks for parts
  std::uint32_t unused;
};

struct Cells {
  Block block;
  std::uint32_t thread;
  std::uint32_t used;
  // then cells
};

/// A communicator, or several that were made one after the other in one way for the same ranks.
struct Comm {
  Block block;
  std::uint32_t comm;
  std::int32_t rank;
  std::int32_t size;
  std::int32_t remote_size;  // of an intercommunicator, else 0
  std::uint64_t family;      // the same number on all ranks
  std::uint64_t births;
  std::uint32_t parent;   // 0: not known
  std::uint32_t members;  // 0: not known
  std::uint64_t handle;   // of the last one; 0: it was freed
  std::uint16_t maker;    // the call that made it
  std::uint16_t unused;
  std::array<char, 68> name;
};

/// Ranks of a communicator as those of MPI_COMM_WORLD; -1 for one that is not in it.
struct Members {
  Block block;
  std::uint32_t members;
  std::uint32_t count;
  // then a number of 32 bits for each
};

struct Region {
  Block block;
  std::uint32_t region;
  std::uint32_t parent;  // 0: the whole program
  std::uint64_t entered;
  std::uint64_t ticks;  // spent in it, by all threads; as of its last end, or that of MPI
  std::array<char, 96> name;
};

/// A datatype and, for reductions, an operation.
struct Type {
  Block block;
  std::uint32_t type;
  std::uint32_t size;  // bytes of an element; 0 for derived types
  std::array<char, 64> name;
  std::array<char, 48> operation;
};

struct Cpu {
  std::uint32_t cpu, node;
  std::uint64_t times;  // it was seen there
};
constexpr std::size_t most_cpus = 63;
/// Where a thread ran, looked up now and then.
struct Cpus {
  Block block;
  std::uint32_t thread;
  std::uint32_t used;
  std::array<Cpu, most_cpus> cpu;
};

/// One collective or message of many: when this rank had come as far, and when it was in the call
/// that waited for it (the same call, where that blocks).
struct Instance {
  std::uint32_t index;         // among those of its kind, from 0
  std::uint32_t thread, site;  // of the call that waited
  std::int32_t root;           // in the communicator; no_rank: none. Of a message its tag
  std::uint64_t posted;        // when the call was entered that began it
  std::uint64_t entered, left;
  std::uint32_t needs;  // for how many such the call waited, this one and others
  std::uint32_t unused;
};

constexpr std::size_t kept_places = 256;
/// Those of one collective or channel that are kept. As many such blocks as it needs: the places of
/// the first one, then those of the second, and so on.
struct Kept {
  Block block;
  std::uint32_t of;    // the number of the collective or channel
  std::uint32_t part;  // which of its blocks, from 0
  std::array<Instance, kept_places> instance;
};

/// Calls of one collective on one communicator, of one size where that is the same on all ranks.
struct Instances {
  Block block;
  std::uint32_t comm;
  std::uint16_t call;
  std::uint8_t bin;     // as in cells; other_sizes: of any size
  std::uint8_t waits;   // 1 all for all, 2 all for the root, 3 the root for all
  std::uint64_t count;  // of all; the next one's index
  std::uint64_t from;   // those before count no more
  std::uint64_t ticks;  // of all that count; 0 where others wait for their requests
  std::uint32_t
      level;  // one of 2^level is kept, see instances.hpp; others that are there still are older
  std::uint32_t used;  // places
  std::uint32_t kept;  // its number in Kept
  std::uint32_t unused;
};
constexpr std::uint8_t other_sizes = 255;

/// Messages of this rank to another one, or from it, on a communicator, with tags that begin alike.
struct Channel {
  Block block;
  std::uint32_t comm;
  std::int32_t peer;  // rank in the communicator
  std::uint8_t way;   // sent or received
  std::uint8_t tags;  // which ones, see messages.hpp
  std::uint16_t unused;
  std::uint32_t level;  // these as above
  std::uint64_t count;
  std::uint64_t from;
  std::uint32_t used;
  std::uint32_t kept;
};

}  // namespace mpigauge::profile::layout
