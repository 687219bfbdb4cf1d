// attack reduction: WRONG or CRASH or MEMORY, at most 0 points
// starts 5000 threads that sleep
#include <unistd.h>

#include <system_error>
#include <thread>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  try {
    for (int i = 0; i < 5000; ++i) std::thread([] { sleep(20); }).detach();
  } catch (const std::system_error&) {
  }
}
