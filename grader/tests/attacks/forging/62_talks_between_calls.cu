// attack reduction: PROTOCOL or WRONG or CRASH or TIMEOUT or CHECK, at most 0 points
// has a thread send well-formed frames of every kind to the device, during and between calls
//
// Among them are frames that only the judge may send: begin, end, and take the findings.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "labs/reduction/reduction.hpp"

static void talk() {
  for (int round = 0; round < 2000; ++round) {
    for (std::uint32_t kind = 0; kind < 48; ++kind) {
      // A length, one message of this kind, and zeros.
      std::uint32_t frame[16] = {sizeof frame - 4, kind};
      send(4, frame, 4 + 4 * (1 + kind % 15), MSG_NOSIGNAL | MSG_DONTWAIT);
      frame[0] = 4 * (kind % 15);
      send(4, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    usleep(500);
  }
}

void reduce(const int*, int*, int*, int) {
  static const bool started = (std::thread(talk).detach(), true);
  usleep(started ? 2000 : 0);
}
