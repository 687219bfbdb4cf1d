// attack reduction: WRONG, at most 0 points
// reads solutions and other users' files, and prints them
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* folder :
       {"solutions/reduction", "labs/reduction", "..", "/home", "/root", "/etc"}) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      std::ifstream file(entry.path());
      std::string line;
      if (std::getline(file, line))
        std::printf("stepwise-attack: %s\n", line.substr(0, 40).c_str());
    }
  }
}
