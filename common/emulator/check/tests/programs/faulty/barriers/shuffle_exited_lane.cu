// Lanes without an element have returned, but the shuffle reads from them.
__global__ void add_next(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const int mine = x[i];
  y[i] = mine + __shfl_down_sync(~0u, mine, 1);  // finding: inactive_source count=1
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 20 * sizeof(int));
  cudaMalloc(&y, 20 * sizeof(int));
  cudaMemset(x, 0, 20 * sizeof(int));
  add_next<<<1, 32>>>(x, y, 20);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
