// attack reduction: COMPILE, at most 0 points
// includes a system file, which the compiler would quote
#include "/etc/passwd"
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {}
