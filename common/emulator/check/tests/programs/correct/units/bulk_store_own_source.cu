// A thread writes a line and copies it to global memory. It waits for the copy before it changes
// the line.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int line[4];
  for (int i = 0; i < 4; ++i) line[i] = i;
  fence_proxy_async();
  store_bytes(out, line, sizeof line);
  commit_stores();
  wait_for_reads<0>();
  line[0] = 7;
  fence_proxy_async();
  store_bytes(out + 4, line, sizeof line);
  commit_stores();
  wait_for_reads<0>();
}

int main() {
  int* out;
  cudaMalloc(&out, 8 * sizeof(int));
  fill<<<1, 1>>>(out);
  const bool right = holds(out, 8, [](int i) { return i == 4 ? 7 : i % 4; });
  cudaFree(out);
  return right ? 0 : 1;
}
