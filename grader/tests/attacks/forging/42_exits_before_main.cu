// attack reduction: PROTOCOL, at most 0 points
// ends the program before it begins
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

struct early {
  early() { _exit(0); }
} now;

void reduce(const int*, int*, int*, int) {}
