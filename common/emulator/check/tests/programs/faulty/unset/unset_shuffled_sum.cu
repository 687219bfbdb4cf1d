// Lanes without an element contribute an unset value to a warp's sum.
__global__ void warp_sum(const int* x, int* y, int n) {
  int value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  for (int step = 16; step > 0; step /= 2)
    // finding: unset_variable reads says=value
    value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = value;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  warp_sum<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
