// A kernel that reads or writes where nothing is: error 700 from whatever waits, and then for ever.
#include "expect.hpp"

__global__ void write_at(int* base, long long index) { base[index] = 1; }
__global__ void read_at(const int* base, int* out) { *out = *base; }

static void check_sticky(int* memory, cudaError_t wanted) {
  int value = 0;
  EXPECT(cudaGetLastError(), wanted);
  EXPECT(cudaGetLastError(), cudaSuccess);  // taken; but the device is lost:
  EXPECT(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost), wanted);
  EXPECT(cudaMalloc(&memory, 4), wanted);
  EXPECT(cudaDeviceSynchronize(), wanted);
  write_at<<<1, 1>>>(memory, 0);
  EXPECT(cudaGetLastError(), wanted);
}

static int* allocate(std::size_t bytes) {
  int* memory = nullptr;
  EXPECT(cudaMalloc(&memory, bytes), cudaSuccess);
  return memory;
}

int main() {
  in_child("far behind an allocation", [] {
    int* const memory = allocate(1024);
    write_at<<<1, 1>>>(memory, 1LL << 40);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    check_sticky(memory, cudaErrorIllegalAddress);
  });
  in_child("the null pointer", [] {
    int* const memory = allocate(1024);
    write_at<<<4, 64>>>(nullptr, 0);
    EXPECT(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
    check_sticky(memory, cudaErrorIllegalAddress);
  });
  in_child("a pointer of the host's", [] {
    int* const memory = allocate(1024);
    static int host;
    read_at<<<1, 1>>>(&host, memory);
    EXPECT(cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    check_sticky(memory, cudaErrorIllegalAddress);
  });
  if (!on_emulator()) return outcome("illegal addresses");
  // CUDA does not promise this error: a GPU may keep freed memory mapped, and an H200 with driver
  // 580 lets the kernel read it.
  in_child("freed memory", [] {
    int* const memory = allocate(1024);
    int* const freed = allocate(std::size_t{512} << 20);
    EXPECT(cudaFree(freed), cudaSuccess);
    read_at<<<1, 1>>>(freed + 100'000'000, memory);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    check_sticky(memory, cudaErrorIllegalAddress);
  });
  return outcome("illegal addresses");
}
