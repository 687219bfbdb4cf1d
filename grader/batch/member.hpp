// The files that a folder or an archive holds, none of them trusted.
//
// Tested by tests/intake_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {
struct protections;
}

namespace stepwise::batch {

namespace fs = std::filesystem;

struct member {
  enum class kind { file, link, device } what = kind::file;
  std::string path;  // below the folder, or in the archive, as it says
  std::uint64_t bytes = 0;
  fs::path content;  // a regular file that holds it; empty: it was not read
};

struct members {
  std::vector<member> all;
  std::string broken;  // why there may be more that was not read; empty: that is all
};

// What is taken from an archive; the rest is only named.
struct archive_limits {
  std::uint64_t bytes = 0, file_bytes = 0;
  int files = 0;
  std::vector<std::string> endings;  // in small letters; none: all
};

// Of a folder and those below it, at most eight deep and 100 000 files, by name. Links are named
// and not followed. failure(environment) if the folder itself cannot be read.
members read_folder(const fs::path& folder);

// Of a zip or a tar, perhaps compressed: read by another process, in a sandbox where `guards` has
// one; contents go to the folder `to`, which is there and empty. `script` is unpack.py.
// failure(environment) if there is no Python.
members read_archive(const fs::path& archive, const fs::path& to, const archive_limits& limits,
                     const fs::path& script, const protections& guards,
                     const std::function<void()>& tick);

// Does the name say that it is an archive?
bool is_archive(std::string_view path);

// A regular file's first `most` bytes and one more, never through a link; nothing if it is none.
std::optional<std::string> read_untrusted(const fs::path& file, std::uint64_t most);

}  // namespace stepwise::batch
