// attack reduction: PROTOCOL or WRONG, at most 0 points
// has a thread report calls as ended before they have begun
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "labs/reduction/reduction.hpp"

struct early {
  early() {
    std::thread([] {
      for (std::uint32_t call = 0; call < 64; ++call) {
        for (int descriptor = 3; descriptor < 8; ++descriptor) {
          [[maybe_unused]] const auto n = write(descriptor, &call, sizeof call);
        }
        usleep(1000);
      }
    }).detach();
  }
} now;

void reduce(const int*, int*, int*, int) {}
