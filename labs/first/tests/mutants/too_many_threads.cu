// first mutant: requests 2048 threads per block, which fails, and does not check for the error.
#include "common/lab/ceil_div.hpp"
#include "labs/first/first.hpp"

constexpr int block_size = 256;

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    const int x = i % width, y = i / width;
    out[i] = in[y * width + (width - 1 - x)];
  }
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice);
  mirror_kernel<<<ceil_div(bytes, 2048), 2048>>>(device_in, device_out, width, height);
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
}
