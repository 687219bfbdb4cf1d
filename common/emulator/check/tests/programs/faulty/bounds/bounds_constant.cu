// 9 weights in constant memory for a filter of radius 5.
__constant__ float weights[9];

__global__ void filter(float* out, int radius) {
  float sum = 0;
  for (int i = -radius; i <= radius; ++i)
    sum += weights[4 + i];  // finding: out_of_bounds reads object=weights bytes=36 count=64
  out[threadIdx.x] = sum;
}

int main() {
  const float host[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemcpyToSymbol(weights, host, sizeof host);
  filter<<<1, 32>>>(out, 5);
  cudaDeviceSynchronize();
  cudaFree(out);
}
