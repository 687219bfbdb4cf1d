// Accesses to a surface that an H200 refuses: out of range, and at odd bytes.
#include "common/runtime/conformance/expect.hpp"

__global__ void write(cudaSurfaceObject_t to, int x, int y) { surf2Dwrite<int>(5, to, x, y); }

// Writes at byte x of row y of a surface of 8 integers by 4.
void write_at(int x, int y, cudaError_t wanted) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  EXPECT(cudaMallocArray(&resource.res.array.array, &format, 8, 4, cudaArraySurfaceLoadStore),
         cudaSuccess);
  cudaSurfaceObject_t surface = 0;
  EXPECT(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  write<<<1, 1>>>(surface, x, y);
  EXPECT(cudaDeviceSynchronize(), wanted);
}

int main() {
  in_child("past the row", [] { write_at(32, 1, cudaErrorIllegalAddress); });
  in_child("past the last row", [] { write_at(4, 4, cudaErrorIllegalAddress); });
  in_child("within a texel", [] { write_at(2, 1, cudaErrorMisalignedAddress); });
  return outcome("faults of surfaces");
}
