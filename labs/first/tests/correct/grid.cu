// first, correct: a thread per pixel in two-dimensional blocks.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/first/first.hpp"

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + (width - 1 - x)];
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  check(cudaMalloc(&device_in, bytes));
  check(cudaMalloc(&device_out, bytes));
  check(cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice));
  const dim3 block(32, 8);
  const dim3 grid(ceil_div(width, 32), ceil_div(height, 8));
  mirror_kernel<<<grid, block>>>(device_in, device_out, width, height);
  check(cudaGetLastError());
  check(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(device_in));
  check(cudaFree(device_out));
}
