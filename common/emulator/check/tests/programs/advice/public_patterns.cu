// Faults that `lab exec --check` found in public programs (../../../FOUND.md), shortened.

// A function that sums over a block. Its shared variable outlives the call, so the second call
// writes to it before all warps have read the first result.
__device__ int block_sum(int value) {
  __shared__ int sums[2];
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffff, value, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  return sums[0] + sums[1];
}

__global__ void mean_and_square(const int* x, int* out) {
  const int value = x[threadIdx.x];
  // finding 1: race reads object=block_sum::sums says=where_all_threads_of_the_block_reach_it
  const int mean = block_sum(value);
  // finding 1: race writes
  const int square = block_sum(value * value);
  out[threadIdx.x] = mean + square;
}

// Blocks that also store the results of their halo, so two blocks store each of these results.
__global__ void with_halo(int* x) {
  // finding 2: race writes writes says=value_is_the_same
  x[blockIdx.x * 28 + threadIdx.x] = 1;
}

// All lanes take part in a vote whose mask names only the lanes below each.
__global__ void vote_below(int* x) {
  unsigned below;
  asm("mov.u32 %0, %lanemask_lt;" : "=r"(below));
  x[threadIdx.x] = __ballot_sync(below, 1);  // finding 3: bad_mask any
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  mean_and_square<<<1, 64>>>(x, out);
  with_halo<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  vote_below<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
