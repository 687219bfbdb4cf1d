// program 01_synchronous: each frame is copied, smoothed, added up and copied back, one by one.
//
// idea    A program for a GPU is a C++ program whose main() allocates device memory, copies to it,
//         launches kernels and copies back. Every call is checked, so that the first failure ends
//         the program with the line that failed.
// watch   Memory is allocated and freed for every frame, although all frames have the same size.
// needs   a frame of at most 2^24 pixels, so that the sum fits in 32 bits.
// source  CUDA C++ Programming Guide, "Device Memory" and "Error Checking".
#include <vector>

#include "common/lab/check.hpp"
#include "labs/program/kernels.hpp"
#include "labs/program/program.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return usage();
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  const int width = in.width(), height = in.height(), pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;  // the sum, then the pixels
  std::vector<unsigned char> frame(pixels), result(result_bytes);
  for (int f = 0; f < in.frames(); ++f) {
    in.read(frame.data());
    unsigned char* device_frame = nullptr;
    unsigned char* device_result = nullptr;
    //> todo: allocate, copy the frame, set the sum to 0, launch both kernels, copy back, free.
    check(cudaMalloc(&device_frame, pixels));
    check(cudaMalloc(&device_result, result_bytes));
    unsigned* const sum = reinterpret_cast<unsigned*>(device_result);
    unsigned char* const smoothed = device_result + sizeof(unsigned);
    check(cudaMemcpy(device_frame, frame.data(), pixels, cudaMemcpyHostToDevice));
    check(cudaMemset(sum, 0, sizeof(unsigned)));
    smooth<<<tiles_of(width, height), tile>>>(device_frame, smoothed, width, height);
    check(cudaGetLastError());
    add_up<<<sum_blocks, sum_threads>>>(smoothed, pixels, sum);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), device_result, result_bytes, cudaMemcpyDeviceToHost));
    check(cudaFree(device_frame));
    check(cudaFree(device_result));
    //<
    out.write(result.data(), result_bytes);
  }
  return 0;
}
