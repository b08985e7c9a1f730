// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/library.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "platform/platform.hpp"

namespace mpigauge {

namespace {

std::string file_of_library() {
  Dl_info info{};
  if (dladdr(find_call("MPI_Init"), &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

// A number for a name, another one for each seed (FNV-1a).
std::uint32_t hash(std::string_view name, std::uint32_t seed) {
  std::uint32_t value = 2166136261U ^ seed;
  for (const char letter : name) value = (value ^ static_cast<unsigned char>(letter)) * 16777619U;
  return value;
}

MPI_Comm split_by_number(MPI_Comm comm, std::uint32_t number, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  call(MPI_Comm_split(comm, static_cast<int>(number & 0x7fffffffU), key, &part));
  return part;
}

// Twice, by two numbers: that two hosts share both is as good as impossible, and no rank has to
// hold all names.
MPI_Comm split_by_host_name(MPI_Comm comm, int key) {
  const std::string name = platform::host_name();
  MPI_Comm rough = split_by_number(comm, hash(name, 0), key);
  const MPI_Comm host = split_by_number(rough, hash(name, 0x9e3779b9U), key);
  call(MPI_Comm_free(&rough));
  return host;
}

}  // namespace

std::string library_text() {
  const auto get = find_as<int (*)(char*, int*)>("MPI_Get_library_version");
  if (get == nullptr) return "MPI-" + library_standard() + " library " + file_of_library();
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  call(get(text.data(), &length));
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_last_not_of(std::string("\n\0 ", 3)) + 1);
}

std::string library_standard() {
  int version = 0, subversion = 0;
  call(MPI_Get_version(&version, &subversion));
  return std::to_string(version) + '.' + std::to_string(subversion);
}

MPI_Comm split_by_host(MPI_Comm comm, int key) {
  const auto split =
      find_as<int (*)(MPI_Comm, int, int, MPI_Info, MPI_Comm*)>("MPI_Comm_split_type");
  if (split == nullptr) return split_by_host_name(comm, key);
  MPI_Comm host = MPI_COMM_NULL;
  call(split(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &host));
  return host;
}

}  // namespace mpigauge
