// The files in a folder or an archive. None of them is trusted.
//
// Tested by tests/intake_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace stepwise {
struct protections;
}

namespace stepwise::batch {

namespace fs = std::filesystem;

struct member {
  enum class kind { file, link, device } what = kind::file;
  std::string path;  // below the folder, or as named in the archive
  std::uint64_t bytes = 0;
  fs::path content;  // a regular file with its bytes; empty: it was not read
};

struct members {
  std::vector<member> all;
  std::string broken;  // why some files were not read; empty: all were read
};

// Limits on the members that are read from an archive. Other members are only listed.
struct archive_limits {
  std::uint64_t bytes = 0, file_bytes = 0;
  int files = 0;
  std::vector<std::string> endings;  // in lower case; empty: all
};

// Reads a folder and its subfolders, at most eight deep and 100 000 files, sorted by name. Links
// are listed but not followed. Throws failure(usage) if there is no such folder.
members read_folder(const fs::path& folder);

// Reads a zip or a tar, possibly compressed, in another process, in a sandbox if `guards` has one.
// Contents go to `to`, an existing empty folder. `script` is unpack.py. Throws failure(environment)
// if there is no Python.
members read_archive(const fs::path& archive, const fs::path& to, const archive_limits& limits,
                     const fs::path& script, const protections& guards,
                     const std::function<void()>& tick);

// Judges by the name's ending.
bool is_archive(std::string_view path);

}  // namespace stepwise::batch
