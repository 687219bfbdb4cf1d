// Generated from solutions/first/01_one_thread.cu by lab start.
// first 01_one_thread: a single thread of the GPU moves every pixel.
//
// idea    A kernel runs on the device and sees device memory only. The host therefore allocates
//         memory there, copies the picture to it, launches the kernel, copies the result back, and
//         frees the memory. The single thread does exactly what a CPU would do.
// needs   nothing: any width and height.
// source  CUDA C++ Programming Guide, "Kernels" and "Device Memory".
#include "labs/first/first.hpp"

__global__ void mirror_kernel(const unsigned char* in, unsigned char* out, int width, int height) {
  // TODO: write two loops, over the rows and over the pixels of a row, as in the contract.
}

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const int bytes = width * height;
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  // TODO: allocate `bytes` bytes of device memory for each of the two pictures.
  // TODO: copy the picture from the host to the device.
  mirror_kernel<<<1, 1>>>(device_in, device_out, width, height);
  // TODO: copy the result from the device to the host.
  // TODO: free the device memory.
}
