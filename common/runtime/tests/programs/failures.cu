// Fails twice, in the way that its argument names, and then continues. failures_test.py runs this
// program and damaged copies of it.
#include <cstring>

#include "check.h"

void launch_victim(int* out);

__global__ void good(int* out) { *out = 42; }
__global__ void write_at(int* base, long long index) { base[index] = 1; }
__global__ void make(int** out) { *out = new int(1); }
__global__ void write_odd(char* base) { *reinterpret_cast<int*>(base + 1) = 1; }

static int* memory;

static void victim() {
  launch_victim(memory);
  SHOW(cudaGetLastError());
}
static void huge_allocation() {
  void* more;
  SHOW(cudaMalloc(&more, 200'000'000'000));
  SHOW(cudaGetLastError());
}
static void too_much_shared() {
  good<<<1, 1, 300'000>>>(memory);
  SHOW(cudaGetLastError());
}
static void huge_heap() {
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1ull << 50));
  make<<<1, 1>>>(reinterpret_cast<int**>(memory));
  SHOW(cudaGetLastError());
}
static void bad_address() {
  write_at<<<1, 1>>>(memory, 1LL << 40);
  SHOW(cudaDeviceSynchronize());
}
static void misaligned() {
  write_odd<<<1, 1>>>(reinterpret_cast<char*>(memory));
  SHOW(cudaDeviceSynchronize());
}
static void freed_memory() {
  int* gone;
  if (cudaMalloc(&gone, 1 << 20) == cudaSuccess) cudaFree(gone);
  write_at<<<1, 1>>>(gone, 5);
  SHOW(cudaDeviceSynchronize());
}
static void freed_managed_memory() {
  int* gone;
  if (cudaMallocManaged(&gone, 100) == cudaSuccess) cudaFree(gone);
  write_at<<<1, 1>>>(gone, 5);
  SHOW(cudaDeviceSynchronize());
}
static void freed_pinned_memory() {
  int* gone;
  if (cudaMallocHost(&gone, 1 << 20) == cudaSuccess) cudaFreeHost(gone);
  write_at<<<1, 1>>>(gone, 5);
  SHOW(cudaDeviceSynchronize());
}

#define CASE(name) \
  { #name, name }

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {CASE(victim),       CASE(huge_allocation),      CASE(too_much_shared),
               CASE(huge_heap),    CASE(bad_address),          CASE(misaligned),
               CASE(freed_memory), CASE(freed_managed_memory), CASE(freed_pinned_memory)};
  if (cudaMalloc(&memory, 1024) != cudaSuccess) return 1;
  for (const auto& c : cases) {
    if (argc > 1 && std::strcmp(c.name, argv[1]) == 0) {
      c.run();
      c.run();
    }
  }
  cudaGetLastError();
  good<<<1, 1>>>(memory);
  SHOW(cudaGetLastError());
  int value = 0;
  SHOW(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  PRINT(value);
}
