// attack reduction: COMPILE or WRONG, at most 0 points
// includes what is empty in a sandbox and a pipe outside, for a grader that reads what was included
#include "/dev/null"
#include "/proc/1/fd/0"
#include "/proc/self/fd/0"
#include "labs/reduction/reduction.hpp"

int
#include "/proc/sys/kernel/ostype"
    ;

void reduce(const int*, int*, int*, int) {}
