// Accesses that are not aligned to their size: error 716.
#include "expect.hpp"

__global__ void write_odd(char* base) { *reinterpret_cast<int*>(base + 2) = 1; }

__global__ void read_wide(const char* base, float4* out) {
  *out = *reinterpret_cast<const float4*>(base + 8);
}

static char* allocate() {
  char* memory = nullptr;
  EXPECT(cudaMalloc(&memory, 1024), cudaSuccess);
  return memory;
}

int main() {
  in_child("a word", [] {
    write_odd<<<1, 1>>>(allocate());
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    EXPECT(cudaGetLastError(), cudaErrorMisalignedAddress);
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  });
  in_child("a vector", [] {
    char* const memory = allocate();
    read_wide<<<1, 1>>>(memory, reinterpret_cast<float4*>(memory + 512));
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    EXPECT(cudaFree(memory), cudaErrorMisalignedAddress);
  });
  return outcome("misaligned accesses");
}
