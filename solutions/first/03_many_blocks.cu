// first 03_many_blocks: one thread per pixel, in as many blocks as that takes.
//
// idea    The loop over the pixels becomes the grid. Blocks are independent of each other, so the
//         GPU distributes them over all of its multiprocessors, in any order.
// watch   The grid consists of whole blocks, so some threads of the last block have no pixel. Also,
//         no call is checked for errors yet.
// needs   nothing: threads beyond the last pixel do nothing.
// source  CUDA C++ Programming Guide, "Thread Hierarchy".
#include "common/lab/ceil_div.hpp"
#include "labs/first/first.hpp"

constexpr int block_size = 256;  // threads: 8 warps

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  //> todo: compute this thread's number in the whole grid, and move the pixel with that number.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    const int x = i % width, y = i / width;
    out[i] = in[y * width + (width - 1 - x)];
  }
  //<
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice);
  //> todo: launch enough blocks for every pixel to have a thread.
  const int blocks = ceil_div(width * height, block_size);
  mirror_kernel<<<blocks, block_size>>>(device_in, device_out, width, height);
  //<
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
}
