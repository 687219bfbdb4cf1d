// attack reduction: CHECK or WRONG or COMPILE or CRASH, at most 0 points
// defines a cudaMemcpy that keeps whatever is copied to the device
//
// The runner's own copies go through it, so the input is known without a copy to the host.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "labs/reduction/reduction.hpp"

static std::vector<unsigned> last;

extern "C" cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  using function = cudaError_t(void*, const void*, size_t, cudaMemcpyKind);
  static auto* const real = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "cudaMemcpy"));
  if (kind == cudaMemcpyHostToDevice) {
    last.resize(bytes / sizeof(int));
    std::memcpy(last.data(), from, last.size() * sizeof(int));
  }
  return real(to, from, bytes, kind);
}

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int*, int* out, int*, int n) {
  store<<<1, 1>>>(out, static_cast<int>(std::accumulate(last.begin(), last.begin() + n, 0u)));
}
