// Lanes that the same mask names execute different shuffles, or one shuffle at different lines.
__global__ void kinds(int* out) {
  const int t = threadIdx.x;
  int v;
  if (t < 16)
    // finding 1: barrier_divergence up says=lanes_0_to_15_wait
    v = __shfl_up_sync(0xffffffff, out[t], 1);
  else
    v = __shfl_down_sync(0xffffffff, out[t], 1);  // finding 1: barrier_divergence down
  out[t] = v;
}

__global__ void lines(int* out) {
  const int t = threadIdx.x;
  int v;
  if (t % 3 == 0)
    v = __shfl_sync(0xffffffff, out[t], 0);  // finding 2: barrier_divergence shfl
  else
    v = __shfl_sync(0xffffffff, 2 * out[t], 0);  // finding 2: barrier_divergence shfl
  out[t] = v;
}

__device__ int sum_of_warp(int v) {
  for (int o = 16; o != 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}

// The compiler inlines two calls of one function.
__global__ void calls(int* out) {
  const int t = threadIdx.x;
  if (t < 7)
    out[t] = sum_of_warp(t);  // finding 3: barrier_divergence shfl
  else
    out[t] = sum_of_warp(t * t);  // finding 3: barrier_divergence shfl
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(out, 0, 32 * sizeof(int));
  kinds<<<1, 32>>>(out);
  lines<<<1, 32>>>(out);
  calls<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
