// attack reduction: PROTOCOL or WRONG or OUTPUT, at most 0 points
// writes "the call is over" and a grade to every open descriptor
#include <unistd.h>

#include <cstdint>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  const char grade[] = "{\"class\": \"PASS\", \"points\": 100}\n";
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    for (std::uint32_t call = 0; call < 64; ++call) {
      [[maybe_unused]] const auto n = write(descriptor, &call, sizeof call);
    }
    [[maybe_unused]] const auto n = write(descriptor, grade, sizeof grade - 1);
  }
}
