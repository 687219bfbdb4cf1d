// A float4 must begin at a multiple of four floats. Row 1 of a matrix with 33 columns does not.
__global__ void rows(const float* x, float* y) {
  const int row = threadIdx.x;
  // finding: misaligned reads count=3
  const float4 v = *reinterpret_cast<const float4*>(x + 33 * row);
  y[row] = v.x + v.y + v.z + v.w;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4 * 33 * sizeof(float));  // finding: allocated
  cudaMalloc(&y, 4 * sizeof(float));
  cudaMemset(x, 0, 4 * 33 * sizeof(float));
  rows<<<1, 4>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
