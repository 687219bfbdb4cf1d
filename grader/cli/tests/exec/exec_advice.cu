// Profiled by exec_advice_test.cpp: a kernel for each kind of advice, chosen by its name.
#include <cstdio>
#include <cstring>

// Eight branches, one after the other.
__global__ void diverge(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, k = threadIdx.x % 8;
  float v = i;
  if (k == 0) {
    for (int j = 0; j < 50; ++j) v = v * 1.1f + 1;
  } else if (k == 1) {
    for (int j = 0; j < 50; ++j) v = v * 1.2f + 2;
  } else if (k == 2) {
    for (int j = 0; j < 50; ++j) v = v * 1.3f + 3;
  } else if (k == 3) {
    for (int j = 0; j < 50; ++j) v = v * 1.4f + 4;
  } else {
    for (int j = 0; j < 50; ++j) v = v * 1.5f + 5;
  }
  out[i] = v;
}

// Lanes leave the loop one after the other.
__global__ void leave(float* out) {
  int rounds = 0;
  for (unsigned v = blockIdx.x * blockDim.x + threadIdx.x + 1; v != 1; ++rounds)
    v = v % 2 != 0 ? 3 * v + 1 : v / 2;
  out[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

__global__ void guarded(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}

__global__ void local_array(const float* in, float* out, int step, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[64], sum = 0;
  for (int j = 0; j < 64; ++j) v[j] = in[j * 1024 + i];
  for (int j = 0; j < rounds; ++j) sum = sum * 0.5f + v[(j * step + i) & 63];
  out[i] = sum;
}

__global__ void one_address(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[in[i] & 1], in[i]);
}

// ptxas has one lane add for its warp.
__global__ void counter(int* out) { atomicAdd(out, 1); }

// 64 sums do not fit into the 32 registers that two such blocks leave a thread.
__global__ void __launch_bounds__(1024, 2) spill(const float* in, float* out, int n) {
  const int thread = threadIdx.x;
  float sum[8][8] = {};
  for (int j = 0; j < n; ++j) {
#pragma unroll
    for (int k = 0; k < 64; ++k)
      sum[k / 8][k % 8] += in[j * 1024 + thread + k / 8] * in[j * 1024 + thread + 8 + k % 8];
  }
#pragma unroll
  for (int k = 0; k < 64; ++k) out[k * 1024 + thread] = sum[k / 8][k % 8];
}

__global__ void own_addresses(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i * 97 % n], i);
}

__global__ void special(float* out, int rounds) {
  float v = threadIdx.x;
  for (int j = 0; j < rounds; ++j) v = __sinf(v) + rsqrtf(v + 2);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// Works with any grid and block.
__global__ void total(const float* in, float* out, int n) {
  float sum = 0;
  const int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += threads) sum += in[i];
  out[first] = sum;
}

int main(int count, char** words) {
  const auto is = [&](const char* name) { return count > 1 && std::strcmp(words[1], name) == 0; };
  constexpr int n = 1 << 20;
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(float)), cudaMalloc(&out, n * sizeof(float));
  cudaMemset(in, 0, n * sizeof(float)), cudaMemset(out, 0, n * sizeof(float));
  if (is("diverge")) diverge<<<256, 256>>>(out);
  if (is("leave")) leave<<<256, 256>>>(out);
  if (is("guarded")) guarded<<<391, 256>>>(in, out, 100001);
  if (is("local")) local_array<<<256, 256>>>(in, out, 3, 64);
  if (is("one_address")) one_address<<<256, 256>>>((int*)in, (int*)out);
  if (is("counter")) counter<<<4096, 256>>>((int*)out);
  if (is("spill")) spill<<<264, 1024>>>(in, out, 8);
  if (is("own_addresses")) own_addresses<<<1024, 256>>>((int*)out, n);
  if (is("special")) special<<<256, 256>>>(out, 100);
  if (is("one_thread")) total<<<1, 1>>>(in, out, 1 << 14);
  if (is("one_lane")) total<<<10000, 1>>>(in, out, n);
  if (is("half_warps")) total<<<10000, 48>>>(in, out, n);
  if (is("one_block")) total<<<1, 1024>>>(in, out, n);
  if (is("large_blocks")) total<<<20, 1024>>>(in, out, n);
  if (is("small_blocks")) total<<<20, 32>>>(in, out, n);
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended != cudaSuccess) std::printf("%s\n", cudaGetErrorString(ended));
  cudaFree(in), cudaFree(out);
}
