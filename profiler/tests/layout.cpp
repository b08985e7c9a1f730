// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Prints where each field of the file is: a line each, with structure, field and offset, or the
// size of the whole. A test compares it with what Python takes for it.
#include "layout.hpp"

#include <cstddef>
#include <cstdio>

using namespace mpigauge::profile::layout;

// offsetof is defined for these: they have nothing but data.
#define FIELD(STRUCTURE, NAME) std::printf(#STRUCTURE " " #NAME " %zu\n", offsetof(STRUCTURE, NAME))
#define WHOLE(STRUCTURE) std::printf(#STRUCTURE " . %zu\n", sizeof(STRUCTURE))

int main() {
  WHOLE(Moment);
  WHOLE(Usage);
  WHOLE(Piece);
  FIELD(Head, job);
  FIELD(Head, thread_level);
  FIELD(Head, lost_calls);
  FIELD(Head, resets);
  FIELD(Head, inner_ticks);
  FIELD(Head, start);
  FIELD(Head, latest);
  FIELD(Head, init_ticks);
  FIELD(Head, on_since);
  FIELD(Head, usage_start);
  FIELD(Head, usage);
  FIELD(Head, pieces);
  FIELD(Head, piece);
  FIELD(Head, handle_bits);
  FIELD(Head, root);
  FIELD(Head, host);
  FIELD(Head, executable);
  WHOLE(Head);
  WHOLE(Text);
  FIELD(CallName, takes);
  FIELD(CallName, name);
  FIELD(CallName, group);
  WHOLE(CallName);
  FIELD(Module, base);
  FIELD(Module, id);
  FIELD(Module, path_length);
  WHOLE(Module);
  WHOLE(Awaited);
  FIELD(Pending, comm);
  FIELD(Pending, source);
  FIELD(Pending, awaited);
  WHOLE(Pending);
  FIELD(Thread, resets);
  FIELD(Thread, pending);
  FIELD(Thread, start);
  FIELD(Thread, latest);
  FIELD(Thread, step);
  FIELD(Thread, memory);
  WHOLE(Thread);
  WHOLE(Frame);
  FIELD(Site, call);
  FIELD(Site, region);
  FIELD(Site, frames);
  FIELD(Site, ticks);
  FIELD(Site, failures);
  FIELD(Site, times);
  WHOLE(Site);
  FIELD(Cell, peer);
  FIELD(Cell, way);
  FIELD(Cell, bin);
  FIELD(Cell, type);
  FIELD(Cell, count);
  FIELD(Cell, least);
  FIELD(Cell, most);
  FIELD(Cell, sends);
  WHOLE(Cell);
  WHOLE(Cells);
  FIELD(Comm, family);
  FIELD(Comm, members);
  FIELD(Comm, handle);
  FIELD(Comm, maker);
  FIELD(Comm, name);
  WHOLE(Comm);
  WHOLE(Members);
  FIELD(Region, entered);
  FIELD(Region, name);
  WHOLE(Region);
  FIELD(Type, name);
  FIELD(Type, operation);
  WHOLE(Type);
  WHOLE(Cpu);
  FIELD(Cpus, cpu);
  WHOLE(Cpus);
  FIELD(Instance, posted);
  FIELD(Instance, needs);
  WHOLE(Instance);
  FIELD(Instances, waits);
  FIELD(Instances, from);
  FIELD(Instances, level);
  FIELD(Instances, kept);
  WHOLE(Instances);
  FIELD(Kept, part);
  FIELD(Kept, instance);
  WHOLE(Kept);
  FIELD(Channel, way);
  FIELD(Channel, tags);
  FIELD(Channel, level);
  FIELD(Channel, from);
  FIELD(Channel, used);
  FIELD(Channel, kept);
  WHOLE(Channel);
}
