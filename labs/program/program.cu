// Generated from solutions/program/01_synchronous.cu by lab start.
// program 01_synchronous: each frame is copied, smoothed, added up and copied back, one by one.
//
// idea    A program for a GPU is a C++ program whose main() allocates device memory, copies to it,
//         launches kernels and copies back. Every call is checked, so that the first failure ends
//         the program with the line that failed.
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
    // TODO: allocate, copy the frame, set the sum to 0, launch both kernels, copy back, free.
    out.write(result.data(), result_bytes);
  }
  return 0;
}
