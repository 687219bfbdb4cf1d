// first, a beginner's mistake: all threads increment one counter with ++.
#include <cstdio>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/first/first.hpp"

constexpr int block_size = 256;

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height,
                              int* bright) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    const int x = i % width, y = i / width;
    out[i] = in[y * width + (width - 1 - x)];
    if (out[i] >= 128) ++*bright;
  }
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  int* device_bright = nullptr;
  int bright = 0;
  check(cudaMalloc(&device_in, bytes));
  check(cudaMalloc(&device_out, bytes));
  check(cudaMalloc(&device_bright, sizeof(int)));
  check(cudaMemset(device_bright, 0, sizeof(int)));
  check(cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice));
  const int blocks = ceil_div(bytes, block_size);
  mirror_kernel<<<blocks, block_size>>>(device_in, device_out, width, height, device_bright);
  check(cudaGetLastError());
  check(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&bright, device_bright, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d of %d pixels are bright\n", bright, bytes);
  check(cudaFree(device_in));
  check(cudaFree(device_out));
  check(cudaFree(device_bright));
}
