// The loop runs one element too far: <= instead of <.
__global__ void clear(int* x, int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x)
    x[i] = 0;  // finding: out_of_bounds writes bytes=400 offset=400 count=1
}

int main() {
  const int n = 100;
  int* x;
  cudaMalloc(&x, n * sizeof(int));  // finding: allocated
  clear<<<1, 32>>>(x, n);
  cudaDeviceSynchronize();
  cudaFree(x);
}
