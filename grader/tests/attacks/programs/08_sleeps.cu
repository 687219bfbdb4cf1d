// attack program: TIMEOUT, at most 0 points
// sleeps until it is stopped
#include <unistd.h>

#include "labs/program/program.hpp"

int main(int, char**) {
  sleep(60);
  return 0;
}
