// attack reduction: HELD, at most 0 points
// lets CUB do the whole exercise, under another name of its namespace
#define CUB_WRAPPED_NAMESPACE mine
#include <cub/device/device_reduce.cuh>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

void reduce(const int* in, int* out, int* scratch, int n) {
  (void)scratch;
  std::size_t bytes = 0;
  check(mine::cub::DeviceReduce::Sum(nullptr, bytes, in, out, n));
  static void* storage = nullptr;
  static std::size_t has = 0;
  if (bytes > has) {
    check(cudaFree(storage));
    check(cudaMalloc(&storage, bytes));
    has = bytes;
  }
  check(mine::cub::DeviceReduce::Sum(storage, bytes, in, out, n));
}
