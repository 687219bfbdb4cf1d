// attack reduction: WRONG or PROTOCOL or CRASH, at most 0 points
// becomes another program, which exists only in memory, and leaves a copy of it running
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  std::ifstream self(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(self)), {});
  const int memory = memfd_create("stepwise-attack", 0);
  if (write(memory, image.data(), image.size()) != static_cast<ssize_t>(image.size())) return;
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int i = 3; i < 64; ++i) close(i == memory ? -1 : i);
    char* const arguments[] = {const_cast<char*>("sleeper"), const_cast<char*>("30"), nullptr};
    syscall(SYS_execveat, memory, "", arguments, nullptr, 0x1000 /* AT_EMPTY_PATH */);
    sleep(20);
    _exit(0);
  }
  char* const arguments[] = {const_cast<char*>("again"), const_cast<char*>("--judged"),
                             const_cast<char*>("3"), const_cast<char*>("6"), nullptr};
  char* const environment[] = {const_cast<char*>("STEPWISE_REMOTE_DEVICE="),
                               const_cast<char*>("LD_LIBRARY_PATH=/tmp"), nullptr};
  syscall(SYS_execveat, memory, "", arguments, environment, 0x1000);
}
