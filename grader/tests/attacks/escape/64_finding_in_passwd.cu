// attack reduction: CHECK or WRONG, at most 0 points
// has a race that seems to be in a line of /etc/passwd, which a finding would quote
#include "labs/reduction/reduction.hpp"

#line 1 "/etc/passwd"
__global__ void add_up(const int* in, int* out, int n) { out[0] = n + in[n]; }
void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 64>>>(in, out, n); }
