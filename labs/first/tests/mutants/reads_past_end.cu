// first mutant: takes width - x as the mirrored column.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/first/first.hpp"

constexpr int block_size = 256;

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    const int x = i % width, y = i / width;
    out[i] = in[y * width + (width - x)];
  }
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  check(cudaMalloc(&device_in, bytes));
  check(cudaMalloc(&device_out, bytes));
  check(cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice));
  const int blocks = ceil_div(bytes, block_size);
  mirror_kernel<<<blocks, block_size>>>(device_in, device_out, width, height);
  check(cudaGetLastError());
  check(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(device_in));
  check(cudaFree(device_out));
}
