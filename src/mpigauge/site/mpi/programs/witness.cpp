// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Preloaded into each rank of a program. Before MPI starts, the rank looks whether it is on the MPI
// that was asked for: on another it may wait forever for ranks that it cannot see. When MPI has
// started, it looks whether it is in one job with the others, and notes where it runs. Else it says
// so and ends, and with it the job. It is built without MPI, and knows of each ABI what it needs.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace {

// A handle is a pointer, or a number of 32 bits that goes in the same register.
using Handle = void*;
using Init = int (*)(int*, char***);
using InitThread = int (*)(int*, char***, int, int*);
using OfComm = int (*)(Handle, int*);
using Parent = int (*)(Handle*);
using InitSession = int (*)(Handle, Handle, Handle*);
using Version = int (*)(char*, int*);

constexpr int most_of_a_version = 65536;
std::atomic<bool> looked{false};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

template <typename Function>
Function needed(const char* name) {
  const auto found = real<Function>(name);
  if (found == nullptr) {
    std::fprintf(stderr, "mpigauge: no library of this program has %s\n", name);
    _exit(1);
  }
  return found;
}

Handle number(std::uintptr_t value) { return reinterpret_cast<Handle>(value); }

struct Handles {
  Handle world = nullptr;
  Handle none = nullptr;
};

// Of the ABI that the program was made for, which a translation has, too.
Handles handles() {
  std::string abi = variable("MPIGAUGE_EXEC_ABI");
  Handle const object = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  if (abi.empty()) {
    Dl_info about{};
    const bool known = dladdr(dlsym(RTLD_NEXT, "MPI_Init"), &about) != 0;
    const bool standard = known && std::strstr(about.dli_fname, "_abi.so") != nullptr;
    abi = object != nullptr ? "ompi" : standard ? "std" : "mpich";
  }
  if (abi == "ompi") return {object, dlsym(RTLD_DEFAULT, "ompi_mpi_comm_null")};
  if (abi == "std") return {number(0x101), number(0x100)};
  return {number(0x44000000), number(0x04000000)};
}

// Of the beginning: a program of Open MPI's ABI has room for no more than 256 bytes.
std::uint64_t digest(const std::string& text) {
  std::uint64_t found = 0xCBF29CE484222325U;
  for (const char each : text.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte > ' ' && byte < 127) found = (found ^ byte) * 0x100000001B3U;
  }
  return found;
}

std::string version() {
  std::vector<char> text(most_of_a_version, '\0');
  int length = 0;
  const auto ask = real<Version>("MPI_Get_library_version");
  if (ask == nullptr || ask(text.data(), &length) != 0) return "";
  return text.data();
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  for (char& each : line) {
    if (each == '\t' || each == '\r') each = ' ';
  }
  return line;
}

// As launchers number ranks themselves; -1: this one tells nobody.
int by_launcher(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (*variable(name) != '\0') return std::atoi(variable(name));
  }
  return -1;
}

// The first one of those that make this file; without a folder nobody knows of others.
bool is_first_to_speak() {
  const std::string folder = variable("MPIGAUGE_EXEC");
  if (folder.empty()) return true;
  const int made = open((folder + "/said").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (made < 0) return errno != EEXIST;
  close(made);
  return true;
}

int rank_by_launcher() {
  return by_launcher({"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"});
}

// Of what all ranks find, the first one by its launcher says it.
bool speaks_for_all() { return rank_by_launcher() <= 0 && is_first_to_speak(); }

// Hydra ends a job when a rank fails that has told it of itself, which this one may not have done
// yet; then the others wait for it. In the words that ranks and Hydra speak with each other.
void end_job() {
  if (*variable("PMI_FD") == '\0') return;
  const std::string told = "cmd=abort exitcode=1\n";
  [[maybe_unused]] const auto written =
      write(std::atoi(variable("PMI_FD")), told.data(), told.size());
}

// Until a launcher has passed on what a rank printed: Hydra may end a job before it has.
constexpr useconds_t time_to_pass_on = 300'000;

[[noreturn]] void give_up(const std::string& why, bool speaks) {
  if (speaks) std::fprintf(stderr, "mpigauge: %s\n", why.c_str());
  usleep(time_to_pass_on);
  end_job();
  _exit(1);
}

bool is_ours() { return *variable("MPIGAUGE_EXEC_RANKS") != '\0'; }

std::string mask() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::string found;
  for (int core = 0; core < CPU_SETSIZE; core++) found += CPU_ISSET(core, &allowed) ? '1' : '0';
  return found.substr(0, found.find_last_of('1') + 1);
}

// That it waits for the others from now on.
void note_entry() {
  const std::string folder = variable("MPIGAUGE_EXEC");
  if (folder.empty() || !is_ours()) return;
  const std::string file = folder + "/entered." + std::to_string(getpid());
  const int made = open(file.c_str(), O_CREAT | O_WRONLY, 0600);
  if (made >= 0) close(made);
}

// Under another name until it is whole.
void note(int rank, int size, const std::string& library) {
  const std::string folder = variable("MPIGAUGE_EXEC");
  if (folder.empty()) return;
  const std::string file = folder + "/rank." + std::to_string(rank);
  const std::string draft = folder + "/draft." + std::to_string(rank);
  std::FILE* const out = std::fopen(draft.c_str(), "w");
  if (out == nullptr) return;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::fprintf(out, "%d\t%d\t%s\t%ld\t%s\t%s\n", rank, size, host, static_cast<long>(getpid()),
               mask().c_str(), first_line(library).c_str());
  std::fclose(out);
  std::rename(draft.c_str(), file.c_str());
}

void look() {
  const Handles known = handles();
  const auto parent = real<Parent>("MPI_Comm_get_parent");
  Handle above = known.none;
  // Ranks that others have spawned are in a world of their own.
  if (parent != nullptr && parent(&above) == 0 &&
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(above)) !=
          static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(known.none)))
    return;
  int size = 0;
  int rank = 0;
  needed<OfComm>("MPI_Comm_size")(known.world, &size);
  needed<OfComm>("MPI_Comm_rank")(known.world, &rank);
  const std::string library = version();
  const int ranks = by_launcher({"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPIGAUGE_EXEC_RANKS"});
  if (ranks > 0 && size != ranks)
    give_up("the ranks do not see each other: " + std::to_string(ranks) +
                " were started, and rank 0 is in a world of " + std::to_string(size) + " (" +
                first_line(library) + ")",
            speaks_for_all());
  note(rank, size, library);
}

// A rank of several programs may be the only one on another MPI. The version may be asked for
// before MPI starts.
void look_whose_it_is() {
  const std::string library = version();
  if (!is_ours() || library.empty()) return;
  char found[17] = "";
  std::snprintf(found, sizeof found, "%016llx", static_cast<unsigned long long>(digest(library)));
  if (std::string(found) == variable("MPIGAUGE_EXEC_LIBRARY")) return;
  const int rank = rank_by_launcher();
  const std::string who = rank < 0 ? "a rank" : "rank " + std::to_string(rank);
  give_up(who + " runs on " + first_line(library) + ", not on " + variable("MPIGAUGE_EXEC_MPI"),
          is_first_to_speak());
}

int started(int status) {
  if (status == 0 && is_ours() && !looked.exchange(true)) look();
  return status;
}

}  // namespace

#define SHOWN extern "C" __attribute__((visibility("default")))

SHOWN int MPI_Init(int* count, char*** words) {
  look_whose_it_is();
  note_entry();
  return started(needed<Init>("MPI_Init")(count, words));
}

SHOWN int PMPI_Init(int* count, char*** words) {
  look_whose_it_is();
  note_entry();
  return started(needed<Init>("PMPI_Init")(count, words));
}

SHOWN int MPI_Init_thread(int* count, char*** words, int wanted, int* provided) {
  look_whose_it_is();
  note_entry();
  return started(needed<InitThread>("MPI_Init_thread")(count, words, wanted, provided));
}

SHOWN int PMPI_Init_thread(int* count, char*** words, int wanted, int* provided) {
  look_whose_it_is();
  note_entry();
  return started(needed<InitThread>("PMPI_Init_thread")(count, words, wanted, provided));
}

SHOWN int MPI_Session_init(Handle info, Handle errors, Handle* session) {
  look_whose_it_is();
  return needed<InitSession>("MPI_Session_init")(info, errors, session);
}

SHOWN int PMPI_Session_init(Handle info, Handle errors, Handle* session) {
  look_whose_it_is();
  return needed<InitSession>("PMPI_Session_init")(info, errors, session);
}
