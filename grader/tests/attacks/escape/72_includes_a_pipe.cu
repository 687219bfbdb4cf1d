// attack reduction: COMPILE or WRONG, at most 0 points
// includes a file that is empty in the sandbox, but a pipe for a grader that reads it outside
#include "/dev/null"
#include "/proc/1/fd/0"
#include "/proc/self/fd/0"
#include "labs/reduction/reduction.hpp"

int
#include "/proc/sys/kernel/ostype"
    ;

void reduce(const int*, int*, int*, int) {}
