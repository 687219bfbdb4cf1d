// reduction peer: CUB's sum of an array, which NVIDIA tunes for each of its GPUs.
//
// source  CCCL's documentation, cub::DeviceReduce::Sum.
#include <cub/device/device_reduce.cuh>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

// CUB asks for a partial sum of every block that a full GPU runs, five times over, as soon as one
// block is not enough: more than the contract's scratch of a few thousand elements.
constexpr int few = 1 << 16;
alignas(256) __device__ char room[sizeof(int) * few];

void reduce(const int* in, int* out, int* scratch, int n) {
  std::size_t bytes = sizeof(int) * scratch_ints(n);  // more than it asks for
  void* partial_sums = scratch;
  if (n < few) {
    check(cudaGetSymbolAddress(&partial_sums, room));
    bytes = sizeof(room);
  }
  check(cub::DeviceReduce::Sum(partial_sums, bytes, in, out, n));
}
