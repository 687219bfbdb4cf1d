// A write past the end of memory that host and device share.
__global__ void fill(int* x, int n) {
  const int i = threadIdx.x;
  if (i <= n) x[i] = i;  // finding: out_of_bounds writes bytes=400 offset=400 count=1
}

int main() {
  int* x;
  cudaMallocManaged(&x, 100 * sizeof(int));  // finding: allocated
  fill<<<1, 128>>>(x, 100);
  cudaDeviceSynchronize();
  cudaFree(x);
}
