// What a command left behind on this machine: processes, files, mounts.
//
// idea    The watching process becomes the parent of all that loses its own (a subreaper): what a
//         command started and did not end is found among our children, whatever it did to hide.
//         Files are looked for where a program may write: folders are listed before and after.
// watch   Another program's new file in such a folder is taken for one of the command's, so only
//         folders of our own are compared whole; elsewhere only names that hold "stepwise-attack".
// Tested by tests/attack_test.cpp.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stepwise {

class leftovers {
 public:
  // `own`: folders in which nothing may be left that was not there. Makes this process a subreaper.
  explicit leftovers(std::vector<std::filesystem::path> own);

  // What is there now and was not. Processes get two seconds to end, and are then killed; files
  // with the mark are removed.
  std::vector<std::string> find();

 private:
  std::vector<std::filesystem::path> own_;
  std::set<std::string> files_, mounts_;
};

}  // namespace stepwise
