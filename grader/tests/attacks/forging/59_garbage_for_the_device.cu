// attack reduction: PROTOCOL or WRONG or CRASH or TIMEOUT, at most 0 points
// sends random frames, empty frames, and frames that claim 4 GB to every socket
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !S_ISSOCK(about.st_mode)) continue;
    for (int frame = 0; frame < 200; ++frame) {
      std::uint32_t words[64];
      for (auto& word : words) word = random() >> (random() % 32);
      words[0] = frame % 3 == 0 ? frame % 40 : words[0];
      words[1] = frame % 4 == 0 ? 0xffffffffu : words[1];
      const std::size_t bytes = frame % 5 == 0 ? 4 : sizeof words;
      if (send(descriptor, words, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    }
  }
}
