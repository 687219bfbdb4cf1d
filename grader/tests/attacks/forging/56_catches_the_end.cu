// attack reduction: PROTOCOL or CRASH, at most 0 points
// turns its own crash into a successful exit
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include "labs/reduction/reduction.hpp"

static void end(int) { _exit(0); }

void reduce(const int*, int*, int*, int) {
  for (const int what : {SIGSEGV, SIGABRT, SIGTERM}) std::signal(what, end);
  *static_cast<volatile int*>(nullptr) = 0;
}
