// An unset value passes through shared memory to another thread, which stores it.
__global__ void reverse(const int* x, int* y, int n) {
  __shared__ int tile[64];
  int value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  tile[threadIdx.x] = value;  // finding: unset_variable reads says=value count=24
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  reverse<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
