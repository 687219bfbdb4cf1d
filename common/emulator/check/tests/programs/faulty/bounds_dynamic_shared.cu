// The launch gives 64 elements of shared memory to 128 threads.
__global__ void reverse(int* x) {
  extern __shared__ int line[];
  const int i = threadIdx.x;
  line[i] = x[i];  // finding 1: out_of_bounds writes bytes=256 offset=256 count=64
  __syncthreads();
  x[i] = line[blockDim.x - 1 - i];  // finding 2: out_of_bounds reads bytes=256 count=64
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  reverse<<<1, 128, 64 * sizeof(int)>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
