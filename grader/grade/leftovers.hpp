// Finds everything that a command left on this machine: processes, files, mounts.
//
// idea    The watching process becomes a subreaper, the parent of all orphans. Processes that a
//         command left running are therefore among our children, however they tried to hide. Files
//         are searched where a program may write, by listing folders before and after.
// watch   Another program's new file in such a folder looks like the command's, so only folders of
//         our own are compared completely; elsewhere only names with "stepwise-attack".
// Tested by tests/attack_test.cpp.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stepwise {

class leftovers {
 public:
  // In the folders `own`, nothing new may be left. Makes this process a subreaper.
  explicit leftovers(std::vector<std::filesystem::path> own);

  // Everything that is new. Processes get two seconds to end, and are then killed; files with the
  // mark are removed.
  std::vector<std::string> find();

 private:
  std::vector<std::filesystem::path> own_;
  std::set<std::string> files_, mounts_;
};

}  // namespace stepwise
