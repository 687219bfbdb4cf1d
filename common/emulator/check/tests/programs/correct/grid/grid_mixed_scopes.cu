// Block-scope atomics on a counter of each block, device-scope ones on a counter of all blocks.
__global__ void count(int* of_block, int* of_all) {
  atomicAdd_block(&of_block[blockIdx.x], 1);
  atomicAdd(of_all, 1);
  atomicAdd_system(of_all, 1);
}

int main() {
  int host[5], *counters;
  cudaMalloc(&counters, sizeof host);
  cudaMemset(counters, 0, sizeof host);
  count<<<4, 64>>>(counters, counters + 4);
  cudaMemcpy(host, counters, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(counters);
  return host[0] == 64 && host[3] == 64 && host[4] == 512 ? 0 : 1;
}
