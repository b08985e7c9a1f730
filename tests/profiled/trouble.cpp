// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What programs do to a profiler: threads, processes, jumps out of calls, ends without an end. The
// first argument names what is done; tests/e2e/test_profiler_trouble.py knows what should come out.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "mpigauge.h"

namespace {

std::vector<std::string> words;

void barriers(int count) {
  for (int n = 0; n < count; ++n) MPI_Barrier(MPI_COMM_SELF);
}

void probes(int count) {
  int found = 0;
  for (int n = 0; n < count; ++n) MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

void in_threads(int threads, const std::function<void()>& work) {
  std::vector<std::thread> all;
  all.reserve(static_cast<std::size_t>(threads));
  for (int n = 0; n < threads; ++n) all.emplace_back(work);
  for (std::thread& each : all) each.join();
}

// 4 at once, and 4 more when these have ended: 8000 probes.
void threads() {
  for (int n = 0; n < 2; ++n) in_threads(4, [] { probes(1000); });
}

// The child's calls are nobody's.
void child() {
  barriers(10);
  const pid_t pid = fork();
  if (pid == 0) {
    int size = 0;
    for (int n = 0; n < 5; ++n) MPI_Comm_size(MPI_COMM_SELF, &size);
    _exit(size == 1 ? 0 : 1);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  if (status != 0) std::abort();
  barriers(10);
}

// The same process as another program, after it was seen.
void before_exec(char** argv) {
  int begun = 0;
  MPI_Initialized(&begun);
  static char plain[] = "plain";
  argv[1] = plain;
  execv("/proc/self/exe", argv);
}

void killed() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  barriers(100);
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Failed {};
std::jmp_buf back;

void throws(MPI_Comm*, int*, ...) { throw Failed{}; }
void jumps(MPI_Comm*, int*, ...) { std::longjmp(back, 1); }

void send_nowhere() {
  char byte = 0;
  MPI_Send(&byte, 1, MPI_BYTE, 5, 0, MPI_COMM_SELF);
}

void handle_with(MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

// 50 calls that are left by an exception, 50 by a jump, and a barrier after each.
void left() {
  handle_with(throws);
  for (int n = 0; n < 50; ++n) {
    try {
      send_nowhere();
    } catch (const Failed&) {
      barriers(1);
    }
  }
  handle_with(jumps);
  for (volatile int n = 0; n < 50; n = n + 1) {
    if (setjmp(back) == 0) send_nowhere();
    barriers(1);
  }
}

// 3 and 7 count.
void off_and_on() {
  barriers(3);
  MPI_Pcontrol(0);
  barriers(5);
  MPI_Pcontrol(1);
  barriers(7);
}

// What was before the new start counts nowhere, in threads that are gone neither.
void anew() {
  barriers(3);
  in_threads(1, [] { probes(9); });
  MPI_Pcontrol(2);
  barriers(4);
}

void regions() {
  mpigauge_end();  // that which began before MPI
  barriers(1);
  mpigauge_begin("loop");
  for (int n = 0; n < 3; ++n) {
    mpigauge_begin("inner");
    barriers(2);
    mpigauge_end();
  }
  barriers(1);
  mpigauge_end();
}

// The ends that have no beginning change nothing, and a region without an end lasts to that of MPI.
void unbalanced() {
  for (int n = 0; n < 3; ++n) mpigauge_end();
  barriers(1);
  mpigauge_begin("open");
  barriers(2);
}

// What a thread begins is its own; what the main thread has begun holds for all.
void regions_of_threads() {
  mpigauge_begin("all");
  in_threads(1, [] { probes(3); });
  in_threads(4, [] {
    mpigauge_begin("own");
    probes(5);
    mpigauge_end();
    probes(7);
  });
  barriers(1);
  mpigauge_end();
  barriers(1);
}

// Which calls of MPI are there, asked as programs ask.
void asks() {
  void* const mpi = dlopen(words[0].c_str(), RTLD_LAZY | RTLD_NOLOAD);
  for (std::size_t n = 1; n < words.size(); ++n) {
    const char* const name = words[n].c_str();
    const bool anywhere = dlsym(RTLD_DEFAULT, name) != nullptr;
    const bool there = mpi != nullptr && dlsym(mpi, name) != nullptr;
    std::printf("%s %d %d\n", name, anywhere ? 1 : 0, there ? 1 : 0);
  }
  using Barrier = int (*)(MPI_Comm);
  const auto barrier = reinterpret_cast<Barrier>(dlsym(mpi, "MPI_Barrier"));
  for (int n = 0; n < 6; ++n) barrier(MPI_COMM_SELF);
}

// What a library finds that is opened now.
void opens() {
  void* const file = dlopen(words[0].c_str(), RTLD_NOW);
  if (file == nullptr) std::abort();
  reinterpret_cast<void (*)()>(dlsym(file, "say_what_is_there"))();
}

// A library that comes and goes does not make another place of a place.
void closes() {
  for (int n = 0; n < 20; ++n) {
    void* const file = dlopen("libBrokenLocale.so.1", RTLD_LAZY);
    if (file != nullptr) dlclose(file);
    barriers(1);
  }
}

// Each call comes from another stack: at each level from one of two places.
[[gnu::noinline]] void from_everywhere(int depth, unsigned way) {
  volatile char room[16];
  room[depth % 16] = 1;
  if (depth == 0) {
    barriers(1);
  } else if ((way & 1U) != 0) {
    from_everywhere(depth - 1, way >> 1U);
    asm volatile("" : : "r"(room), "r"(1) : "memory");
  } else {
    from_everywhere(depth - 1, way >> 1U);
    asm volatile("" : : "r"(room), "r"(2) : "memory");
  }
  asm volatile("" : : "r"(room) : "memory");
}
void many_places() {
  for (unsigned way = 0; way < 4096; ++way) from_everywhere(12, way);
}

// A window outlives the communicator that it was made on; 2 puts of 8 bytes to oneself.
void window_alone() {
  MPI_Comm same;
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  void* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, same, &memory, &window);
  MPI_Comm_free(&same);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double value = 1;
  MPI_Win_fence(0, window);
  for (int n = 0; n < 2; ++n) MPI_Put(&value, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

// A message from nobody is the same one always, also when the communicator is gone where it came.
void message_from_nobody() {
  MPI_Message message;
  for (int n = 0; n < 2; ++n) {
    MPI_Comm same;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    if (n == 0) MPI_Mprobe(MPI_PROC_NULL, 0, same, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&same);
    message = MPI_MESSAGE_NO_PROC;
    char byte = 0;
    MPI_Mrecv(&byte, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
}

const std::map<std::string, void (*)()> all = {
    {"plain", [] { barriers(10); }},
    {"threads", threads},
    {"child", child},
    {"killed", killed},
    {"aborted", [] { barriers(10), MPI_Abort(MPI_COMM_WORLD, 3); }},
    {"exited", [] { barriers(10), _exit(0); }},
    {"left", left},
    {"off_and_on", off_and_on},
    {"anew", anew},
    {"regions", regions},
    {"unbalanced", unbalanced},
    {"regions_of_threads", regions_of_threads},
    {"around", [] { barriers(10); }},
    {"unfinished", [] { barriers(10), std::exit(0); }},
    {"early", [] { barriers(10); }},
    {"late", [] { barriers(10); }},
    {"asks", asks},
    {"opens", opens},
    {"closes", closes},
    {"many_places", many_places},
    {"window_alone", window_alone},
    {"message_from_nobody", message_from_nobody},
};

// What may be called at any time, and what may not.
void outside(const std::string& what, const char* when) {
  int known = 0, version = 0;
  MPI_Initialized(&known);
  MPI_Finalized(&known);
  MPI_Get_version(&version, &known);
  if (what == when) MPI_Comm_rank(MPI_COMM_WORLD, &known);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argv[1];
  words.assign(argv + 2, argv + argc);
  if (what == "exec") before_exec(argv);
  if (what == "regions") mpigauge_begin("early");
  const bool calls_outside = what == "around" || what == "late" || what == "early";
  if (calls_outside) outside(what, "early");
  const bool alone = what == "left";  // with threads an MPI may hold a lock where a call is left
  int level = 0;
  MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
  all.at(what)();
  MPI_Finalize();
  if (calls_outside) outside(what, "late");
  return 0;
}
