// Two translation units with the same kernel template and a static variable of the same name.
#include "check.h"
#include "templates.h"

static __device__ int own = 1000;

__global__ static void add_own_here(int* data) { data[threadIdx.x] += own; }

struct mixed {
  float f;
  double d;
  char c;
};

// Parameters of many sizes and alignments.
__global__ void unpack(float a, int* out, mixed m, char c, short s, long long l) {
  out[0] = static_cast<int>(a), out[1] = static_cast<int>(m.f), out[2] = static_cast<int>(m.d);
  out[3] = m.c, out[4] = c, out[5] = s, out[6] = static_cast<int>(l >> 32);
}

static void show(const int* device_data, int n) {
  int data[16];
  SHOW(cudaMemcpy(data, device_data, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) std::printf(" %d", data[i]);
  std::printf("\n");
}

int main() {
  int* data;
  SHOW(cudaMalloc(&data, 16 * sizeof(int)));
  const int first[4] = {1, 2, 3, 4};
  SHOW(cudaMemcpy(data, first, sizeof first, cudaMemcpyHostToDevice));
  scale<int><<<1, 32>>>(data, 4, 2);
  add_own_here<<<1, 4>>>(data);
  show(data, 4);
  scale_in_other_file(data, 4);
  show(data, 4);
  cudaFuncAttributes attributes;
  SHOW(cudaFuncGetAttributes(&attributes, kernel_of_other_file()));
  PRINT(attributes.maxThreadsPerBlock);
  unpack<<<1, 1>>>(1.5f, data, {2.5f, 3.5, 4}, 5, -6, 7LL << 32);
  show(data, 7);
}
