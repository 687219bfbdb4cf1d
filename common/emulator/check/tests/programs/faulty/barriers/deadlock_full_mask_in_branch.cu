// A full mask in a branch that half of the warp takes, while the other half waits at a barrier.
__global__ void sum(int* x) {
  const int i = threadIdx.x;
  int value = i;
  if (i < 16)
    value += __shfl_xor_sync(~0u, value, 1);  // finding: deadlock wait
  else
    __syncwarp(0xffff0000);
  x[i] = value;
  __syncthreads();  // finding: deadlock wait
  x[i] += 1;
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  sum<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
