// __managed__ variables: first values, use by the host before and after kernels, and by name.
#include "common/emulator/tests/programs/program.hpp"

__managed__ int counter = 40;
__managed__ double table[64];
__device__ __managed__ int* indirect;

__global__ void work() {
  atomicAdd(&counter, 1);
  table[threadIdx.x] += 0.5 * threadIdx.x;
  if (threadIdx.x == 0) *indirect = 7;
}

int main() {
  counter += 2;  // before any call of the runtime
  for (int i = 0; i < 64; ++i) table[i] = i;
  static_assert(sizeof table == 64 * sizeof(double));
  check(cudaMallocManaged(&indirect, sizeof(int)));
  work<<<1, 64>>>();
  finish();
  std::vector<double> found(table, table + 64), expected;
  for (int i = 0; i < 64; ++i) expected.push_back(1.5 * i);
  int copied = 0;
  check(cudaMemcpyFromSymbol(&copied, counter, sizeof copied));
  void* address = nullptr;
  std::size_t bytes = 0;
  check(cudaGetSymbolAddress(&address, table));
  check(cudaGetSymbolSize(&bytes, table));
  const double three = 3;
  check(cudaMemcpyToSymbol(table, &three, sizeof three, 5 * sizeof(double)));
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, &counter));
  for (const double value : {double(counter), double(copied), double(address == table),
                             double(bytes), table[5], double(attributes.type), double(*indirect)}) {
    found.push_back(value);
  }
  for (const double value : {106., 106., 1., 512., 3., double(cudaMemoryTypeManaged), 7.}) {
    expected.push_back(value);
  }
  check(cudaFree(indirect));
  return compare("managed variables", found, expected);
}
