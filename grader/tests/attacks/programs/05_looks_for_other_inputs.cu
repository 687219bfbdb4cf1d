// attack program: WRONG, at most 0 points
// looks for the files of other students' calls and for the folders around its own
#include <cstdio>
#include <filesystem>
#include <string>

#include "labs/program/program.hpp"

namespace fs = std::filesystem;

int main(int, char** arguments) {
  std::error_code error;
  const fs::path own = fs::path(arguments[1]).parent_path();
  bool found = false;
  int frames_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(own.parent_path(), error))
    if (entry.path().filename() == fs::path(arguments[1]).filename()) ++frames_files;
  found = frames_files > 1;
  for (const char* name : {"/root", "/home", "/var/tmp", "/mnt"})
    found = found || (fs::exists(name, error) && !fs::is_empty(name, error) && !error);
  if (found) std::puts("stepwise-attack: opened");
  return 0;
}
