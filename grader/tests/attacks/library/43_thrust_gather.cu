// attack transpose: HELD, at most 0 points
// lets Thrust move all elements; its own code only says where each element comes from
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

struct from {
  const float* in;
  int rows, cols;
  __device__ float operator()(int i) const { return in[i % rows * cols + i / rows]; }
};

void transpose(const float* in, float* out, int rows, int cols) {
  const thrust::counting_iterator<int> first(0);
  thrust::transform(thrust::cuda::par_nosync, first, first + rows * cols,
                    thrust::device_pointer_cast(out), from{in, rows, cols});
  check(cudaGetLastError());
}
