// attack reduction: PROTOCOL, at most 0 points
// ends the program successfully
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) { _exit(0); }
