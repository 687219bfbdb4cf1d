// Variables in device memory: initial values, copies to and from them, addresses, sizes.
#include "check.h"

__device__ int counter = 7;
__device__ float table[100];
__constant__ int coefficients[4] = {1, 10, 100, 1000};
__device__ struct {
  char tag;
  double value;
} record = {'r', 2.5};

__global__ void use(int* out) {
  if (threadIdx.x < 4) out[threadIdx.x] = coefficients[threadIdx.x] * counter;
  if (threadIdx.x == 0) out[4] = static_cast<int>(record.value * 2) + record.tag;
  __syncthreads();
  if (threadIdx.x == 1) counter += 1;
  table[threadIdx.x] = threadIdx.x * 0.5f;
}

int main() {
  int* out;
  SHOW(cudaMalloc(&out, 5 * sizeof(int)));
  int result[5];
  const auto run = [&] {
    use<<<1, 32>>>(out);
    SHOW(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int value : result) std::printf(" %d", value);
    std::printf("\n");
  };
  int value = 0;
  SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  PRINT(value);
  run();
  SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  PRINT(value);

  const int fresh[2] = {5, 6};
  SHOW(cudaMemcpyToSymbol(coefficients, fresh, sizeof fresh, 2 * sizeof(int)));
  value = -1;
  SHOW(cudaMemcpyToSymbol(counter, &value, sizeof value));
  run();

  float half = 0;
  SHOW(cudaMemcpyFromSymbol(&half, table, sizeof half, 31 * sizeof(float)));
  PRINT(half * 2);
  std::size_t bytes = 0;
  SHOW(cudaGetSymbolSize(&bytes, table));
  PRINT(bytes);
  void* address = nullptr;
  SHOW(cudaGetSymbolAddress(&address, table));
  SHOW(cudaMemset(address, 0, sizeof(float) * 100));
  SHOW(cudaMemcpyFromSymbol(&half, table, sizeof half, 31 * sizeof(float)));
  PRINT(half);
  SHOW(cudaMemcpyToSymbol(counter, fresh, sizeof fresh));
  SHOW(cudaGetLastError());
}
