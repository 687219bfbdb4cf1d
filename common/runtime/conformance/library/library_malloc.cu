// malloc and free in kernels: blocks do not overlap, are aligned, are reused; a request that the
// heap cannot hold gives null; memory lives on to the next launch.
#include "common/emulator/tests/programs/program.hpp"

__global__ void make(int** lists, int* bad, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int length = i % 13 + 1;
  int* list = static_cast<int*>(malloc(length * sizeof(int)));
  if (list == nullptr || reinterpret_cast<unsigned long long>(list) % 16 != 0) atomicAdd(bad, 1);
  for (int k = 0; list != nullptr && k < length; ++k) list[k] = i * 100 + k;
  lists[i] = list;
}

__global__ void add_up(int** lists, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < i % 13 + 1; ++k) sum += lists[i][k];
  sums[i] = sum;
  free(lists[i]);
}

// More than the heap holds, if nothing were given back.
__global__ void reuse(int* bad, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    char* block = static_cast<char*>(malloc(1 << 20));
    if (block == nullptr) {
      atomicAdd(bad, 1);
      continue;
    }
    block[k] = 1;
    free(block);
  }
}

__global__ void odd_sizes(int* bad, void** kept) {
  if (malloc(1ull << 40) != nullptr) atomicAdd(bad, 1);
  void* nothing = malloc(0);
  if (nothing == nullptr) atomicAdd(bad, 1);
  free(nothing);
  free(nullptr);
  *kept = malloc(64);
}

int main() {
  const int n = 1000;
  check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  device_array<int*> lists(n);
  device_array<int> sums(n), bad(1);
  make<<<8, 128>>>(lists.get(), bad.get(), n);
  add_up<<<8, 128>>>(lists.get(), sums.get(), n);
  reuse<<<1, 1>>>(bad.get(), 100);
  device_array<void*> kept(1);
  odd_sizes<<<1, 1>>>(bad.get(), kept.get());
  finish();
  // The heap is the kernels': the host can neither copy from it nor free it.
  void* const heap = kept.values()[0];
  char byte;
  const std::vector<int> refused = {cudaMemcpy(&byte, heap, 1, cudaMemcpyDeviceToHost),
                                    cudaFree(heap)};
  std::vector<int> want(n);
  for (int i = 0; i < n; ++i) {
    const int length = i % 13 + 1;
    want[i] = i * 100 * length + length * (length - 1) / 2;
  }
  return compare("lists", sums.values(), want) + compare("bad", bad.values(), std::vector<int>{0})
             ? 1
             : 0;
}
