// Launches by cudaLaunchKernelEx, cudaLaunchKernelExC and cudaLaunchKernel: the same configuration,
// parameters of several sizes, and attributes.
#include "common/emulator/tests/programs/program.hpp"

struct mixed {
  char letter;
  double number;
  short pair[3];
};

extern __shared__ int dynamic[];

__global__ void record(long long* out, char c, mixed m, int3 v) {
  if (threadIdx.y == 0) dynamic[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  const int block = blockIdx.x + gridDim.x * blockIdx.y;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    out[block] = c + m.letter + static_cast<long long>(m.number) + m.pair[2] + v.z * 1000 +
                 dynamic[blockDim.x - 1] * 100'000 + blockDim.y * 10'000'000;
  }
}

int main() {
  const mixed m = {2, 30.0, {1, 2, 300}};
  const int3 v = make_int3(7, 8, 9);
  device_array<long long> out(3 * 6);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3, 2);
  config.blockDim = dim3(16, 2);
  config.dynamicSmemBytes = 16 * sizeof(int);
  config.attrs = attributes;
  config.numAttrs = 2;
  check(cudaLaunchKernelEx(&config, record, out.get(), char(1), m, v));
  long long* second = out.get() + 6;
  char letter = 1;
  void* arguments[] = {&second, &letter, const_cast<mixed*>(&m), const_cast<int3*>(&v)};
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(record), arguments));
  second = out.get() + 12;
  check(cudaLaunchKernel(reinterpret_cast<const void*>(record), config.gridDim, config.blockDim,
                         arguments, config.dynamicSmemBytes, nullptr));
  finish();
  const long long each = 1 + 2 + 30 + 300 + 9'000 + 15 * 100'000 + 2 * 10'000'000;
  return compare("launch configurations", out.values(), std::vector<long long>(18, each));
}
