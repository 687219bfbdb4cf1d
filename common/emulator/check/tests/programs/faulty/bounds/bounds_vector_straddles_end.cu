// Ten floats are two and a half float4, so the third load ends outside.
__global__ void sum(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];  // finding: out_of_bounds reads bytes=40 offset=32 count=1
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 10 * sizeof(float));  // finding: allocated
  cudaMalloc(&y, 3 * sizeof(float));
  cudaMemset(x, 0, 10 * sizeof(float));
  sum<<<1, 3>>>(reinterpret_cast<const float4*>(x), y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
