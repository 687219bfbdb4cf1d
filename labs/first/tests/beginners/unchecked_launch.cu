// first, a beginner's mistake: a block per row is too large for wide pictures; no error is checked.
#include "labs/first/first.hpp"

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * width + x] = in[y * width + (width - 1 - x)];
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice);
  mirror_kernel<<<height, width>>>(device_in, device_out, width, height);
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
}
