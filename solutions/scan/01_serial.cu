// scan 01_serial: one thread adds element after element.
//
// idea    Each sum is the one before it plus one element. A loop needs n - 1 additions, fewer than
//         any other way, and each waits for the one before it.
// watch   One of several hundred thousand threads works, and one load at a time is in flight.
// needs   nothing.
// source  The definition of a prefix sum.
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

__global__ void scan_kernel(const unsigned* in, unsigned* out, int n) {
  //> todo: store the sum of the first i + 1 elements in out[i], for all i.
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    out[i] = sum;
  }
  //<
}

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  scan_kernel<<<1, 1>>>(in, out, n);
  check(cudaGetLastError());
}
