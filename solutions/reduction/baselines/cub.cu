// reduction baseline: CUB's sum of an array, which NVIDIA tunes for each of its GPUs.
//
// source  CCCL's documentation, cub::DeviceReduce::Sum.
#include <cub/device/device_reduce.cuh>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

// As soon as one block is not enough, CUB asks for five times a partial sum per block of a full
// GPU. For a few thousand elements, the contract's scratch is too small for that.
constexpr int few = 1 << 16;
alignas(256) __device__ char room[sizeof(int) * few];

void reduce(const int* in, int* out, int* scratch, int n) {
  std::size_t bytes = sizeof(int) * scratch_ints(n);  // more than CUB asks for
  void* partial_sums = scratch;
  if (n < few) {
    check(cudaGetSymbolAddress(&partial_sums, room));
    bytes = sizeof(room);
  }
  check(cub::DeviceReduce::Sum(partial_sums, bytes, in, out, n));
}
