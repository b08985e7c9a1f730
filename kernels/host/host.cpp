// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The host: opens the site's MPI library, then the plugin that was built for its ABI, and hands
// over. It is linked to neither, so one build of the kernels runs on every MPI of an ABI. Called as
// IMB-..., it finds both by itself: `mpigauge imb install` puts it into a folder by those names.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/choice.hpp"

namespace {

using namespace mpigauge::host;

constexpr int exit_usage = 2;
using Path = std::array<char, PATH_MAX>;

// The name that we were called by, for messages.
const char* self = "mpigauge-kernel";

// One rank speaks for all: they all see the same.
bool speaks() {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "FLUX_TASK_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

// A launcher may end all ranks as soon as one has ended, also the one that is about to speak.
constexpr unsigned time_to_speak_us = 300000;

[[nodiscard, gnu::format(printf, 1, 2)]] int refuse(const char* format, ...) {
  if (!speaks()) {
    usleep(time_to_speak_us);
    return exit_usage;
  }
  std::va_list words;
  va_start(words, format);
  std::fprintf(stderr, "%s: ", self);
  std::vfprintf(stderr, format, words);
  std::fputc('\n', stderr);
  va_end(words);
  return exit_usage;
}

const char* reason() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

// --- opening ------------------------------------------------------------------------------------

// Global, since the plugin's calls are resolved against it.
void* open_library(const char* file) { return dlopen(file, RTLD_NOW | RTLD_GLOBAL); }

// Lazily when it must be: a call which an old library has not matters to those only that make it.
// At once when it can be, so that no first call is slower than the others.
void* open_plugin(const char* file) {
  if (void* plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return plugin;
  return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

// By what only one ABI has: handles that are objects, a function that its headers refer to.
Abi abi_of(void* library) {
  if (dlsym(library, "ompi_mpi_comm_world") != nullptr) return Abi::ompi;
  if (dlsym(library, "MPIR_Dup_fn") != nullptr) return Abi::mpich;
  if (dlsym(library, "MPI_Abi_get_version") != nullptr) return Abi::std;
  return Abi::none;
}

int enter(const char* file, const char* name, int argc, char** argv) {
  void* plugin = open_plugin(file);
  if (plugin == nullptr) return refuse("cannot open plugin %s: %s", file, reason());
  const void* address = dlsym(plugin, name);
  if (address == nullptr) return refuse("no kernels in %s: %s", file, reason());
  int (*entry)(int, char**) = nullptr;
  std::memcpy(&entry, &address, sizeof entry);
  return entry(argc, argv);
}

// --- as the kernel: told what to open -----------------------------------------------------------

int as_kernel(int argc, char** argv) {
  constexpr int own_words = 5;
  if (argc < own_words || std::strcmp(argv[1], "--libmpi") != 0 ||
      std::strcmp(argv[3], "--plugin") != 0) {
    std::fputs("usage: mpigauge-kernel --libmpi FILE --plugin FILE [--imb NAME] OPTIONS\n", stderr);
    return exit_usage;
  }
  if (open_library(argv[2]) == nullptr) {
    return refuse("cannot open MPI %s: %s", argv[2], reason());
  }
  const char* plugin = argv[4];
  argc -= own_words;
  argv += own_words;
  if (argc >= 2 && std::strcmp(argv[0], "--imb") == 0) {
    return enter(plugin, "mpigauge_imb", argc - 1, argv + 1);
  }
  return enter(plugin, "mpigauge_kernel", argc, argv);
}

// --- as a suite: finds what to open -------------------------------------------------------------

// Puts texts behind each other, with the zero that calls of C want; false when it is too long.
template <class... Parts>
bool join(Path& path, Parts... parts) {
  std::size_t used = 0;
  const auto append = [&](std::string_view part) {
    if (part.size() >= path.size() - used) return false;
    std::memcpy(path.data() + used, part.data(), part.size());
    used += part.size();
    path[used] = '\0';
    return true;
  };
  return (append(parts) && ...);
}

// Reads a text file whole; false when it is not there or does not fit.
template <std::size_t most>
bool read_text(const char* file, std::array<char, most>& text, std::size_t& length) {
  const int handle = open(file, O_RDONLY | O_CLOEXEC);
  if (handle < 0) return false;
  length = 0;
  ssize_t got = 1;
  while (got > 0 && length < most) {
    got = read(handle, text.data() + length, most - length);
    if (got > 0) length += static_cast<std::size_t>(got);
  }
  close(handle);
  return got == 0;
}

// The program behind a link of /proc; empty when it may not be seen.
std::string_view program_at(const char* link, Path& path) {
  const ssize_t length = readlink(link, path.data(), path.size() - 1);
  if (length <= 0) return {};
  path[static_cast<std::size_t>(length)] = '\0';
  return {path.data(), static_cast<std::size_t>(length)};
}

// The field after the name, which is in brackets and may hold anything.
long parent_of(long process) {
  std::array<char, 64> file{};
  std::snprintf(file.data(), file.size(), "/proc/%ld/stat", process);
  std::array<char, 4096> text{};
  std::size_t length = 0;
  if (!read_text(file.data(), text, length)) return 0;
  text[length < text.size() ? length : text.size() - 1] = '\0';
  const char* after = std::strrchr(text.data(), ')');
  if (after == nullptr || std::strlen(after) < 4) return 0;
  return std::strtol(after + 3, nullptr, 10);
}

// Climbs to the launcher, past shells and numactl.
void find_launcher(Start& start) {
  constexpr int most_steps = 8;
  static Path path;
  long process = getppid();
  for (int step = 0; step < most_steps && process > 1; ++step) {
    std::array<char, 64> link{};
    std::snprintf(link.data(), link.size(), "/proc/%ld/exe", process);
    if (started_by(program_at(link.data(), path), start)) return;
    process = parent_of(process);
  }
}

// The folder of what was installed: our own, or mpigauge/ beside us after links were copied as
// files.
bool find_home(Path& home, Path& list) {
  static Path path;
  const std::string_view folder = folder_of(program_at("/proc/self/exe", path));
  for (const char* below : {"", "/mpigauge"}) {
    if (join(home, folder, below) && join(list, home.data(), "/mpis.txt") &&
        access(list.data(), R_OK) == 0) {
      return true;
    }
  }
  return false;
}

bool find_plugin(const Path& home, Abi abi, Path& file) {
  return abi != Abi::none && join(file, home.data(), "/mpigauge-kernel.", name_of(abi), ".so") &&
         access(file.data(), R_OK) == 0;
}

bool same_file(std::string_view one, std::string_view other) {
  static Path path;
  struct stat a{}, b{};
  return join(path, one) && stat(path.data(), &a) == 0 && join(path, other) &&
         stat(path.data(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// An MPI by its library alone; with what is known of it, if it was there at installation.
Mpi described(std::string_view library, Abi abi, const Mpis& installed) {
  for (const Mpi& known : installed) {
    if (same_file(library, known.library)) return known;
  }
  return {.abi = abi, .library = library};
}

// Looks for MPIs that can be used after a start, and that there are kernels for.
struct Search {
  const Path& home;
  const Mpis& installed;
  const Start& start;
};

// The first MPI of a folder. False: it has none.
bool find_in(std::string_view folder, const Search& search, Mpi& found) {
  static std::array<Path, 24> files;
  static std::size_t used = 0;
  if (folder.empty()) return false;
  for (const LibraryName& known : names_after(search.start)) {
    static Path plugin;
    if (used == files.size() || !find_plugin(search.home, known.abi, plugin)) continue;
    Path& file = files[used];
    if (!join(file, folder, "/", known.file) || access(file.data(), R_OK) != 0) continue;
    ++used;
    found = described(file.data(), known.abi, search.installed);
    return true;
  }
  return false;
}

// What a module or a script of the user put into the environment.
void add_offered(const Search& search, Mpis& mpis) {
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  std::string_view folders = paths == nullptr ? "" : paths;
  while (!folders.empty()) {
    Mpi found;
    if (!find_in(take(folders, ':'), search, found)) continue;
    found.offered = true;
    mpis.add(found);
  }
}

void add_installed(const Search& search, Mpis& mpis) {
  for (const Mpi& mpi : search.installed) {
    static Path file;
    if (join(file, mpi.library) && access(file.data(), R_OK) == 0) mpis.add(mpi);
  }
}

// What lies beside the launcher: in its own prefix, or where a distribution has the libraries of
// the programs in /usr/bin.
void add_of_launcher(const Search& search, Mpis& mpis) {
  static Path launcher, multiarch, folder;
  static utsname system;
  if (search.start.folder.empty() || !join(launcher, search.start.folder, "/mpiexec")) return;
  uname(&system);
  if (!join(multiarch, "lib/", system.machine, "-linux-gnu")) return;
  for (const std::string_view below :
       std::array<std::string_view, 4>{"lib", "lib64", "lib/release", multiarch.data()}) {
    Mpi found;
    if (!join(folder, search.start.folder, "/../", below)) continue;
    if (!find_in(folder.data(), search, found)) continue;
    found.mpiexec = launcher.data();
    mpis.add(found);
  }
}

// What the system's loader finds by its name alone.
bool find_by_name(const Search& search, Mpi& found) {
  for (const LibraryName& known : names_after(search.start)) {
    static Path plugin, name;
    if (!find_plugin(search.home, known.abi, plugin) || !join(name, known.file)) continue;
    if (open_library(name.data()) == nullptr) continue;
    found = {.abi = known.abi, .library = known.file};
    return true;
  }
  return false;
}

void set_environment(const Mpi& mpi) {
  for (std::string_view value : mpi.env) {
    static Path name, text;
    if (join(name, take(value, '=')) && join(text, value)) {
      setenv(name.data(), text.data(), 1);
    }
  }
}

int nothing_fits(const Start& start, const Path& list, const Mpis& installed) {
  static Path known;
  std::string_view labels;
  for (const Mpi& mpi : installed) {
    static Path before;
    const bool kept =
        join(before, labels, labels.empty() ? "" : ", ", mpi.label) && join(known, before.data());
    if (kept) labels = known.data();
  }
  const char* kind = start.family == Family::openmpi ? "Open MPI's" : "MPICH's or Intel MPI's";
  return refuse(
      "found no library of an MPI that %s mpirun can start: LD_LIBRARY_PATH, the launcher's folder "
      "and the system's loader have none, and of those in %s (%s) none fits or is still there; "
      "load the MPI's module, or set MPIGAUGE_LIBMPI to its libmpi.so, or install for it with "
      "`mpigauge imb install`",
      start.sure ? kind : "any", list.data(), labels.empty() ? "none" : known.data());
}

int as_suite(const Path& home, const Mpi& mpi, int argc, char** argv) {
  static Path library, plugin;
  set_environment(mpi);
  if (!join(library, mpi.library)) return refuse("the path of an MPI library is too long");
  void* opened = open_library(library.data());
  if (opened == nullptr) return refuse("cannot open MPI %s: %s", library.data(), reason());
  const Abi abi = abi_of(opened);
  if (abi == Abi::none) {
    return refuse("%s is not an MPI library of MPICH's, Open MPI's or the standard ABI",
                  library.data());
  }
  if (!find_plugin(home, abi, plugin)) {
    return refuse(
        "there are no kernels for the ABI of %s: %s is missing; install for it with "
        "`mpigauge imb install`",
        library.data(), plugin.data());
  }
  return enter(plugin.data(), "mpigauge_imb", argc, argv);
}

int as_suite(int argc, char** argv) {
  static Path home, list;
  static std::array<char, 1 << 16> text;
  static Mpis installed, mpis;
  std::size_t length = 0;
  if (!find_home(home, list)) {
    return refuse(
        "there is no mpigauge/mpis.txt beside the program: install it with `mpigauge imb "
        "install DIR`, and move or copy DIR as a whole");
  }
  if (!read_text(list.data(), text, length)) return refuse("cannot read %s", list.data());
  if (const int line = read_mpis({text.data(), length}, installed); line != 0) {
    return refuse("line %d of %s makes no sense", line, list.data());
  }
  if (const char* library = std::getenv("MPIGAUGE_LIBMPI")) {
    return as_suite(home, described(library, Abi::none, installed), argc, argv);
  }
  Start start = start_of([](const char* name) -> const char* { return std::getenv(name); });
  if (start.family != Family::unknown) find_launcher(start);
  const Search search{home, installed, start};
  add_offered(search, mpis);
  add_installed(search, mpis);
  add_of_launcher(search, mpis);
  if (const Mpi* mpi = choose(mpis.all(), start)) return as_suite(home, *mpi, argc, argv);
  Mpi found;
  if (find_by_name(search, found)) return as_suite(home, found, argc, argv);
  return nothing_fits(start, list, installed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 1 || !base_name(argv[0]).starts_with("IMB-")) return as_kernel(argc, argv);
  argv[0] += std::strlen(argv[0]) - base_name(argv[0]).size();
  self = argv[0];
  return as_suite(argc, argv);
}
