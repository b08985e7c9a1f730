// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/folder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <map>

#include "platform/files.hpp"
#include "platform/platform.hpp"

namespace mpigauge::io {

namespace {

constexpr std::size_t most_name = 256;

// Host, process and time of the rank that makes it: no two jobs have the same.
std::string new_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return ("mpigauge-" + platform::host_name()).substr(0, most_name / 2) + '-' +
         std::to_string(platform::process_id()) + '-' + std::to_string(us);
}

// One name for all directories, made when it is first needed.
const std::string& own_name() {
  static const std::string name = new_name();
  return name;
}

std::string name_of_rank_0(MPI_Comm group) {
  std::array<char, most_name> name{};
  if (rank_in(group) == 0) std::copy(own_name().begin(), own_name().end(), name.begin());
  call(MPI_Bcast(name.data(), most_name, MPI_CHAR, 0, group));
  return name.data();
}

// Folders that this rank knows to be there; those that it made go with it.
std::map<std::string, platform::OwnFolder>& known() {
  static std::map<std::string, platform::OwnFolder> folders;
  return folders;
}

void make(const std::string& path, Trouble& trouble) {
  if (known().contains(path)) return;
  try {
    known().emplace(path, platform::OwnFolder::make(path));
  } catch (const std::exception& error) {
    trouble.note(error.what());
  }
}

}  // namespace

std::string folder_in(std::string_view directory, MPI_Comm group, Trouble& trouble) {
  const bool leader = rank_in(group) == 0;
  const std::string path = std::string(directory) + '/';
  if (leader) make(path + own_name(), trouble);
  const std::string folder = path + name_of_rank_0(group);
  if (!leader) make(folder, trouble);
  trouble.agree(group);
  return folder;
}

}  // namespace mpigauge::io
