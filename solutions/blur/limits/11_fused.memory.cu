// blur 11_fused, memory only: colours come in, halo included, bytes go out.
//
// keeps   Every access to global memory: each block reads the pixels of its tile and its halo, in
//         the same order, waits, and writes its own pixels.
// lacks   Grey, blur, edges, the tiles in shared memory between them, and three of four barriers. A
//         thread combines its reads into one word by exclusive-or.
// holds   8 blocks of 256 threads, all that a multiprocessor holds, as in the step, whose 26568
//         bytes of shared memory leave room for as many.
// A yardstick for `./lab limits blur`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"
#include "solutions/blur/parts/block_stride.hpp"

constexpr int cols = 64, rows = 32, threads = 256;  // per block

__global__ void __launch_bounds__(threads)
    edges_kernel(const unsigned* rgba, unsigned char* out, int width, int height) {
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  const auto inside = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height; };

  unsigned used = 0;
  for_each_cell<rows + 8, cols + 8, threads>([&](int j, int i) {
    const int x = left + i - 4, y = top + j - 4;
    used ^= inside(x, y) ? rgba[y * width + x] : 0;
  });
  for_each_cell<rows, cols, threads>([&](int j, int i) {
    if (inside(left + i, top + j)) out[(top + j) * width + left + i] = used;
  });
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  edges_kernel<<<blocks_for(width, height, dim3(cols, rows)), threads>>>(
      reinterpret_cast<const unsigned*>(rgba), out, width, height);
  check(cudaGetLastError());
}
