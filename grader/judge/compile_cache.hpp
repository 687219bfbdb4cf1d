// The cache of compiled programs. Each program has a folder, its entry.
//
// idea    An entry has the program, its kernels, the compiler's warnings, and a hash of every
//         header that the source included. Its name is a hash of the source, the flags and the
//         runner.
// Tested by tests/compile_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/judge/compile.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

// Adds the runner's archive to the hash that names an entry.
void add_archive(content_hash& hash, const fs::path& archive);

// Whether the entry is complete and every header below `root` is unchanged.
bool is_fresh(const fs::path& entry, const fs::path& root);
void mark_as_used(const fs::path& entry);

void remember_warnings(const fs::path& entry, const std::vector<compiler_warning>& warnings);
std::vector<compiler_warning> remembered_warnings(const fs::path& entry);

// Records the hashes of the headers in these make rules, except for headers in the temporary
// folders `passing`. This completes the entry.
void remember_headers(const fs::path& entry, const std::vector<fs::path>& rules,
                      const fs::path& root, const std::vector<fs::path>& passing);

// Removes the least recently used entries (a running program keeps its inode), and entries that a
// killed lab left behind more than a day ago.
void prune_cache(const fs::path& cache);

// Removes a cache entry that was not filled, for example because the compiler was interrupted.
class unfinished_entry {
 public:
  explicit unfinished_entry(const fs::path& entry) : entry_(entry) { make_folder(entry); }
  ~unfinished_entry() {
    std::error_code ignored;
    if (!filled_) fs::remove_all(entry_, ignored);
  }
  unfinished_entry(const unfinished_entry&) = delete;
  unfinished_entry& operator=(const unfinished_entry&) = delete;
  void keep() { filled_ = true; }

 private:
  const fs::path entry_;
  bool filled_ = false;
};

}  // namespace stepwise
