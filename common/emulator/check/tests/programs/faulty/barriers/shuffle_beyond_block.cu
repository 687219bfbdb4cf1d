// In a block of 48 threads, the second warp has 16 threads. Its lanes 16 and above do not exist.
__global__ void sum(int* out) {
  int mine = threadIdx.x;
  for (int d = 16; d > 0; d /= 2)
    mine += __shfl_down_sync(~0u, mine, d);  // finding: inactive_source
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = mine;
}

int main() {
  int* out;
  cudaMalloc(&out, 2 * sizeof(int));
  sum<<<1, 48>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
