// The files that a folder or an archive holds, none of them trusted.
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
  std::string path;  // below the folder, or as the archive names it
  std::uint64_t bytes = 0;
  fs::path content;  // a regular file that holds it; empty: it was not read
};

struct members {
  std::vector<member> all;
  std::string broken;  // why some of it was not read; empty: all was
};

// What is read from an archive; other members are only listed.
struct archive_limits {
  std::uint64_t bytes = 0, file_bytes = 0;
  int files = 0;
  std::vector<std::string> endings;  // in lower case; none: all
};

// Of a folder and those below it, at most eight deep and 100 000 files, by name. Links are listed
// and not followed. failure(usage) if there is no such folder.
members read_folder(const fs::path& folder);

// Of a zip or a tar, perhaps compressed: read by another process, in a sandbox where `guards` has
// one; contents go to the folder `to`, which is there and empty. `script` is unpack.py.
// failure(environment) if there is no Python.
members read_archive(const fs::path& archive, const fs::path& to, const archive_limits& limits,
                     const fs::path& script, const protections& guards,
                     const std::function<void()>& tick);

// By its name.
bool is_archive(std::string_view path);

}  // namespace stepwise::batch
