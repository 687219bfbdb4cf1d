// The launch gives 64 elements of shared memory to 128 threads.
__global__ void reverse(int* x) {
  extern __shared__ int line[];
  const int i = threadIdx.x;
  line[i] = x[i];  // finding: too_little_shared writes bytes=256 count=128 says=at_least_512_bytes
  __syncthreads();
  x[i] = line[blockDim.x - 1 - i];
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  reverse<<<1, 128, 64 * sizeof(int)>>>(x);  // finding: called
  cudaDeviceSynchronize();
  cudaFree(x);
}
