// A branch depends on the last element of each thread, but some threads have no element.
__global__ void flags(const int* x, int* y, int n) {
  int last;
  for (int i = threadIdx.x; i < n; i += blockDim.x) last = x[i];
  if (last == 7)  // finding: unset_variable reads says=last count=24
    atomicAdd(y, 1);
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  flags<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
