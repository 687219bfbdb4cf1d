// attack reduction: WRONG, at most 0 points
// searches environments and command lines for the seed
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int*, int* out, int*, int n) {
  int guess = n;
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    for (const char* what : {"environ", "cmdline"}) {
      std::ifstream file(process.path() / what, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const auto at = text.find("--seed");
      if (at != std::string::npos) guess = std::atoi(text.c_str() + at + 7);
    }
  }
  std::srand(static_cast<unsigned>(guess));
  store<<<1, 1>>>(out, std::rand());
}
