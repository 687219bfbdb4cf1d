// first 01_one_thread: a single thread of the GPU moves every pixel.
//
// idea    A kernel runs on the device and sees device memory only. The host therefore allocates
//         memory there, copies the picture to it, launches the kernel, copies the result back, and
//         frees the memory. The single thread does exactly what a CPU would do.
// watch   The thread waits for memory at every pixel, and no other thread works in the meantime.
// needs   nothing: any width and height.
// source  CUDA C++ Programming Guide, "Kernels" and "Device Memory".
#include "labs/first/first.hpp"

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  //> todo: write two loops, over the rows and over the pixels of a row, as in the contract.
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) out[y * width + x] = in[y * width + (width - 1 - x)];
  //<
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  //> todo: allocate `bytes` bytes of device memory for each of the two pictures.
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  //<
  //> todo: copy the picture from the host to the device.
  cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice);
  //<
  mirror_kernel<<<1, 1>>>(device_in, device_out, width, height);
  //> todo: copy the result from the device to the host.
  cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost);
  //<
  //> todo: free the device memory.
  cudaFree(device_in);
  cudaFree(device_out);
  //<
}
