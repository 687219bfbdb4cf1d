// Constants; variables that are initialised or that the host sets; one that two kernels share.
__constant__ int weights[4] = {1, 2, 3, 4};
__constant__ int offsets[4];
__device__ int table[8] = {5};
__device__ int result[8];

__global__ void first() {
  const int i = threadIdx.x;
  result[i] = weights[i % 4] * table[i] + offsets[i % 4];
}

__global__ void second() { result[threadIdx.x] += 1; }

int main() {
  const int host[4] = {10, 20, 30, 40};
  int back[8];
  cudaMemcpyToSymbol(offsets, host, sizeof host);
  first<<<1, 8>>>();
  second<<<1, 8>>>();
  cudaMemcpyFromSymbol(back, result, sizeof back);
  return back[0] == 16 && back[7] == 41 ? 0 : 1;
}
