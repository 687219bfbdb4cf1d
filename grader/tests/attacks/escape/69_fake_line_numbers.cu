// attack reduction: COMPILE, at most 0 points
// says that it is another student's file, in an error
#include "labs/reduction/reduction.hpp"

#line 1 "labs/reduction/problem.cpp"
void reduce(const int*, int*, int*, int) { return 1; }
