// blur baseline: the yardstick. Each colour is read once and a byte is written for it: the 5 bytes
// per pixel that must move, without any stage. A thread moves four pixels.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"

constexpr int threads = 256;

// `quads` whole quads, followed by `rest` pixels.
__global__ void move_kernel(const uchar4* rgba, unsigned char* out, int quads, int rest) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < quads) {
    const uint4 colours = reinterpret_cast<const uint4*>(rgba)[i];
    reinterpret_cast<unsigned*>(out)[i] = colours.x ^ colours.y ^ colours.z ^ colours.w;
  } else if (i < quads + rest) {
    const int pixel = 4 * quads + i - quads;
    out[pixel] = rgba[pixel].x;
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const int quads = width * height / 4, rest = width * height % 4;
  move_kernel<<<ceil_div(quads + rest, threads), threads>>>(rgba, out, quads, rest);
  check(cudaGetLastError());
}
