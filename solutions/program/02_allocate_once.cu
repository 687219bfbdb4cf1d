// program 02_allocate_once: the device memory is allocated once, and its owner frees it.
//
// idea    cudaMalloc() and cudaFree() take longer than a small kernel, and cudaFree() waits for the
//         device. All frames have the same size, so one allocation serves them all. An object owns
//         the memory: its destructor frees the memory on every path out of main(), also if check()
//         throws an exception.
// watch   How much of the time are the copies, and how much are the kernels?
// needs   frames of one size.
// source  C++ Core Guidelines, R.1 (RAII).
#include <vector>

#include "common/lab/check.hpp"
#include "labs/program/kernels.hpp"
#include "labs/program/program.hpp"

//> todo: write a class whose constructor allocates device memory and whose destructor frees it.
class device_bytes {
 public:
  explicit device_bytes(std::size_t count) { check(cudaMalloc(&data_, count)); }
  ~device_bytes() { cudaFree(data_); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
};
//<

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return usage();
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  const int width = in.width(), height = in.height(), pixels = width * height;
  const std::size_t result_bytes = sizeof(unsigned) + pixels;  // the sum, then the pixels
  std::vector<unsigned char> frame(pixels), result(result_bytes);
  //> todo: allocate before the loop: a frame, and a result with the sum in front of the pixels.
  const device_bytes device_frame(pixels), device_result(result_bytes);
  unsigned* const sum = reinterpret_cast<unsigned*>(device_result.data());
  unsigned char* const smoothed = device_result.data() + sizeof(unsigned);
  //<
  for (int f = 0; f < in.frames(); ++f) {
    in.read(frame.data());
    //> todo: as before, but without cudaMalloc() and cudaFree().
    check(cudaMemcpy(device_frame.data(), frame.data(), pixels, cudaMemcpyHostToDevice));
    check(cudaMemset(sum, 0, sizeof(unsigned)));
    smooth<<<tiles_of(width, height), tile>>>(device_frame.data(), smoothed, width, height);
    check(cudaGetLastError());
    add_up<<<sum_blocks, sum_threads>>>(smoothed, pixels, sum);
    check(cudaGetLastError());
    check(cudaMemcpy(result.data(), device_result.data(), result_bytes, cudaMemcpyDeviceToHost));
    //<
    out.write(result.data(), result_bytes);
  }
  return 0;
}
