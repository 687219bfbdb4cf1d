// scan baseline: the yardstick. A scan must load n words and store n words, and so does a copy.
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  check(cudaMemcpyAsync(out, in, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice));
}
