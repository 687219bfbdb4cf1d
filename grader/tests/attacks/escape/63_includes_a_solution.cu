// attack reduction: COMPILE, at most 0 points
// is a solution, by an include
#include "solutions/reduction/10_one_launch.cu"
