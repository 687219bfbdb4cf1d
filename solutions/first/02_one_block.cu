// first 02_one_block: the 256 threads of one block share the pixels.
//
// idea    Every thread executes the same kernel and finds its own number in threadIdx.x. Thread t
//         takes pixels t, t + 256, t + 512, ... While some threads wait for memory, others run. A
//         warp is 32 threads of a block that execute together; here, they move 32 adjacent pixels.
// watch   All threads of a block share one multiprocessor, but the GPU has many multiprocessors.
// needs   nothing: any width and height.
// source  CUDA C++ Programming Guide, "Thread Hierarchy".
#include "labs/first/first.hpp"

constexpr int block_size = 256;  // threads: 8 warps

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  //> todo: let thread t move every 256th pixel, starting with pixel t.
  for (int i = threadIdx.x; i < width * height; i += blockDim.x) {
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
  //> todo: launch the kernel with one block of block_size threads.
  mirror_kernel<<<1, block_size>>>(device_in, device_out, width, height);
  //<
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
}
