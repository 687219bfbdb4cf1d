// Kernels that differ in their resources. The test compares the cubin's tables with the output
// of ptxas. TINY leaves one kernel, for tests that try every byte.

__global__ void __launch_bounds__(128, 2) shared_tile(float* data) {
  __shared__ float tile[33 * 32];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[(threadIdx.x * 33) % (33 * 32)];
}

#ifndef TINY

__constant__ float weights[16];
__device__ int counter = 7;

__global__ void plain(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * weights[i & 15];
}

__global__ void shared_both(float* data) {
  __shared__ char odd[133];
  extern __shared__ float dynamic[];
  odd[threadIdx.x % 133] = static_cast<char>(threadIdx.x);
  dynamic[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = dynamic[threadIdx.x ^ 1] + static_cast<float>(odd[threadIdx.x % 133]);
}

__global__ void local_array(int* data, int n) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = data[i] * n;
  for (int i = 0; i < n; ++i) values[(i * 7) & 63] += values[i & 63];
  data[0] = values[n & 63];
}

struct particle {
  double mass;
  float position[3];
  char kind;
};

template <int Count>
__global__ void __launch_bounds__(1024) many_registers(const float* in, float* out, particle p) {
  float sum[Count] = {};
  for (int k = 0; k < 1024; ++k) {
#pragma unroll
    for (int j = 0; j < Count; ++j) sum[j] = sum[j] * in[k] + in[j + k];
  }
#pragma unroll
  for (int j = 0; j < Count; ++j) out[j] = sum[j] + p.position[j % 3];
}

template __global__ void many_registers<4>(const float*, float*, particle);
template __global__ void many_registers<40>(const float*, float*, particle);

__device__ __noinline__ float called(float x) { return x * x + 1.0f; }

__global__ void calls(float* data) {
  data[threadIdx.x] = called(data[threadIdx.x]);
  atomicAdd(&counter, 1);
}

__global__ void named_barriers() {
  asm volatile("bar.sync 3, 64;");
  asm volatile("bar.sync 5, 64;");
}

__global__ void empty() {}

int main() {
  empty<<<1, 1>>>();
  return 0;
}

#endif
