// A 2 x 2 tile of sums in registers, as in a matrix product.
__global__ void products(const float* a, float* c, int n) {
  float sum[2][2];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        sum[i][j] += a[2 * k + i] * a[2 * k + j];  // finding: unset_variable reads says=sum
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c[threadIdx.x * 4 + 2 * i + j] = sum[i][j];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  products<<<1, 64>>>(reinterpret_cast<float*>(x), reinterpret_cast<float*>(y), 4);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
