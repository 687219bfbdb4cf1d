// attack reduction: COMPILE, at most 0 points
// has a compile error that seems to be in another file of the course
#include "labs/reduction/reduction.hpp"

#line 1 "labs/reduction/problem.cpp"
void reduce(const int*, int*, int*, int) { return 1; }
