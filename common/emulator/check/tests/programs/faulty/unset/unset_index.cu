// An index to which values are added, but which has no initial value.
__global__ void gather(const int* x, int* y, int n) {
  unsigned at;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    at += x[i];  // finding: unset_variable reads says=at
  atomicAdd(y + (at & 63), 1);
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  gather<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
