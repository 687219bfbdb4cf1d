// attack program: WRONG, at most 0 points
// writes to every folder that it can name outside of its own
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "labs/program/program.hpp"

namespace fs = std::filesystem;

int main(int, char** arguments) {
  bool written = false;
  std::error_code error;
  const fs::path own_program = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path folder : {fs::path("/"), fs::path("/usr"), fs::path("/etc"),
                                fs::path("/dev/shm"), fs::path("/var/tmp"), fs::path("/lib"),
                                fs::current_path(error), own_program.parent_path()}) {
    std::ofstream file(folder / "stepwise-attack");
    written = written || static_cast<bool>(file << "written" << std::flush);
  }
  if (written) std::printf("stepwise-attack: opened, from %s\n", arguments[0]);
  return 0;
}
