// attack program: WRONG or CRASH or MEMORY, at most 0 points
// starts processes that would write a result after the program has ended
//
// There are at most 200 of them, for 20 seconds.
#include <unistd.h>

#include "labs/program/program.hpp"

int main(int, char** arguments) {
  for (int i = 0; i < 200; ++i) {
    if (fork() == 0) {
      setsid();
      sleep(20);
      result_writer late(arguments[2]);
      _exit(0);
    }
  }
  return 0;
}
