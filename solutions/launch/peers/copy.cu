// launch peer: the yardstick. Adding reads 8 n bytes and writes 4 n; a copy reads as many as it
// writes. So 6 n are copied, which moves 12 n in all: x whole, and half of y over it, since z has
// room for 4 n.
// watch   Writes are half of the traffic here, and a third of it where arrays are added; and there
//         are two copies, one after the other: for small n, that is a launch more.
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

void add(const float* x, const float* y, float* z, int n) {
  const std::size_t bytes = sizeof(float) * n;
  check(cudaMemcpyAsync(z, x, bytes, cudaMemcpyDeviceToDevice));
  check(cudaMemcpyAsync(z, y, bytes / 2, cudaMemcpyDeviceToDevice));
}
