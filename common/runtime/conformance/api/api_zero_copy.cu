// Pinned host memory that kernels read and write where it lies, by the host's own pointer and by
// cudaHostGetDevicePointer's.
#include "common/emulator/tests/programs/program.hpp"

__global__ void scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

__global__ void count(unsigned* total) { atomicAdd(total, 1u); }

int main() {
  const int n = 5000;
  float *in = nullptr, *out = nullptr, *in_device = nullptr;
  unsigned* total = nullptr;
  check(cudaMallocHost(&in, n * sizeof(float)));
  check(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
  check(cudaHostAlloc(&total, sizeof(unsigned), cudaHostAllocMapped));
  *total = 5;
  std::vector<float> expected;
  for (int i = 0; i < n; ++i) {
    in[i] = 0.25f * i;
    expected.push_back(0.5f * i);
  }
  check(cudaHostGetDevicePointer(&in_device, in + 8, 0));
  scale<<<(n + 127) / 128, 128>>>(in_device - 8, out, n);
  count<<<3, 100>>>(total);
  finish();
  std::vector<float> found(out, out + n);

  // It is also good for copies of both directions.
  float* device = nullptr;
  check(cudaMalloc(&device, n * sizeof(float)));
  check(cudaMemcpyAsync(device, in, n * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaMemcpyAsync(out, device, n * sizeof(float), cudaMemcpyDeviceToHost));
  finish();
  for (int i = 0; i < n; ++i) {
    found.push_back(out[i]);
    expected.push_back(0.25f * i);
  }
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, out + 1));
  unsigned flags = 0;
  check(cudaHostGetFlags(&flags, out));
  for (const float value : {float(*total), float(attributes.type),
                            float(attributes.devicePointer == out + 1), float(flags)}) {
    found.push_back(value);
  }
  // Portable is not reported, on an H200 either: with unified addresses all pinned memory is.
  for (const float value : {305.f, float(cudaMemoryTypeHost), 1.f, float(cudaHostAllocMapped)}) {
    expected.push_back(value);
  }
  check(cudaFree(device));
  check(cudaFreeHost(in));
  check(cudaFreeHost(out));
  check(cudaFreeHost(total));
  return compare("zero-copy memory", found, expected);
}
