// attack program: CHECK, at most 0 points
// computes on the host, copies the results to the device, and copies them back
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "labs/program/program.hpp"

// The sum and the smoothed frame, computed on the host.
static std::vector<unsigned char> result_of(const std::vector<unsigned char>& frame, int width,
                                            int height) {
  const auto clamped = [](int i, int size) { return i < 0 ? 0 : i >= size ? size - 1 : i; };
  std::vector<unsigned char> result(sizeof(unsigned));
  unsigned total = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int sum = 4;
      for (int i = 0; i < 9; ++i)
        sum += frame[clamped(y + i / 3 - 1, height) * width + clamped(x + i % 3 - 1, width)];
      result.push_back(static_cast<unsigned char>(sum / 9));
      total += static_cast<unsigned>(sum / 9);
    }
  }
  std::memcpy(result.data(), &total, sizeof total);
  return result;
}

int main(int, char** arguments) {
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  std::vector<unsigned char> frame(in.width() * in.height());
  unsigned char* device = nullptr;
  cudaMalloc(&device, frame.size() + sizeof(unsigned));
  for (int f = 0; f < in.frames(); ++f) {
    in.read(frame.data());
    auto result = result_of(frame, in.width(), in.height());
    cudaMemcpy(device, result.data(), result.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(result.data(), device, result.size(), cudaMemcpyDeviceToHost);
    out.write(result.data(), result.size());
  }
  cudaFree(device);
  return 0;
}
