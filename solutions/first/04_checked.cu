// first 04_checked: every call is checked for errors.
//
// idea    Runtime calls return an error code, which is easily ignored. A launch returns nothing and
//         leaves its error for cudaGetLastError(). check() throws an exception that names the line,
//         so the first failure ends the call where it happened.
// watch   A launch is asynchronous. If the kernel fails, a later call that waits for it reports the
//         error: here, the copy back. Only `./lab check` names the line in the kernel.
// gain    None in time, but an ignored error shows up later, as a wrong picture.
// needs   nothing. An exception leaves the device memory allocated. A class with a destructor would
//         free it.
// source  CUDA C++ Programming Guide, "Error Checking".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/first/first.hpp"

constexpr int block_size = 256;  // threads: 8 warps

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
  //> todo: as before, but check every call, and check cudaGetLastError() after the launch.
  check(cudaMalloc(&device_in, bytes));
  check(cudaMalloc(&device_out, bytes));
  check(cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice));
  const int blocks = ceil_div(width * height, block_size);
  mirror_kernel<<<blocks, block_size>>>(device_in, device_out, width, height);
  check(cudaGetLastError());
  check(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(device_in));
  check(cudaFree(device_out));
  //<
}
