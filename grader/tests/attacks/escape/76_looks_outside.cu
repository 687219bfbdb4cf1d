// attack reduction: WRONG, at most 0 points
// looks for things that it inherited or shares: descriptors, abstract sockets, kernel lists
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  bool opened = false;
  // A program gets no descriptor of a folder, nor of a file that still has a name.
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0) continue;
    opened |= S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
    opened |= S_ISREG(about.st_mode) && about.st_nlink > 0;
  }
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.find('@');
    if (at == std::string::npos) continue;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto bytes = line.copy(address.sun_path, sizeof address.sun_path - 1, at);
    address.sun_path[0] = '\0';
    const int number = socket(AF_UNIX, SOCK_STREAM, 0);
    opened |= connect(number, reinterpret_cast<const sockaddr*>(&address),
                      static_cast<socklen_t>(sizeof(sa_family_t) + bytes)) == 0;
    close(number);
  }
  for (const char* name : {"keys", "kmsg", "kallsyms", "interrupts", "partitions", "timer_list",
                           "sched_debug", "config.gz", "cmdline", "modules", "vmallocinfo"}) {
    std::ifstream file("/proc/" + std::string(name));
    std::ostringstream text;
    opened |= static_cast<bool>(text << file.rdbuf()) && !text.str().empty();
  }
  if (opened) std::puts("stepwise-attack: opened");
}
