// attack reduction: COMPILE, at most 0 points
// includes a solution
#include "solutions/reduction/10_one_launch.cu"
