// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A libnccl.so.2 for tests on machines without a GPU: the functions that mpigauge calls, between
// processes of one host through shared memory. It reads and writes device memory by the copies of
// the libcuda.so.1 that the process has opened, so one that nobody pushed to is found. Calls are
// done when they return, which NCCL's need not be. Variables, commas between words:
//   MPIGAUGE_FAKE_NCCL      old: version 2.27.7, which has no ncclAlltoAll; ancient: 2.4.8;
//                           one-rank: a GPU takes one rank, as before 2.30;
//                           wrong: a byte of each result is wrong; lost: all calls but the first
//                           hundred fail
// cc -shared -fPIC -o libnccl.so.2 nccl.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { success = 0, system_error = 2, internal_error = 3, invalid_argument = 4, invalid_usage = 5 };
enum { most_ranks = 16, chunk_bytes = 1 << 16 };

typedef struct {
  char text[128];
} Id;

// What the ranks of a communicator share.
typedef struct {
  atomic_int arrived, generation, left;
  char gpus[most_ranks][64];
  char data[most_ranks][chunk_bytes];
} Room;

typedef struct {
  Room* room;
  int ranks, rank, calls;
} Comm;

typedef struct {
  const void* send;
  void* recv;
  size_t bytes;
  int peer;
  Comm* comm;
} Waiting;

static char last_error[256];
static int depth, waiting;
static Waiting queue[2 * most_ranks];

static int has(const char* word) {
  const char* set = getenv("MPIGAUGE_FAKE_NCCL");
  return set != NULL && strstr(set, word) != NULL;
}

static int fail(int code, const char* text) {
  snprintf(last_error, sizeof last_error, "%s", text);
  return code;
}

// --- the driver that the process has opened -----------------------------------------------------

static int (*to_gpu)(uint64_t, const void*, size_t);
static int (*to_host)(void*, uint64_t, size_t);
static int (*gpu_in_use)(int*);
static int (*bus_of)(char*, int, int);

static int look(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  if (strstr(info->dlpi_name, "libcuda") == NULL) return 0;
  *(void**)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}

static int find_driver(void) {
  void* driver = NULL;
  if (to_gpu != NULL) return success;
  dl_iterate_phdr(look, &driver);
  if (driver == NULL) return fail(system_error, "no CUDA driver is open");
  to_gpu = dlsym(driver, "cuMemcpyHtoD_v2");
  to_host = dlsym(driver, "cuMemcpyDtoH_v2");
  gpu_in_use = dlsym(driver, "cuCtxGetDevice");
  bus_of = dlsym(driver, "cuDeviceGetPCIBusId");
  return success;
}

// --- ranks meet ---------------------------------------------------------------------------------

static void meet(Comm* comm) {
  Room* room = comm->room;
  const int generation = atomic_load(&room->generation);
  if (atomic_fetch_add(&room->arrived, 1) + 1 == comm->ranks) {
    atomic_store(&room->arrived, 0);
    atomic_fetch_add(&room->generation, 1);
    return;
  }
  while (atomic_load(&room->generation) == generation) sched_yield();
}

int ncclGetVersion(int* version) {
  *version = has("ancient") ? 2408 : has("old") ? 22707 : 23007;
  return success;
}

const char* ncclGetErrorString(int code) {
  return code == invalid_usage ? "invalid usage" : code == success ? "no error" : "internal error";
}

const char* ncclGetLastError(void* comm) {
  (void)comm;
  return last_error;
}

int ncclGetUniqueId(Id* id) {
  static int number;
  snprintf(id->text, sizeof id->text, "/fake-nccl-%d-%d", (int)getpid(), number++);
  const int file = shm_open(id->text, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, sizeof(Room)) != 0) return fail(system_error, "no shared memory");
  close(file);
  return success;
}

static int shares_a_gpu(const Comm* comm) {
  for (int other = 0; other < comm->ranks; ++other) {
    if (other == comm->rank) continue;
    if (strcmp(comm->room->gpus[other], comm->room->gpus[comm->rank]) != 0) continue;
    snprintf(last_error, sizeof last_error,
             "Duplicate GPU detected : rank %d and rank %d both on CUDA device %s", comm->rank,
             other, comm->room->gpus[other]);
    return 1;
  }
  return 0;
}

int ncclCommInitRank(void** made, int ranks, Id id, int rank) {
  int device = 0;
  if (find_driver() != success) return system_error;
  if (ranks > most_ranks) return fail(invalid_argument, "too many ranks for the fake");
  const int file = shm_open(id.text, O_RDWR, 0600);
  if (file < 0) return fail(system_error, "no such identity");
  Comm* comm = calloc(1, sizeof *comm);
  comm->room = mmap(NULL, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (comm->room == MAP_FAILED) return fail(system_error, "no shared memory");
  comm->ranks = ranks;
  comm->rank = rank;
  if (gpu_in_use == NULL || gpu_in_use(&device) != success) return fail(system_error, "no context");
  bus_of(comm->room->gpus[rank], sizeof comm->room->gpus[rank], device);
  meet(comm);
  if (rank == 0) shm_unlink(id.text);
  if (has("one-rank") && shares_a_gpu(comm)) return invalid_usage;
  *made = comm;
  return success;
}

int ncclCommDestroy(void* connection) {
  Comm* comm = connection;
  munmap(comm->room, sizeof(Room));
  free(comm);
  return success;
}

int ncclCommGetAsyncError(void* connection, int* result) {
  (void)connection;
  *result = success;
  return success;
}

// --- data ---------------------------------------------------------------------------------------

static size_t size_of(int type) {
  static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < 10 ? sizes[type] : 0;
}

static float half(uint16_t bits, int mantissa) {
  const int bias = (1 << (14 - mantissa)) - 1;
  float value = 1 + (float)(bits & ((1 << mantissa) - 1)) / (float)(1 << mantissa);
  if (bits == 0) return 0;
  for (int power = (bits >> mantissa) - bias; power != 0; power += power > 0 ? -1 : 1) {
    value = power > 0 ? value * 2 : value / 2;
  }
  return value;
}

static uint16_t halved(float value, int mantissa) {
  int power = (1 << (14 - mantissa)) - 1;
  if (value == 0) return 0;
  for (; value >= 2; value /= 2) ++power;
  for (; value < 1; value *= 2) --power;
  return (uint16_t)(power << mantissa | (int)((value - 1) * (float)(1 << mantissa)));
}

#define COMBINED(a, b, op)               \
  ((op) == 0   ? (a) + (b)               \
   : (op) == 1 ? (a) * (b)               \
   : (op) == 2 ? ((a) > (b) ? (a) : (b)) \
               : ((a) < (b) ? (a) : (b)))
#define COMBINE(T)                                   \
  for (size_t i = 0; i < bytes / sizeof(T); ++i) {   \
    T* to = (T*)into + i;                            \
    *to = (T)COMBINED(*to, ((const T*)from)[i], op); \
  }                                                  \
  break

static void combine(char* into, const char* from, size_t bytes, int type, int op) {
  switch (type) {
    case 0: COMBINE(int8_t);
    case 1: COMBINE(uint8_t);
    case 2: COMBINE(int32_t);
    case 3: COMBINE(uint32_t);
    case 4: COMBINE(int64_t);
    case 5: COMBINE(uint64_t);
    case 7: COMBINE(float);
    case 8: COMBINE(double);
    default:
      for (size_t i = 0; i < bytes / 2; ++i) {
        const int mantissa = type == 6 ? 10 : 7;
        uint16_t* to = (uint16_t*)into + i;
        const float a = half(*to, mantissa), b = half(((const uint16_t*)from)[i], mantissa);
        *to = halved(COMBINED(a, b, op), mantissa);
      }
  }
}

static uint64_t at(const void* base, size_t offset) { return (uint64_t)(uintptr_t)base + offset; }

// Every call goes by chunks: each rank shows one, all meet, each takes what it needs, all meet.
// `show(r)` is the offset in the send buffer of rank r that all others see at this chunk.
typedef struct {
  const void* send;
  void* recv;
  size_t bytes;  // of a message
  int type, op, root, parts, reduces;
} Work;

static int begin(Comm* comm) {
  if (has("lost") && ++comm->calls > 100) return fail(internal_error, "NVLink error on a GPU");
  return success;
}

static int spoil(const Work* work) {
  char byte = 0;
  if (!has("wrong") || work->bytes == 0) return success;
  to_host(&byte, at(work->recv, work->bytes / 2), 1);
  byte = (char)(byte ^ 1);
  return to_gpu(at(work->recv, work->bytes / 2), &byte, 1);
}

// The result of a rank's part: `part` of the senders' buffers, from all or from the root.
static void reduce_part(Comm* comm, const Work* work, int part, int takes) {
  char sum[chunk_bytes];
  for (size_t done = 0; done < work->bytes; done += chunk_bytes) {
    const size_t bytes = work->bytes - done < chunk_bytes ? work->bytes - done : chunk_bytes;
    to_host(comm->room->data[comm->rank], at(work->send, (size_t)part * work->bytes + done), bytes);
    meet(comm);
    if (takes) {
      memcpy(sum, comm->room->data[0], bytes);
      for (int r = 1; r < comm->ranks; ++r) {
        combine(sum, comm->room->data[r], bytes, work->type, work->op);
      }
      to_gpu(at(work->recv, done), sum, bytes);
    }
    meet(comm);
  }
}

// What rank `from` has at an offset goes to those that take it.
static void move(Comm* comm, const void* send, void* recv, size_t bytes, int from, int takes) {
  for (size_t done = 0; done < bytes; done += chunk_bytes) {
    const size_t part = bytes - done < chunk_bytes ? bytes - done : chunk_bytes;
    if (comm->rank == from) to_host(comm->room->data[from], at(send, done), part);
    meet(comm);
    if (takes) to_gpu(at(recv, done), comm->room->data[from], part);
    meet(comm);
  }
}

int ncclAllReduce(const void* send, void* recv, size_t count, int type, int op, void* c, void* s) {
  const Work work = {
      .send = send, .recv = recv, .bytes = count * size_of(type), .type = type, .op = op};
  (void)s;
  if (begin(c) != success) return internal_error;
  reduce_part(c, &work, 0, 1);
  return spoil(&work);
}

int ncclReduce(const void* send, void* recv, size_t count, int type, int op, int root, void* c,
               void* s) {
  const Work work = {
      .send = send, .recv = recv, .bytes = count * size_of(type), .type = type, .op = op};
  const int takes = ((Comm*)c)->rank == root;
  (void)s;
  if (begin(c) != success) return internal_error;
  reduce_part(c, &work, 0, takes);
  return takes ? spoil(&work) : success;
}

int ncclReduceScatter(const void* send, void* recv, size_t count, int type, int op, void* c,
                      void* s) {
  const Work work = {
      .send = send, .recv = recv, .bytes = count * size_of(type), .type = type, .op = op};
  Comm* comm = c;
  (void)s;
  if (begin(c) != success) return internal_error;
  for (int part = 0; part < comm->ranks; ++part) reduce_part(c, &work, part, part == comm->rank);
  return spoil(&work);
}

int ncclBroadcast(const void* send, void* recv, size_t count, int type, int root, void* c,
                  void* s) {
  const Work work = {.recv = recv, .bytes = count * size_of(type)};
  Comm* comm = c;
  (void)s;
  if (begin(c) != success) return internal_error;
  move(c, send, recv, work.bytes, root, comm->rank != root);
  return comm->rank != root ? spoil(&work) : success;
}

int ncclAllGather(const void* send, void* recv, size_t count, int type, void* c, void* s) {
  const Work work = {.recv = recv, .bytes = count * size_of(type)};
  Comm* comm = c;
  (void)s;
  if (begin(c) != success) return internal_error;
  for (int from = 0; from < comm->ranks; ++from) {
    move(c, send, (char*)recv + (size_t)from * work.bytes, work.bytes, from, 1);
  }
  return spoil(&work);
}

static int all_to_all(const void* send, void* recv, size_t bytes, Comm* comm) {
  const Work work = {.recv = recv, .bytes = bytes};
  for (int from = 0; from < comm->ranks; ++from) {
    for (int to = 0; to < comm->ranks; ++to) {
      move(comm, (const char*)send + (size_t)to * bytes, (char*)recv + (size_t)from * bytes, bytes,
           from, to == comm->rank);
    }
  }
  return spoil(&work);
}

#ifndef WITHOUT_ALLTOALL
int ncclAlltoAll(const void* send, void* recv, size_t count, int type, void* c, void* s) {
  (void)s;
  if (begin(c) != success) return internal_error;
  return all_to_all(send, recv, count * size_of(type), c);
}
#endif

// --- groups: a send and a receive for each peer, or for one -------------------------------------

int ncclGroupStart(void) {
  ++depth;
  return success;
}

static int add(const void* send, void* recv, size_t bytes, int peer, Comm* comm) {
  if (depth == 0) return fail(invalid_usage, "a send without a group would wait for ever");
  queue[waiting++] = (Waiting){send, recv, bytes, peer, comm};
  return success;
}

int ncclSend(const void* send, size_t count, int type, int peer, void* c, void* s) {
  (void)s;
  return add(send, NULL, count * size_of(type), peer, c);
}

int ncclRecv(void* recv, size_t count, int type, int peer, void* c, void* s) {
  (void)s;
  return add(NULL, recv, count * size_of(type), peer, c);
}

// All ranks have as many sends, of equal size, in the order of their queues.
int ncclGroupEnd(void) {
  if (--depth > 0 || waiting == 0) return success;
  Comm* comm = queue[0].comm;
  const int count = waiting;
  waiting = 0;
  if (begin(comm) != success) return internal_error;
  for (int from = 0; from < comm->ranks; ++from) {
    for (int to = 0; to < comm->ranks; ++to) {
      const void* send = NULL;
      void* recv = NULL;
      for (int i = 0; i < count; ++i) {
        if (comm->rank == from && queue[i].send != NULL && queue[i].peer == to)
          send = queue[i].send;
        if (comm->rank == to && queue[i].recv != NULL && queue[i].peer == from)
          recv = queue[i].recv;
      }
      // Whether this pair has a message: each of the two tells, since the others cannot see it.
      comm->room->data[comm->rank][0] = send != NULL || recv != NULL;
      meet(comm);
      const int moves = comm->room->data[from][0] && comm->room->data[to][0];
      meet(comm);
      if (moves) move(comm, send, recv, queue[0].bytes, from, comm->rank == to);
      if (moves && comm->rank == to) spoil(&(Work){.recv = recv, .bytes = queue[0].bytes});
    }
  }
  return success;
}
