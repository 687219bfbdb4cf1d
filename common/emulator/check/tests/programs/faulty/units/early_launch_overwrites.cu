// The second kernel overwrites the first kernel's input before griddepcontrol.wait.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void produce(const int* source, int* x) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  x[threadIdx.x] = source[threadIdx.x];  // finding: race reads
}

__global__ void consume(int* source, const int* x, int* out) {
  source[threadIdx.x] = -1;  // finding: race writes
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = 2 * x[threadIdx.x];
}

int main() {
  int *source, *x, *out;
  cudaMalloc(&source, 64 * sizeof(int));  // finding: allocated
  cudaMemset(source, 0, 64 * sizeof(int));
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  produce<<<1, 64>>>(source, x);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, consume, source, static_cast<const int*>(x), out);
  cudaDeviceSynchronize();
  cudaFree(source);
  cudaFree(x);
  cudaFree(out);
}
