// Warp-wide operations that lanes may execute at different places: with masks that name only the
// lanes at each place, and where the compiler duplicates one call.
template <int n>
__device__ int rotated(int v) {
#pragma unroll
  for (int k = 0; k < n; ++k) v = __shfl_sync(0xffffffff, v, (threadIdx.x + 1) % 32);
  return v;
}

__global__ void arms(int* out) {
  const int i = threadIdx.x;
  constexpr unsigned low = 0xfff;
  int v;
  if (i < 12) {
    v = __any_sync(low, i == 3) + __shfl_up_sync(low, i, 1);
    v += __reduce_add_sync(low, i);
    __syncwarp(low);
  } else {
    v = __all_sync(~low, i > 3) + __shfl_down_sync(~low, i, 1);
    v += __match_any_sync(~low, i) != 0;
    __syncwarp(~low);
  }
  out[i] = v;
}

// All lanes leave the loop after the same vote; each iteration has several shuffles.
__global__ void loops(int* out) {
  const int i = threadIdx.x;
  int v = i, passes = 0;
  while (__any_sync(0xffffffff, v < 40)) {
    v += rotated<3>(i) & 1 ? 2 : 1;
    ++passes;
  }
#pragma unroll 4
  for (int k = 0; k < 10; ++k) v += __shfl_xor_sync(0xffffffff, v, 1 << k % 5);
  out[i] += v + passes;
}

// Calls before and after a branch whose two sides take different amounts of time.
__global__ void around(int* out) {
  const int i = threadIdx.x;
  const unsigned odd = __ballot_sync(0xffffffff, i & 1);
  int v = 0;
  if (i % 3 == 0)
    for (int k = 0; k < i; ++k) v += k;
  out[i] += __popc(odd) + __shfl_sync(0xffffffff, v, 30);
}

// Later operations do not wait for lanes that have returned.
__global__ void leave(int* out) {
  const int i = threadIdx.x;
  if (i >= 20) return;
  out[i] += __any_sync(0xffffffff, i == 25) + __popc(__ballot_sync(0xfffff, true));
}

int main() {
  int host[32], *out;
  cudaMalloc(&out, sizeof host);
  arms<<<1, 32>>>(out);
  loops<<<1, 32>>>(out);
  around<<<1, 32>>>(out);
  leave<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
}
