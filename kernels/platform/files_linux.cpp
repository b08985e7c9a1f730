// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/files.hpp"

namespace mpigauge::platform {

namespace {

/// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::vector<int> open_descriptors() {
  std::vector<int> open;
  DIR* listing = opendir("/proc/self/fd");
  if (listing == nullptr) return open;
  while (const dirent* entry = readdir(listing)) {
    const char* name = entry->d_name;
    int number = -1;
    std::from_chars(name, name + std::strlen(name), number);
    if (number >= 0 && number != dirfd(listing)) open.push_back(number);
  }
  closedir(listing);
  return open;
}

// Reads until the other end of the pipe is closed, by whatever ended its owner; then removes the
// folder. More than one try, since other ranks may just be making files in it.
constexpr const char* watch_script =
    "trap '' HUP INT TERM; cat >/dev/null; "
    "for n in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- \"$1\" && exit; sleep 1; done";

// The watcher is a process of its own session, with nothing of ours open but the pipe: launchers
// that end a process group leave it alone, and do not wait for it. Spawned, not forked: memory that
// a network card uses must not be copied.
void spawn_watcher(const std::string& path, int pipe_end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_end, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  for (const int open : open_descriptors()) {
    if (open > STDERR_FILENO) posix_spawn_file_actions_addclose(&actions, open);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::array<std::string, 5> words{"sh", "-c", watch_script, "mpigauge-watcher", path};
  std::array<char*, 6> argv{};
  std::transform(words.begin(), words.end(), argv.begin(), [](auto& word) { return word.data(); });
  // Nothing of the environment: a library that is preloaded into us has no business there.
  std::string search = "PATH=/usr/bin:/bin";
  std::array<char*, 2> environment{search.data(), nullptr};
  pid_t watcher = 0;
  const int failed =
      posix_spawn(&watcher, "/bin/sh", &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    throw_errno("cannot start /bin/sh, which removes " + path + " should we be killed");
  }
}

}  // namespace

std::string why_not_writable(const std::string& folder) {
  struct stat facts{};
  if (stat(folder.c_str(), &facts) != 0) return std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return "it is not a folder";
  // access() says nothing about file systems that are full, read-only or squash root.
  std::string trial = folder + "/mpigauge-trial-XXXXXX";
  if (mkdtemp(trial.data()) == nullptr) return std::strerror(errno);
  rmdir(trial.c_str());
  return "";
}

std::size_t free_bytes(const std::string& folder) {
  struct statvfs facts{};
  if (statvfs(folder.c_str(), &facts) != 0) throw_errno("cannot ask how much is free in " + folder);
  return static_cast<std::size_t>(facts.f_bavail) * facts.f_frsize;
}

OwnFolder OwnFolder::make(const std::string& path) {
  OwnFolder made;
  if (mkdir(path.c_str(), S_IRWXU) != 0) {
    if (errno == EEXIST) return made;
    throw_errno("cannot make the folder " + path);
  }
  made.path_ = path;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  const Descriptor for_watcher(ends[0]);
  made.watched_ = ends[1];
  spawn_watcher(path, for_watcher.number());
  return made;
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) {
    std::error_code ignored;  // the watcher tries again
    std::filesystem::remove_all(path_, ignored);
  }
  if (watched_ >= 0) close(watched_);
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), watched_(std::exchange(other.watched_, -1)) {}

OwnFolder& OwnFolder::operator=(OwnFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(watched_, other.watched_);
  return *this;
}

void drop_from_page_cache(const std::string& file) {
  const Descriptor open_file(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open_file) return;
  fdatasync(open_file.number());  // dirty pages are not dropped
  posix_fadvise(open_file.number(), 0, 0, POSIX_FADV_DONTNEED);
}

double share_in_page_cache(const std::string& file) {
  const Descriptor open_file(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  if (!open_file || fstat(open_file.number(), &facts) != 0 || facts.st_size == 0) return 0;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, open_file.number(), 0);
  if (mapped == MAP_FAILED) return 0;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const bool told = mincore(mapped, bytes, resident.data()) == 0;
  munmap(mapped, bytes);
  if (!told) return 0;
  const auto held = std::count_if(resident.begin(), resident.end(),
                                  [](unsigned char flags) { return (flags & 1U) != 0; });
  return static_cast<double>(held) / static_cast<double>(resident.size());
}

}  // namespace mpigauge::platform
