// attack reduction: WRONG or CRASH or MEMORY, at most 0 points
// writes 4 GB of files wherever it is allowed to
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  signal(SIGXFSZ, SIG_IGN);
  static char block[1 << 20];
  int left = 4096;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "."}) {
    for (int number = 0; number < 16 && left > 0; ++number) {
      const std::string file = std::string(folder) + "/stepwise-attack-" + std::to_string(number);
      const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (descriptor < 0) break;
      while (left > 0 && write(descriptor, block, sizeof block) == sizeof block) --left;
      close(descriptor);
    }
  }
}
