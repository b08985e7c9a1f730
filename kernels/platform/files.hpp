// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Folders for files that must not outlive the process, and the page cache.
#pragma once

#include <cstddef>
#include <string>

namespace mpigauge::platform {

/// Why no files can be made in that folder; empty where they can.
std::string why_not_writable(const std::string& folder);
/// Bytes that can still be written in the file system of a folder.
std::size_t free_bytes(const std::string& folder);

/// A folder that is removed with the files in it: by the destructor, or, when the process ends in
/// any other way (a signal, an abort), by a watcher process that sees it end. Nothing has to be
/// caught for that, so it also works when the launcher kills.
class OwnFolder {
 public:
  /// Takes the path when it makes the folder; none when it was there already (another process of
  /// this host was first and owns it). Throws std::system_error when it cannot be made.
  static OwnFolder make(const std::string& path);
  OwnFolder() = default;
  ~OwnFolder();
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&& other) noexcept;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

 private:
  std::string path_;  // empty: none
  int watched_ = -1;  // the watcher sees this end close
};

/// Asks the system to forget the pages of a file; they must have been written to disk.
void drop_from_page_cache(const std::string& file);
/// Which share of a file's pages this host holds in memory, 0 to 1; 0 for an empty file.
double share_in_page_cache(const std::string& file);

}  // namespace mpigauge::platform
