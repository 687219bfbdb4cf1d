// The thread changes the line while its own copy may still be reading it.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int line[4];
  for (int i = 0; i < 4; ++i) line[i] = i;
  fence_proxy_async();
  store_bytes(out, line, sizeof line);  // finding: race reads|copies object=line
  commit_stores();
  line[0] = 7;  // finding: race writes
  fence_proxy_async();
  store_bytes(out + 4, line, sizeof line);
  commit_stores();
  wait_for_reads<0>();
}

int main() {
  int* out;
  cudaMalloc(&out, 8 * sizeof(int));
  fill<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
