// honest transpose: SLOW or PASS, at least 30 points
// launches blocks of 7 x 5 x 3 threads in a three-dimensional grid
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

__global__ void turn(const float* in, float* out, int rows, int cols) {
  const long block =
      blockIdx.x + gridDim.x * (blockIdx.y + static_cast<long>(gridDim.y) * blockIdx.z);
  const int thread = threadIdx.x + 7 * (threadIdx.y + 5 * threadIdx.z);
  const long count = static_cast<long>(rows) * cols;
  const long step = 105L * gridDim.x * gridDim.y * gridDim.z;
  for (long i = block * 105 + thread; i < count; i += step)
    out[(i % cols) * rows + i / cols] = in[i];
}

void transpose(const float* in, float* out, int rows, int cols) {
  turn<<<dim3(5, 3, 2), dim3(7, 5, 3)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
