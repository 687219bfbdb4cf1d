// The grid is rounded up to whole blocks, and no thread checks whether its element exists.
__global__ void scale(float* x, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = by * i;  // finding: out_of_bounds writes bytes=4000 offset=4000 count=24
}

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));  // finding: allocated
  scale<<<(n + 255) / 256, 256>>>(x, 2.0f);
  cudaDeviceSynchronize();
  cudaFree(x);
}
