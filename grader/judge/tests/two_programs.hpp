// Two fake runners of different speed, for comparisons of times.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "grader/judge/tests/doubling.hpp"
#include "grader/system/files.hpp"

namespace stepwise::tests {

// They are scripts, because each sets the environment for its program.
class two_programs {
 public:
  two_programs(const std::string& mine_ms, const std::string& other_ms,
               const std::string& mine = "good", const std::string& other = "good")
      : work_(fs::temp_directory_path()) {
    write("mine", mine, mine_ms);
    write("build/solutions/doubling-00_first", other, other_ms);
  }
  fs::path mine() const { return work_.path() / "mine"; }
  fs::path build() const { return work_.path() / "build"; }
  fs::path other() const { return build() / "solutions/doubling-00_first"; }

  // The number of calls of "mine" so far whose log lines have all of these words.
  std::size_t calls(const std::vector<std::string>& words) const {
    std::istringstream log(read_file(work_.path() / "mine.log", 1));
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);)
      count += std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return line.find(word) != std::string::npos;
      });
    return count;
  }

 private:
  void write(const std::string& name, const std::string& what, const std::string& ms) {
    const fs::path file = work_.path() / name;
    write_atomically(file, "#!/bin/sh\nFAKE='" + what + "' FAKE_MS=" + ms + " FAKE_LOG='" +
                               file.string() + ".log' exec '" + fake_runner().string() +
                               "' \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  temporary_folder work_;
};

}  // namespace stepwise::tests
