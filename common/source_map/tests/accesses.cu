// Kernels whose loads and stores ptxas merges, drops or keeps; compiled_test.cpp lists which. Every
// access that matters is on its own line.

constexpr int tile = 64, k_tile = 8;

// Each thread computes 4 x 4 elements of c from scalar loads of shared memory.
__global__ void blocked_matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[k_tile][tile], b_tile[k_tile][tile];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += k_tile) {
    for (int i = threadIdx.x; i < tile * k_tile; i += 256) {
      a_tile[i / tile][i % tile] = a[(blockIdx.y * tile + i % tile) * n + k + i / tile];
      b_tile[i / tile][i % tile] = b[(k + i / tile) * n + blockIdx.x * tile + i % tile];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < k_tile; ++j) {
      float left[4], right[4];
      for (int r = 0; r < 4; ++r) left[r] = a_tile[j][y * 4 + r];
      for (int r = 0; r < 4; ++r) right[r] = b_tile[j][x * 4 + r];
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sum[r][s] = fmaf(left[r], right[s], sum[r][s]);
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      c[(blockIdx.y * tile + y * 4 + r) * n + blockIdx.x * tile + x * 4 + s] = sum[r][s];
}

// Loads the same words as vectors, so nothing is left to merge.
__global__ void vector_loads(const float4* in, float* out) {
  __shared__ float4 s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  const float4 v = s[t ^ 1];
  out[t] = v.x * v.y + v.z * v.w;
}

__global__ void pair_loads(const float* in, float* out) {
  __shared__ float s[512];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 256] = in[t + 256];
  __syncthreads();
  out[t] = s[2 * t] * s[2 * t + 1];
}

// Loads in descending order, with one word missing.
__global__ void three_of_four(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float x = s[4 * t + 3];
  x = x * 3 + s[4 * t + 1];
  x = x * 3 + s[4 * t];
  out[t] = x;
}

// Two words in different halves of their 16 bytes.
__global__ void split_pair(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float x = s[4 * t + 1];
  x = x * 3 + s[4 * t + 2];
  out[t] = x;
}

// 64 such pairs, far apart. If each first load also fetched the second word, 64 registers would
// have to keep these words.
__global__ void far_pairs(const float* in, float* out) {
  __shared__ float s[2048];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float x = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) x = fmaf(x, 3, s[4 * t + 4 * i]);
#pragma unroll
  for (int i = 0; i < 64; ++i) x = fmaf(x, 3, s[4 * t + 4 * i + 3]);
  out[t] = x;
}

// Six words, aligned to 8 bytes: three pairs.
__global__ void six_words(const float* in, float* out) {
  __shared__ float s[2048];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  const float* p = s + 6 * t;
  out[t] = p[0] * p[1] * p[2] * p[3] * p[4] * p[5];
}

// A merged store happens where all words are known, which is at the last store.
__global__ void four_stores(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  const float x = in[t];
  s[4 * t] = x * 2;
  s[4 * t + 1] = x * 3;
  s[4 * t + 2] = x * 5;
  s[4 * t + 3] = x * 7;
  __syncthreads();
  out[t] = s[t];
}

// The second load does not have its own branch in the machine code.
__global__ void after_a_branch(const float* in, float* out, int n) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  float x = s[4 * t];
  if (n > 3) x += s[4 * t + 1];
  out[t] = x;
}

// A store in between may change the word, so it is loaded again.
__global__ void same_load_twice(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int x = in[t + n];
  out[t + 256] = x;
  x += in[t + n];
  out[t + 512] = x;
}

// No store in between, but two loads in the PTX: neither nvcc nor ptxas may merge them.
__global__ void volatile_loads(const float* in, float* out) {
  __shared__ float s[1024];
  volatile float* v = s;
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = v[4 * t] * v[4 * t + 1];
}

// Local memory in the PTX, but registers in the machine code. Constants are operands.
__constant__ float weights[16];
__global__ void array_in_registers(const float* in, float* out, int n) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = in[i * n] * weights[i];
  float x = 0;
  for (int i = 0; i < n; ++i) x += v[i % 8];
  out[threadIdx.x] = x;
}

// The loaded value is never used.
__global__ void unused_load(const float* in, float* out) {
  asm volatile("{ .reg .f32 nowhere; ld.global.f32 nowhere, [%0]; }" ::"l"(in));
  out[threadIdx.x] = in[threadIdx.x + 1];
}
